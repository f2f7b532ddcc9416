package preempt

import (
	"cmp"
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// assembly is the working space for claims that tryTask cannot meet. A claim is the request of a pool for units.
// The first kind of such claims needs several tasks to be killed together. The second kind needs a task that lies
// partly below the share of its pool.
type assembly struct {
	rest      []int32     // candidates; trim has removed candidates from its head that no claim can take
	chosen    []takenTask // tasks that are taken so far for the current claim
	byMachine []int32     // candidates sorted by machine; empty until needed
	steps     int         // how many more tasks may be examined in this plan
	// turns says which claim comes first: the index of its pool + 1, or 0 for no preference. turns[0] is for claims
	// of pools that need several units together, and turns[1] is for claims of pools that can use single units.
	turns [2]int
}

// takenTask is a task that may be killed for the current claim. Its units are subtracted from the excess of its
// pools, up to the pool scope, which is not included. This lasts until the task is killed or released.
type takenTask struct{ task, scope int32 }

// served is the ratio usage/share of a pool. A pool with a larger ratio is better served.
type served struct{ usage, share int64 }

func (a served) less(b served) bool {
	return exact.CompareProducts(a.usage, b.share, b.usage, a.share) < 0
}

// grantFree grants to the claim with index c the free units that its pool can use.
func (l *planner) grantFree(c int) {
	claim := &l.p.claims[c]
	w := l.p.watch[claim.Pool].waiting
	if w.plain() {
		if units := min(l.free.total, claim.Deficit-claim.Granted); units > 0 {
			l.free.take(units)
			l.grant(c, -1, units)
		}
		return
	}
	for size := l.quantum(c); size > 0 && size <= l.free.total; size = l.quantum(c) {
		if !w.OneMachine {
			times := max(1, min(l.free.total, claim.Deficit-claim.Granted)/size)
			l.free.take(times * size)
			l.grant(c, -1, times*size)
			continue
		}
		machine := slices.IndexFunc(l.free.machines, func(units int64) bool { return units >= size })
		if l.steps -= len(l.free.machines); machine < 0 || l.steps < 0 {
			return
		}
		l.free.takeOn(machine, size)
		l.grant(c, -1, size)
	}
}

// quantum returns how many units the claim with index c may be granted in one step. This is the size of the tasks that
// its pool waits to run, or 0. If the claim lacks fewer units than this size, the result is the size only if
// nothing has been granted to the claim before.
func (l *planner) quantum(c int) int64 {
	claim := &l.p.claims[c]
	left, size := claim.Deficit-claim.Granted, l.p.watch[claim.Pool].waiting.size()
	if left >= size || left > 0 && claim.Granted == 0 {
		return size
	}
	return 0
}

// assembleAll looks for tasks to kill for the claims that still lack units, until no steps are left. If plain is
// true, it serves the claims of pools that can use single units. If plain is false, it serves the claims of pools
// that need several units together. *turn says which claim comes first. If the steps run out, assembleAll stores in
// *turn the claim that comes first in the next plan.
func (l *planner) assembleAll(turn *int, plain bool) {
	claims := l.p.claims
	start := max(0, slices.IndexFunc(claims, func(c Claim) bool { return c.Pool+1 == *turn }))
	l.rest = l.candidates
	l.steps = l.budget()
	for k := range claims {
		c := (start + k) % len(claims)
		if l.p.watch[claims[c].Pool].waiting.plain() != plain {
			continue
		}
		for !claims[c].met() && l.assemble(c) {
		}
		if l.steps <= 0 {
			if k == 0 { // this claim came first now, so the next claim comes first in the next plan
				c = (c + 1) % len(claims)
			}
			*turn = claims[c].Pool + 1
			return
		}
	}
}

// budget returns how many tasks one plan may examine in assembleAll. The number bounds the cost of a plan.
func (l *planner) budget() int {
	return 16 * int(l.deepest) * (len(l.tasks) + len(l.p.watch) + len(l.free.machines))
}

// trim removes tasks at the head of l.rest if no claim can take them any more: their outcome is known, or their
// pool uses no more than its share.
func (l *planner) trim() {
	for len(l.rest) > 0 && (l.outcomes[l.rest[0]] != Spared || l.excess[l.tasks[l.rest[0]].Pool] <= 0) {
		l.rest = l.rest[1:]
	}
}

// assemble kills tasks for the claim with index c and grants the units to the claim. The number of units is the
// size of the tasks that the pool waits to run, or the units of one killed task if the pool can use single units.
// assemble returns true if it granted units.
func (l *planner) assemble(c int) bool {
	w := l.p.watch[l.p.claims[c].Pool].waiting
	l.grantFree(c) // tasks that were killed for other claims may have freed more units than these claims lacked
	l.trim()
	if w.plain() {
		return !l.p.claims[c].met() && !l.p.config.StrictFloor && l.collect(c, l.rest, 1, 0, -1, true)
	}
	size := l.quantum(c)
	for _, cross := range [...]bool{false, true} {
		switch {
		case size <= 0 || cross && l.p.config.StrictFloor:
		case w.OneMachine && l.collectOnOne(c, size, cross):
			return true
		case !w.OneMachine && l.collect(c, l.rest, size, min(size, l.free.total), -1, cross):
			return true
		}
	}
	return false
}

// collectOnOne kills tasks on one machine and grants size units there to the claim with index c. It chooses the
// machine where the fewest units are lost. If cross is true, a pool may fall below its share.
func (l *planner) collectOnOne(c int, size int64, cross bool) bool {
	if len(l.byMachine) == 0 {
		l.byMachine = append(l.byMachine, l.rest...)
		slices.SortStableFunc(l.byMachine, func(a, b int32) int {
			return cmp.Compare(l.tasks[a].Machine, l.tasks[b].Machine)
		})
	}
	var best []int32
	least := int64(math.MaxInt64)
	for rest := l.byMachine; len(rest) > 0 && l.steps > 0; {
		machine := l.tasks[rest[0]].Machine
		n := 1
		for n < len(rest) && l.tasks[rest[n]].Machine == machine {
			n++
		}
		if have := min(size, l.free.on(machine)); have < size {
			sum, _ := l.gather(c, rest[:n], size, have, cross)
			if lost := sum - have; sum >= size && lost < least {
				best, least = rest[:n], lost
			}
			l.release()
		}
		rest = rest[n:]
	}
	if best == nil {
		return false
	}
	machine := l.tasks[best[0]].Machine
	return l.collect(c, best, size, min(size, l.free.on(machine)), machine, cross)
}

// collect kills tasks of the list and grants size units to the claim with index c. The argument have is a number of
// free units. It must make up size units together with the killed tasks. If this is impossible, collect changes
// nothing and returns false. machine is the machine with the free units, or -1 if they may be anywhere. If cross is
// true, a pool may fall below its share.
func (l *planner) collect(c int, list []int32, size, have int64, machine int, cross bool) bool {
	sum, scope := l.gather(c, list, size, have, cross)
	if sum < size || len(l.chosen) == 0 {
		l.release()
		return false
	}
	if l.p.watch[l.p.claims[c].Pool].waiting.plain() {
		size = l.most(c, l.chosen[0])
	}
	beyond := sum - size
	ok, crossed := l.spares(c, scope, beyond, cross)
	if !ok {
		l.release()
		return false
	}
	l.take(-1, scope, beyond)
	var due int64 // units that must return to pools which are now below their shares
	for _, x := range l.chosen {
		why, missing := AboveShare, l.below(x)
		if crossed || missing > 0 {
			why = AcrossShare
		}
		due = exact.Add(due, missing)
		l.kill(x.task, c, why)
	}
	last := l.tasks[l.chosen[len(l.chosen)-1].task].Machine
	if have > 0 {
		if scope = -1; machine >= 0 { // the free units come from outside all pools
			l.free.takeOn(machine, have)
		} else {
			l.free.take(have)
		}
	}
	l.grant(c, scope, size)
	l.free.add(last, max(0, beyond-due))
	l.chosen = l.chosen[:0]
	return true
}
