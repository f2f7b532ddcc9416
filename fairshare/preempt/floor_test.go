package preempt

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
)

// tasksOf returns running tasks of a pool with the given slots. They started in this order.
func tasksOf(pool int, slots ...int64) (tasks []Task) {
	for i, units := range slots {
		tasks = append(tasks, Task{Pool: pool, Slots: units, Started: time.Unix(int64(i), 0)})
	}
	return tasks
}

// Pool 1 claims 18 units. Pool 0 uses 68 units, and its share is 50. Its tasks use 20 units each, which is more
// than the 18 units above its share. So with StrictFloor nothing is granted. Without StrictFloor one task is
// killed: pool 0 still uses 48 units, pool 1 uses 50, and the 2 free units go back to pool 0.
func TestClaimOf18UnitsIsGranted(t *testing.T) {
	pools := []fairshare.Pool{{Demand: 100}, {Demand: 100}}
	tasks := append(tasksOf(0, 8, 20, 20, 20), tasksOf(1, 32)...)
	tasks[0].Protected = true
	for strict, want := range map[bool]int64{true: 0, false: 18} {
		s, shares := watched(t, pools, 100, Config{StrictFloor: strict})
		require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{68, 32}))
		plan := s.Plan(time.Unix(3600, 0), tasks, nil)
		require.Len(t, plan.Claims, 1)
		assert.Equal(t, want, plan.Claims[0].Granted, "granted units with StrictFloor %v", strict)
		if !strict {
			assert.Equal(t, []Victim{{3, 1, AcrossShare}}, plan.Victims)
		}
	}

	s, shares := watched(t, pools, 100, Config{}) // after the plan is carried out, no task is killed
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{48, 50}))
	plan := s.Plan(time.Unix(3600, 0), append(tasksOf(0, 8, 20, 20), tasksOf(1, 32, 18)...), []int64{2})
	assert.Equal(t, []Claim{{Pool: 0, Cause: BelowShare, Deficit: 2, Waited: time.Hour, Usage: 48, Due: 50, Granted: 2}},
		plan.Claims)
	assert.Empty(t, plan.Victims)
}

// levels returns the ratio usage/share of each pool, at most 1, sorted so that the smallest ratio comes first.
func (c *cluster) levels() (levels []*big.Rat) {
	for i := range c.pools {
		if share := c.shares[i].Slots; share > 0 {
			levels = append(levels, big.NewRat(min(c.used(i), share), share))
		}
	}
	slices.SortFunc(levels, (*big.Rat).Cmp)
	return levels
}

// endDying ends the tasks that had been killed before the plan.
func (c *cluster) endDying() {
	c.tasks = slices.DeleteFunc(c.tasks, func(t Task) bool {
		if t.Dying {
			c.usage[t.Pool] -= t.Slots
		}
		return t.Dying
	})
}

// free returns the units that no pool uses.
func (c *cluster) free() int64 {
	free := c.total
	for _, units := range c.usage {
		free -= units
	}
	return free
}

// start starts tasks on granted units. The tasks have the size that the pool waits for. A pool with children gives
// the units to its children below their shares.
func (c *cluster) start(i int, units int64, waiting []Waiting) {
	for k := range c.pools {
		if c.pools[k].Parent.Index() == i {
			part := max(0, min(units, c.shares[k].Slots-c.used(k)))
			c.start(k, part, waiting)
			units -= part
		}
	}
	if len(c.children(i)) > 0 {
		return
	}
	size := waiting[i].size()
	for ; units >= size; units -= size {
		c.usage[i] += size
		c.tasks = append(c.tasks, Task{Pool: i, Slots: size, Started: time.Unix(1000, 0)})
	}
}

// Every plan that kills tasks raises the smallest ratios usage/share: the sorted list of these ratios grows in
// lexicographic order. So after some plans there are no more kills, and two pools never kill each other's tasks in
// turn. This is true for all sizes of tasks, and for all sizes set by SetWaiting. If a kill takes a pool below its
// share, its ratio is still at least the ratio of the claimant.
func TestPlansRaiseTheWorstServed(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 32))
	reasons := map[Reason]int{}
	sized, stuck := 0, 0
	for range 12_000 {
		c := randomCluster(t, rng, 1+rng.Int64N(12))
		config := randomConfig(rng)
		config.StrictFloor = rng.IntN(4) == 0
		s, err := New(c.tree, config)
		require.NoError(t, err)
		waiting := make([]Waiting, len(c.pools))
		for i := range waiting {
			if len(c.children(i)) == 0 && c.pools[i].Parent == 0 && rng.IntN(2) == 0 {
				waiting[i] = Waiting{Units: rng.Int64N(9), OneMachine: rng.IntN(2) == 0}
				s.SetWaiting(i, waiting[i])
			}
		}
		now := time.Unix(1000, 0)
		for round := 0; ; round++ {
			require.Less(t, round, 100, "plans must come to an end")
			require.NoError(t, s.Observe(now, c.shares, c.usage))
			now = now.Add(time.Hour)
			plan := s.Plan(now, c.tasks, []int64{0, c.free()})
			killed := map[int]bool{}
			for _, v := range plan.Victims {
				require.False(t, config.StrictFloor && v.Reason == AcrossShare)
				require.False(t, c.tasks[v.Task].Protected || c.tasks[v.Task].Dying || killed[v.Task])
				killed[v.Task] = true
				reasons[v.Reason]++
			}
			for _, claim := range plan.Claims {
				size := waiting[claim.Pool].size()
				require.Zero(t, claim.Granted%size, "%v must be granted multiples of %d", claim, size)
				require.Less(t, claim.Granted, claim.Deficit+size)
				if size > 1 && claim.Granted > 0 {
					sized++
				}
			}
			if len(plan.Victims) == 0 {
				if !config.StrictFloor {
					stuck += c.stuck(t, plan, waiting)
				}
				break
			}
			before := &cluster{forest: c.forest, shares: c.shares, usage: slices.Clone(c.usage)}
			for _, task := range c.tasks {
				if task.Dying {
					before.usage[task.Pool] -= task.Slots
				}
			}
			c.kill(plan)
			c.endDying()
			for _, claim := range plan.Claims {
				c.start(claim.Pool, claim.Granted, waiting)
			}
			require.GreaterOrEqual(t, c.free(), int64(0), "a plan must not grant more units than exist")
			require.Positive(t, slices.CompareFunc(c.levels(), before.levels(), (*big.Rat).Cmp), "the worst served pools must gain from %v", plan.Victims)
		}
	}
	require.Greater(t, reasons[AboveShare], 1000)
	require.Greater(t, reasons[AcrossShare], 300)
	require.Greater(t, sized, 200)
	require.Greater(t, stuck, 200)
}

// stuck examines a plan that grants nothing and kills nothing. If a claim for single units is not met, the reason
// must be that no task may be killed for it. stuck returns the number of such claims.
func (c *cluster) stuck(t *testing.T, plan Plan, waiting []Waiting) (claims int) {
	if slices.Contains(plan.Outcomes, Dying) ||
		slices.ContainsFunc(plan.Claims, func(c Claim) bool { return c.Granted > 0 }) {
		return 0
	}
	for _, claim := range plan.Claims {
		if !waiting[claim.Pool].plain() {
			continue
		}
		claims++
		for k, task := range c.tasks {
			if plan.Outcomes[k] == Spared || plan.Outcomes[k] == AtShare {
				require.False(t, c.helps(task, claim), "%+v must not help the unmet claim %v", task, claim)
			}
		}
	}
	return claims
}

// helps computes, from the definition, whether a task that is partly below the share of its pool may be killed for
// a claim.
func (c *cluster) helps(task Task, claim Claim) bool {
	var loses, gains, both []int // pools with the task only, the claimant only, and both
	for i := task.Pool; i >= 0; i = c.pools[i].Parent.Index() {
		if c.under(claim.Pool, i) {
			both = append(both, i)
		} else {
			loses = append(loses, i)
		}
	}
	for i := claim.Pool; i >= 0 && !c.under(task.Pool, i); i = c.pools[i].Parent.Index() {
		gains = append(gains, i)
	}
	if len(loses) == 0 || len(gains) == 0 {
		return false
	}
	level := func(i int, change int64) *big.Rat {
		return big.NewRat(c.used(i)+change, max(1, c.shares[i].Slots))
	}
	one := big.NewRat(1, 1)
	for grant := min(task.Slots, claim.Deficit); grant > 0; grant-- { // find the largest grant that keeps the order
		ok := true
		for _, y := range gains {
			ok = ok && c.shares[y].Slots > 0 && level(y, grant).Cmp(one) <= 0
		}
		for _, x := range loses {
			left := c.used(x) - task.Slots
			ok = ok && c.used(x) > c.shares[x].Slots && left >= 0
			for _, y := range gains {
				ok = ok && (left >= c.shares[x].Slots || level(x, -task.Slots).Cmp(level(y, grant)) >= 0)
			}
		}
		if !ok {
			continue
		}
		for _, z := range both {
			beyond := task.Slots - grant
			ok = ok && (beyond == 0 || c.used(z)-beyond >= c.shares[z].Slots ||
				c.used(z) >= beyond && level(z, -beyond).Cmp(level(claim.Pool, 0)) > 0)
		}
		return ok
	}
	return false
}

// A pool with a waiting size is granted a multiple of this size or nothing, and on one machine if OneMachine is
// set.
func TestGrantsAreMultiplesOfTheWaitingSize(t *testing.T) {
	pools := []fairshare.Pool{{Demand: 100}, {Demand: 100}}
	at := func(machine int, tasks []Task) []Task {
		for i := range tasks {
			tasks[i].Machine = machine
		}
		return tasks
	}
	// Pool 0 uses 24 units, and its share is 12.
	running := slices.Concat(at(0, tasksOf(0, 3, 3, 3)), at(1, tasksOf(0, 4, 4)), at(2, tasksOf(0, 7)))
	for name, c := range map[string]struct {
		waiting Waiting
		free    []int64
		granted int64
		victims []Victim
	}{
		"single units": {Waiting{}, nil, 12,
			[]Victim{{2, 1, 0}, {1, 1, 0}, {4, 1, 0}, {0, 1, AcrossShare}}},
		"two tasks of 5 units, anywhere":            {Waiting{Units: 5}, nil, 10, nil},
		"two tasks of 5 units, each on one machine": {Waiting{Units: 5, OneMachine: true}, nil, 10, nil},
		"one task of 7 units on one machine":        {Waiting{Units: 7, OneMachine: true}, nil, 7, []Victim{{5, 1, 0}}},
		"one task of 8 units on one machine": {Waiting{Units: 8, OneMachine: true}, nil, 8,
			[]Victim{{4, 1, 0}, {3, 1, 0}}},
		"one task of 10 units on one machine with 3 free units": {Waiting{Units: 10, OneMachine: true}, []int64{0, 0, 3}, 10,
			[]Victim{{5, 1, 0}}},
		"no task of 10 units, because no machine has 10": {Waiting{Units: 10, OneMachine: true}, nil, 0, nil},
		"no task larger than the share":                  {Waiting{Units: 13}, nil, 0, nil},
		"no task larger than the cluster":                {Waiting{Units: 1 << 62}, nil, 0, nil},
		"two tasks of 5 units on free units":             {Waiting{Units: 5, OneMachine: true}, []int64{4, 5, 11}, 10, nil},
	} {
		s, shares := watched(t, pools, 24, Config{})
		require.True(t, s.SetWaiting(1, c.waiting))
		require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{24, 0}))
		plan := s.Plan(time.Unix(3600, 0), running, c.free)
		require.Len(t, plan.Claims, 1)
		assert.Equal(t, c.granted, plan.Claims[0].Granted, name)
		if c.victims != nil || c.granted == 0 {
			assert.Equal(t, c.victims, slices.Clip(plan.Victims), name)
		}
	}
	s, _ := watched(t, pools, 24, Config{})
	assert.False(t, s.SetWaiting(2, Waiting{}) || s.SetWaiting(-1, Waiting{}))
}

// Units that a claimant gets from a pool with the same parent do not raise the usage of the parent. So another
// child of the parent may still get units from outside, as many as the parent lacks.
func TestUnitsFromSiblingsDoNotCountForTheParent(t *testing.T) {
	under := fairshare.Under(0)
	s, shares := watched(t, []fairshare.Pool{
		{}, {Parent: under, Demand: 4}, {Parent: under, Demand: 6}, {Parent: under, Demand: 4}, {Demand: 6},
	}, 16, Config{})
	for i, slots := range []int64{12, 4, 4, 4, 4} {
		shares[i].Slots = slots
	}
	s.SetWaiting(1, Waiting{Units: 2})
	s.SetWaiting(3, Waiting{Units: 2})
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{0, 2, 6, 2, 6}))
	plan := s.Plan(time.Unix(3600, 0), append(tasksOf(2, 2, 2, 2), tasksOf(4, 2, 2, 2)...), nil)
	require.Len(t, plan.Claims, 2)
	assert.Equal(t, []int64{2, 2}, []int64{plan.Claims[0].Granted, plan.Claims[1].Granted}, "%v", plan.Claims)
}

// The only task of a pool is larger than the pool's share. The pool is granted the task, because the pool that loses
// the units stays better served.
func TestATaskLargerThanTheShareIsGranted(t *testing.T) {
	pools := []fairshare.Pool{{Demand: 100}, {Demand: 20}, {Demand: 100}, {Demand: 100}}
	s, shares := watched(t, pools, 40, Config{})
	s.SetWaiting(1, Waiting{Units: 12})
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{34, 0, 6, 0}))
	plan := s.Plan(time.Unix(3600, 0), tasksOf(0, 10, 12, 12), nil)
	assert.Equal(t, []Claim{
		{Pool: 1, Cause: BelowShare, Deficit: 10, Waited: time.Hour, Due: 10, Granted: 12},
		{Pool: 2, Cause: BelowShare, Deficit: 4, Waited: time.Hour, Usage: 6, Due: 10, Granted: 4},
		{Pool: 3, Cause: BelowShare, Deficit: 10, Waited: time.Hour, Due: 10, Granted: 8},
	}, plan.Claims)
}

// Copies are killed before originals, however long they have run, because another attempt does the same work.
func TestCopiesAreKilledBeforeOriginals(t *testing.T) {
	s, shares := watched(t, []fairshare.Pool{{Demand: 8}, {Demand: 8}}, 8, Config{})
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{8, 0}))
	tasks := runningTasks(0, 8)
	tasks[0].Copy, tasks[3].Copy = true, true
	plan := s.Plan(time.Unix(3600, 0), tasks, nil)
	assert.Equal(t, []Victim{{3, 1, AboveShare}, {0, 1, AboveShare}, {7, 1, AboveShare}, {6, 1, AboveShare}}, plan.Victims)
}

// A plan examines a limited number of tasks for claims that cannot be met. The claims that this limit leaves out come
// first in the next plan. So a claim that can be met does not wait for ever behind claims that cannot.
func TestClaimsTakeTurns(t *testing.T) {
	const claimants, units = 30, 600
	pools := make([]fairshare.Pool, claimants+2)
	for i := range pools {
		pools[i].Demand = 20_000
	}
	s, shares := watched(t, pools, 20_000, Config{Cooldown: Off})
	usage := make([]int64, len(pools))
	usage[0] = 20_000
	tasks := append(tasksOf(0, slices.Repeat([]int64{1}, 500)...), Task{Pool: 0, Slots: 19_500, Protected: true})
	for i := range claimants {
		s.SetWaiting(1+i, Waiting{Units: units}) // more units than all tasks that may be killed
	}
	s.SetWaiting(claimants+1, Waiting{Units: 100})
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, usage))
	plans := 0
	for granted := int64(0); granted == 0; plans++ {
		require.Less(t, plans, 10)
		plan := s.Plan(time.Unix(3600, 0), tasks, nil)
		require.Len(t, plan.Claims, claimants+1)
		granted = plan.Claims[claimants].Granted
	}
	assert.Greater(t, plans, 1, "the limit must leave out claims in the first plan")
}

// If the first claim uses up the limit of a plan, the next claim is first in the next plan. Here each grant examines
// all of the hundred machines.
func TestTheFirstClaimDoesNotKeepItsTurn(t *testing.T) {
	pools := []fairshare.Pool{{Demand: 80}, {Demand: 80}, {Demand: 80}}
	s, shares := watched(t, pools, 200, Config{Cooldown: Off})
	for i := range pools {
		s.SetWaiting(i, Waiting{Units: 2, OneMachine: true})
	}
	free := slices.Repeat([]int64{0}, 100)
	for i := 60; i < 100; i++ {
		free[i] = 2
	}
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{0, 0, 0}))
	var granted [3][3]int64
	for round := range granted {
		for i, claim := range s.Plan(time.Unix(3600, 0), nil, free).Claims {
			granted[round][i] = claim.Granted
		}
	}
	assert.Equal(t, [3][3]int64{{64, 0, 0}, {32, 32, 0}, {32, 0, 32}}, granted)
}
