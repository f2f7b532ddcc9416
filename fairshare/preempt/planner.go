package preempt

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/exact"
)

// Plan chooses victims for the claims that are due now, from the usage last observed. Free holds the units that are
// free and fit for starving pools, on each machine by its index; a host for which the machine does not matter passes
// one number. They are used first, and so is what tasks that are dying free beyond what their own pools are due.
//
// Victims are taken in [Config.Order] from pools with more than their share, for a claimant from the nearest common
// ancestor outwards. No pool is taken below its share, at any level, by a kill for a pool outside it, and none above
// its share by kills outside it: a pool that is short while its parent has its share takes from its siblings only. A
// task that holds several units may free more than was claimed, where the pools above can spare it.
//
// Where tasks hold several units, that floor alone could keep a claimant waiting for ever. For a claim that is left,
// part of one task may therefore be below the share of a pool that has more than it, if that pool then is at least as
// well served, by usage over share, as the claimant and the pools above it up to where the two meet; pools above both
// may lose what is freed beyond the grant while they stay better served than the claimant was. Such a claim is
// granted as much as keeps that order. The paper's tasks hold one slot, and its floor is strict:
// [Config.StrictFloor].
//
// A pool that has told what it waits for by [Preemptor.SetWaiting] is granted multiples of it or nothing. Where less
// than one fits below its share, it gets one all the same if all pools that lose for it stay at least as well served.
//
// Once a plan is carried out, those who were served worst are served better than before, and no pool is served worse
// for it than its claimant. So plans for a steady demand come to an end, and no two pools kill each other's tasks in
// turn. Give what was freed to the claimants: what goes back to the victims is claimed again.
//
// Pools for which tasks are killed then cool down. The plan is a proposal: if the host does not carry it out, the
// claims come back after that. While it does, it should list the victims as dying.
//
// Cost: O(n + t·log t + t·depth²) for t tasks and n pools if there are claims, O(n) if not, and O(c·depth) more for
// each size of task that is more than c claims need and the pools above can spare; claims for several units and those
// that are left take up to 16 looks at every task for each level, and the rest have their turn in the next plan. No
// allocation in steady state.
func (p *Preemptor) Plan(now time.Time, tasks []Task, free []int64) Plan {
	at := p.clock.At(now)
	if len(p.claimsAt(at)) == 0 {
		return Plan{}
	}
	l := &p.plan
	l.p, l.tasks = p, tasks
	l.start(free)
	l.assembleAll(&l.turns[0], false)
	for depth := l.deepest - 1; depth >= 0 && l.open(depth); depth-- {
		for _, task := range l.candidates {
			if l.outcomes[task] == Spared {
				l.try(task, depth)
			}
		}
	}
	l.assembleAll(&l.turns[1], true)
	l.explain()
	for _, v := range l.victims {
		p.watch[v.For].coolDown(at, p.config.Cooldown)
	}
	l.p, l.tasks = nil, nil
	return Plan{Claims: p.claims, Victims: l.victims, Outcomes: l.outcomes}
}

// planner is the working space of a plan.
type planner struct {
	p          *Preemptor
	tasks      []Task
	excess     []int64 // by pool: usage that is left above the share
	room       []int64 // by pool: what may be granted to pools under it before it has more than its share
	first      []int32 // by scope, the top level last: the first claim under it, or -1
	tooLarge   []int64 // by scope, the top level last: units of the smallest task of no use there, or 0
	next       []int32 // by claim: the next claim under the same scope, or -1
	scope      []int32 // by claim: the ancestor among whose pools victims are looked for now
	deepest    int32   // depth of the deepest claimant
	candidates []int32 // tasks, in the order in which they are tried
	onMachine  []int64 // by task: units of candidates on its machine, for ByMachine
	victims    []Victim
	outcomes   []Outcome
	pot        pot
	assembly
}

func newPlanner(n int) planner {
	return planner{excess: make([]int64, n), room: make([]int64, n), first: make([]int32, n+1),
		tooLarge: make([]int64, n+1)}
}

// start sets the excesses, spends the free units and collects the candidates.
func (l *planner) start(free []int64) {
	l.victims, l.candidates = l.victims[:0], l.candidates[:0]
	for i := range l.p.watch {
		l.excess[i] = l.p.watch[i].usage - l.p.watch[i].share
	}
	l.pot.fill(free)
	l.outcomes = zeroed(l.outcomes, len(l.tasks))
	for i := range l.tasks {
		t := &l.tasks[i]
		if l.outcomes[i] = l.p.candidacy(t); l.outcomes[i] == Dying {
			l.pot.add(t.Machine, l.discount(t))
		}
	}
	for i, excess := range l.excess {
		l.room[i] = -max(excess, -math.MaxInt64)
	}
	l.deepest = 0
	l.scope, l.next = l.scope[:0], l.next[:0]
	l.byMachine = l.byMachine[:0]
	for c := range l.p.claims {
		l.deepest = max(l.deepest, l.p.depth[l.p.claims[c].Pool])
	}
	l.steps = l.budget()
	for c := range l.p.claims {
		claimant := int32(l.p.claims[c].Pool)
		l.scope, l.next = append(l.scope, claimant), append(l.next, -1)
		l.grantFree(c)
	}
	for i := range l.first {
		l.first[i], l.tooLarge[i] = -1, 0
	}
	for i := range l.tasks {
		if l.outcomes[i] == Spared && l.excess[l.tasks[i].Pool] > 0 {
			l.candidates = append(l.candidates, int32(i))
		}
	}
	l.sort()
}

// discount counts a dying task as gone and returns what will be free for others: what its own pool is not due.
func (l *planner) discount(t *Task) (units int64) {
	units = min(t.slots(), max(0, l.excess[t.Pool]))
	for i := int32(t.Pool); i >= 0; i = l.p.parent[i] {
		l.excess[i] = exact.Sub(l.excess[i], t.slots())
	}
	return units
}
