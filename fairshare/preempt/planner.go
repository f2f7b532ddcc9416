package preempt

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/exact"
)

// Plan chooses victims for the claims that are due at now, from the usage that was last observed. The slices of the
// Plan are valid until the next call.
//
// free[i] holds the units on machine i that are free and that starving pools can use. A host for which the machine
// does not matter passes one number. Plan uses the free units first. It also uses the units that dying
// tasks free, except units that the pools of these tasks are due.
//
// # Victims
//
// Plan takes victims in [Config.Order] from pools with more than their share. For each claimant it begins at the
// nearest common ancestor and continues outwards. Two rules hold at every level of the tree:
//
//   - A kill for a claimant outside a pool does not take the pool below its share.
//   - Kills outside a pool do not raise the pool above its share. So a pool that is short takes only from its
//     siblings if its parent has its share.
//
// A task with several units may free more units than were claimed, if the pools above can spare the rest.
//
// # Tasks across a share
//
// If tasks hold several units, these rules alone could let a claimant wait for ever. So for each claim that is still
// unmet, Plan may take one task that lies partly below the share of its pool, under three conditions:
//
//   - The pool that loses the task has more than its share before.
//   - Afterwards the pool has at least as large a usage/share as the claimant, and as the pools between the claimant
//     and their common ancestor.
//   - The common ancestor and the pools above it may lose the units beyond the grant. Afterwards they must still have
//     a larger usage/share than the claimant had before.
//
// Plan grants such a claim as many units as these conditions allow. The paper's tasks hold one slot, so its floor is
// strict: [Config.StrictFloor].
//
// # Waiting tasks of several units
//
// A pool with a size set by [Preemptor.SetWaiting] is granted multiples of that size, or nothing. If less than one
// such task fits below its share, the pool is still granted one task. The condition is that all pools that lose units
// for it stay at least as well served as the claimant.
//
// # Carrying out a plan
//
// After a plan is carried out, the pools that were served worst are served better. No pool that lost units to a
// claimant is served worse than this claimant. So plans for a constant demand come to an end, and two pools never
// kill each other's tasks in turn. Give the freed units to the claimants. If the victims' pools get the units back,
// the claims return.
//
// After a kill for a pool, the pool cools down. The plan is a proposal. If the host does not carry it out, the claims
// return after the cool-down. While the host carries it out, it should set [Task.Dying] for the victims.
//
// # Cost
//
// With claims, Plan takes O(n + t·log t + t·depth²) for t tasks and n pools; without claims it takes O(n). It takes
// O(c·depth) more for each size of task that is larger than c claims need and that the pools above cannot spare. For
// claims of several units, and for claims that are still unmet, Plan examines at most 16·depth·(t + n + m) tasks.
// Here m is the length of free. Claims that this limit leaves out come first in the next plan. Plan allocates nothing
// in steady state.
func (p *Preemptor) Plan(now time.Time, tasks []Task, free []int64) Plan {
	at := p.clock.At(now)
	if len(p.claimsAt(at)) == 0 {
		return Plan{}
	}
	l := &p.plan
	l.p, l.tasks = p, tasks
	l.start(free)
	l.assembleAll(&l.turns[0], false)
	for depth := l.deepest - 1; depth >= 0 && l.moveClaimsUp(depth); depth-- {
		for _, task := range l.candidates {
			if l.outcomes[task] == Spared {
				l.tryTask(task, depth)
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

// planner is the working space of a plan. A scope is a pool, or -1 for the top level: the ancestor of a claimant
// below which victims are sought.
type planner struct {
	p          *Preemptor
	tasks      []Task
	excess     []int64 // by pool: usage above the share, after the kills so far; negative below the share
	room       []int64 // by pool: units that may still be granted from outside before the pool has its share
	first      []int32 // by scope, the top level last: the first claim of the scope's list, or -1
	tooLarge   []int64 // by scope, the top level last: a task of this size or more meets no claim; 0 if unknown
	next       []int32 // by claim: the next claim of the list, or -1
	scope      []int32 // by claim: the current scope
	deepest    int32   // depth of the deepest claimant
	candidates []int32 // tasks, in the order in which they are tried
	onMachine  []int64 // by task: units of all candidates on the task's machine, for ByMachine
	victims    []Victim
	outcomes   []Outcome
	free       freeUnits
	assembly
}

func newPlanner(n int) planner {
	return planner{excess: make([]int64, n), room: make([]int64, n), first: make([]int32, n+1),
		tooLarge: make([]int64, n+1)}
}

// start sets excess and room, grants the free units to the claims, and collects and sorts the candidates.
func (l *planner) start(free []int64) {
	l.victims, l.candidates = l.victims[:0], l.candidates[:0]
	for i := range l.p.watch {
		l.excess[i] = l.p.watch[i].usage - l.p.watch[i].share
	}
	l.free.fill(free)
	l.outcomes = zeroed(l.outcomes, len(l.tasks))
	for i := range l.tasks {
		t := &l.tasks[i]
		if l.outcomes[i] = l.p.candidacy(t); l.outcomes[i] == Dying {
			l.free.add(t.Machine, l.discount(t))
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

// discount removes a dying task from the usage of its pools. It returns the units that other pools may use: the units
// that the task's own pool has above its share.
func (l *planner) discount(t *Task) (units int64) {
	units = min(t.slots(), max(0, l.excess[t.Pool]))
	for i := int32(t.Pool); i >= 0; i = l.p.parent[i] {
		l.excess[i] = exact.Sub(l.excess[i], t.slots())
	}
	return units
}
