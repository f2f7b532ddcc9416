package preempt

import (
	"cmp"
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/exact"
)

// assembly is the working space for claims that are met by several tasks together, or across a share.
type assembly struct {
	rest      []int32 // candidates, without those at their head that are of no use any more
	chosen    []piece
	byMachine []int32 // candidates, machine by machine; empty until needed
	steps     int     // looks at tasks that are left
	turns     [2]int  // pools whose claims come first: those that had no turn in the last plan
}

// piece is a task that is taken, for now, from the pools under a scope.
type piece struct{ task, scope int32 }

// served is how well a pool is served: usage over share.
type served struct{ usage, share int64 }

func (a served) less(b served) bool {
	return exact.CompareProducts(a.usage, b.share, b.usage, a.share) < 0
}

// grantFree gives a claim what it can use of the free units.
func (l *planner) grantFree(c int) {
	claim := &l.p.claims[c]
	w := l.p.watch[claim.Pool].waiting
	if w.plain() {
		if units := min(l.pot.total, claim.Deficit-claim.Granted); units > 0 {
			l.pot.take(units)
			l.grant(c, -1, units)
		}
		return
	}
	for size := l.quantum(c); size > 0 && size <= l.pot.total; size = l.quantum(c) {
		if !w.OneMachine {
			times := max(1, min(l.pot.total, claim.Deficit-claim.Granted)/size)
			l.pot.take(times * size)
			l.grant(c, -1, times*size)
			continue
		}
		machine := slices.IndexFunc(l.pot.machines, func(units int64) bool { return units >= size })
		if l.steps -= len(l.pot.machines); machine < 0 || l.steps < 0 {
			return
		}
		l.pot.takeOn(machine, size)
		l.grant(c, -1, size)
	}
}

// quantum is what the claim is granted at a time: what its pool waits for, if less than that is still due only once.
func (l *planner) quantum(c int) int64 {
	claim := &l.p.claims[c]
	left, size := claim.Deficit-claim.Granted, l.p.watch[claim.Pool].waiting.size()
	if left >= size || left > 0 && claim.Granted == 0 {
		return size
	}
	return 0
}

// assembleAll looks for tasks for the claims that are not met, either those for single units or the others, until the
// steps are used up. Those whose turn did not come are first in the next plan.
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
			if k == 0 { // it has had a turn of its own
				c = (c + 1) % len(claims)
			}
			*turn = claims[c].Pool + 1
			return
		}
	}
}

func (l *planner) budget() int {
	return 16 * int(l.deepest) * (len(l.tasks) + len(l.p.watch) + len(l.pot.machines))
}

// trim drops candidates at the head of the list that no claim can have any more.
func (l *planner) trim() {
	for len(l.rest) > 0 && (l.outcomes[l.rest[0]] != Spared || l.excess[l.tasks[l.rest[0]].Pool] <= 0) {
		l.rest = l.rest[1:]
	}
}

// assemble meets one quantum of a claim, or as much of a claim for single units as one task can. It reports success.
func (l *planner) assemble(c int) bool {
	w := l.p.watch[l.p.claims[c].Pool].waiting
	l.grantFree(c) // what others left over
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
		case !w.OneMachine && l.collect(c, l.rest, size, min(size, l.pot.total), -1, cross):
			return true
		}
	}
	return false
}

// collectOnOne meets one quantum on the machine where the fewest units are lost.
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
		if have := min(size, l.pot.on(machine)); have < size {
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
	return l.collect(c, best, size, min(size, l.pot.on(machine)), machine, cross)
}

// collect takes tasks of the list that together with what is free make up the size, and grants it; or nothing.
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
	var due int64 // back to pools that were taken below their shares
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
		if scope = -1; machine >= 0 { // what is free belongs to all
			l.pot.takeOn(machine, have)
		} else {
			l.pot.take(have)
		}
	}
	l.grant(c, scope, size)
	l.pot.add(last, max(0, beyond-due))
	l.chosen = l.chosen[:0]
	return true
}
