package preempt

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/exact"
)

// Plan chooses which tasks to kill for the pools that have had too few units for too long at the instant now. A
// unit is, for example, a slot. Plan uses the shares and the usage from the last call of [Preemptor.Observe]. The
// slices of the returned Plan are valid until the next call.
//
// free[i] is the number of units on machine i that are free and that these pools can use. If the machine does not
// matter, pass one number for all machines. Plan grants free units first. It also grants the units of tasks that were
// killed before (see [Task.Dying]), except units that the tasks' own pools need for their shares.
//
// A claim is the request of a pool, the claimant, for the units that it lacks.
//
// # Which tasks are killed
//
// Plan kills tasks of pools that use more than their share, in the order [Config.Order]. For each claimant it first
// looks at tasks below the parent of the claimant, then below the parent above that, and so on up to the top level.
// At each step two rules apply:
//
//   - If a task is killed for a claimant outside a pool, the pool must keep its share.
//   - If tasks outside a pool are killed for a claimant in the pool, the pool must not get more than its share. So
//     if the parent of the claimant has its share, the claimant takes units only from pools with the same parent.
//
// A task with several units may free more units than were claimed. It is killed only if the pools above can lose
// these further units and keep their shares.
//
// # Tasks that are partly below a share
//
// If tasks use several units each, a claimant could wait for ever under these two rules. So for each claim that
// still lacks units, Plan may kill one task although a part of its units are below the share of its pool. There
// are three conditions:
//
//   - Before the kill, the pool of the task uses more than its share.
//   - After the kill, the ratio of used units to share of this pool is at least as large as the ratio of the
//     claimant. It is also at least as large as the ratios of the pools between the claimant and the common
//     ancestor of the two pools.
//   - The kill may free more units than the claimant gets. After the kill, the common ancestor and the pools above
//     it must have a larger ratio than the claimant had before.
//
// Plan grants to such a claim as many units as these conditions allow. In the paper each task uses one slot, so no
// task is partly below a share. [Config.StrictFloor] turns these kills off.
//
// # Waiting tasks of several units
//
// [Preemptor.SetWaiting] says how many units the waiting tasks of a pool need. Such a pool is granted a multiple
// of this number, or nothing. If the pool lacks fewer units than one such task needs, it may still be granted one
// task. Then all pools that lose units for it must stay at least as well served as the claimant: their ratios of
// used units to share must be at least the ratio of the claimant.
//
// # Carrying out a plan
//
// After a plan is carried out, the pools with the smallest ratios of used units to share have larger ratios. No
// pool that lost units to a claimant has a smaller ratio than this claimant. So if demands are constant, there are
// no more kills after some plans, and two pools never kill each other's tasks in turn. Give the freed units to the
// claimants. If the pools of the killed tasks get the units back, the claims return.
//
// After tasks were chosen for a pool, the pool makes no claim for the time [Config.Cooldown]. A plan is a
// proposal. If the host does not carry it out, the claims return after this time. While the host kills the chosen
// tasks, it should pass them with [Task.Dying] set.
//
// # Cost
//
// Let n be the number of pools, t the number of tasks, m the length of free, and depth the number of levels of the
// tree. Without claims Plan takes O(n). With claims it takes O(n + t·log t + t·depth²). A task may be too large
// for c claims because the pools above cannot lose its further units; each size of such tasks takes O(c·depth)
// more. For claims of several units, and for claims that still lack units, Plan examines at most 16·depth·(t + n +
// m) tasks. Claims that are not served because of this limit come first in the next plan. Plan allocates nothing
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

// planner is the working space of [Preemptor.Plan]. A claimant is a pool that claims units. A scope is an ancestor
// of a claimant, and tasks below the scope may be killed for the claimant. A scope is the index of a pool, or -1
// for the top level.
type planner struct {
	p          *Preemptor
	tasks      []Task
	excess     []int64 // by pool: usage minus share, after the kills so far; negative if the pool is below its share
	room       []int64 // by pool: units that may still come from outside before the pool has its share
	first      []int32 // by scope, the top level last: the first claim in the list of the scope, or -1
	tooLarge   []int64 // by scope, the top level last: tasks of this size or more suit no claim; 0 if unknown
	next       []int32 // by claim: the next claim in the list of the same scope, or -1
	scope      []int32 // by claim: the current scope
	deepest    int32   // depth of the deepest claimant in the tree
	candidates []int32 // tasks that may be killed, in the order in which they are tried
	onMachine  []int64 // by task: units of all candidates on the same machine, for Config.ByMachine
	victims    []Victim
	outcomes   []Outcome
	free       freeUnits
	assembly
}

func newPlanner(n int) planner {
	return planner{excess: make([]int64, n), room: make([]int64, n), first: make([]int32, n+1),
		tooLarge: make([]int64, n+1)}
}

// start sets the excess and the room of each pool, and grants the free units to the claims. Then it collects the
// tasks that may be killed, and sorts them into the order in which they are tried.
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

// discount subtracts the units of a task that was killed before from the usage of its pools. It returns how many
// units of the task other pools may use: the units that its pool uses beyond its share.
func (l *planner) discount(t *Task) (units int64) {
	units = min(t.slots(), max(0, l.excess[t.Pool]))
	for i := int32(t.Pool); i >= 0; i = l.p.parent[i] {
		l.excess[i] = exact.Sub(l.excess[i], t.slots())
	}
	return units
}
