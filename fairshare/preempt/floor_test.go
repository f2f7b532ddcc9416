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

// tasksOf lists running tasks of a pool by their slots, the first started first.
func tasksOf(pool int, slots ...int64) (tasks []Task) {
	for i, units := range slots {
		tasks = append(tasks, Task{Pool: pool, Slots: units, Started: time.Unix(int64(i), 0)})
	}
	return tasks
}

// A claim of 18 units that no plan ever granted: the other pool has 68 of its 50 in tasks of 20 and 8, and what it
// has above its share is less than any task of 20. One of them may go: its pool keeps 48 where the claimant gets 48,
// and of the 4 units over each gets 2.
func TestClaimOf18UnitsIsGranted(t *testing.T) {
	pools := []fairshare.Pool{{Demand: 100}, {Demand: 100}}
	tasks := append(tasksOf(0, 8, 20, 20, 20), tasksOf(1, 32)...)
	tasks[0].Protected = true
	for strict, want := range map[bool]int64{true: 0, false: 18} {
		s, shares := watched(t, pools, 100, Config{StrictFloor: strict})
		require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{68, 32}))
		plan := s.Plan(time.Unix(3600, 0), tasks, nil)
		require.Len(t, plan.Claims, 1)
		assert.Equal(t, want, plan.Claims[0].Granted, "strict %v", strict)
		if !strict {
			assert.Equal(t, []Victim{{3, 1, AcrossShare}}, plan.Victims)
		}
	}

	s, shares := watched(t, pools, 100, Config{}) // carried out, it is the end of it
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{48, 50}))
	plan := s.Plan(time.Unix(3600, 0), append(tasksOf(0, 8, 20, 20), tasksOf(1, 32, 18)...), []int64{2})
	assert.Equal(t, []Claim{{Pool: 0, Cause: BelowShare, Deficit: 2, Waited: time.Hour, Usage: 48, Due: 50, Granted: 2}},
		plan.Claims)
	assert.Empty(t, plan.Victims)
}

// levels are how well the pools are served, at most by their whole shares, the worst served first.
func (c *cluster) levels() (levels []*big.Rat) {
	for i := range c.pools {
		if share := c.shares[i].Slots; share > 0 {
			levels = append(levels, big.NewRat(min(c.used(i), share), share))
		}
	}
	slices.SortFunc(levels, (*big.Rat).Cmp)
	return levels
}

// bury ends the tasks that were dying before the plan.
func (c *cluster) bury() {
	c.tasks = slices.DeleteFunc(c.tasks, func(t Task) bool {
		if t.Dying {
			c.usage[t.Pool] -= t.Slots
		}
		return t.Dying
	})
}

// free is what nobody uses.
func (c *cluster) free() int64 {
	free := c.total
	for _, units := range c.usage {
		free -= units
	}
	return free
}

// start lets a pool use units that it was granted, in tasks of the size that it waits for; a pool with children passes
// them on to those that miss some.
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

// Every plan that kills raises those who are served worst: sorted from the worst, how well the pools are served grows
// as a number grows with its leading digits. So plans come to an end, and two pools never kill each other's tasks in
// turn, whatever the sizes of tasks and whatever the pools wait for. A pool that a kill takes below its share is
// served no worse than the claimant, as far as that was granted what was taken.
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
			require.Less(t, round, 100, "plans go on for ever")
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
				require.Zero(t, claim.Granted%size, "%v in pieces of %d", claim, size)
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
			c.bury()
			for _, claim := range plan.Claims {
				c.start(claim.Pool, claim.Granted, waiting)
			}
			require.GreaterOrEqual(t, c.free(), int64(0), "more was granted than there is")
			require.Positive(t, slices.CompareFunc(c.levels(), before.levels(), (*big.Rat).Cmp), "%v", plan.Victims)
		}
	}
	require.Greater(t, reasons[AboveShare], 1000)
	require.Greater(t, reasons[AcrossShare], 300)
	require.Greater(t, sized, 200)
	require.Greater(t, stuck, 200)
}

// stuck checks, where nobody is granted or killed anything, that a claim for single units is left unmet only because no
// task may be taken for it. It returns the number of claims.
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
				require.False(t, c.helps(task, claim), "%+v would help %v", task, claim)
			}
		}
	}
	return claims
}

// helps works out from the definition whether a task may be taken for a claim across shares.
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
	for grant := min(task.Slots, claim.Deficit); grant > 0; grant-- { // the most that keeps the order
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

// What waits is granted in multiples, on one machine if it must be, or not at all.
func TestSizeOfWhatWaits(t *testing.T) {
	pools := []fairshare.Pool{{Demand: 100}, {Demand: 100}}
	at := func(machine int, tasks []Task) []Task {
		for i := range tasks {
			tasks[i].Machine = machine
		}
		return tasks
	}
	running := slices.Concat(at(0, tasksOf(0, 3, 3, 3)), at(1, tasksOf(0, 4, 4)), at(2, tasksOf(0, 7))) // 24 of its 12
	for name, c := range map[string]struct {
		waiting Waiting
		free    []int64
		granted int64
		victims []Victim
	}{
		"single units": {Waiting{}, nil, 12,
			[]Victim{{2, 1, 0}, {1, 1, 0}, {4, 1, 0}, {0, 1, AcrossShare}}},
		"pieces of 5, anywhere":      {Waiting{Units: 5}, nil, 10, nil},
		"pieces of 5 on one machine": {Waiting{Units: 5, OneMachine: true}, nil, 10, nil},
		"7 on one machine":           {Waiting{Units: 7, OneMachine: true}, nil, 7, []Victim{{5, 1, 0}}},
		"8 on one machine": {Waiting{Units: 8, OneMachine: true}, nil, 8,
			[]Victim{{4, 1, 0}, {3, 1, 0}}},
		"10 on one machine, of which 3 are free": {Waiting{Units: 10, OneMachine: true}, []int64{0, 0, 3}, 10,
			[]Victim{{5, 1, 0}}},
		"10 on one machine, 9 at most": {Waiting{Units: 10, OneMachine: true}, nil, 0, nil},
		"more than the share":          {Waiting{Units: 13}, nil, 0, nil},
		"more than there is":           {Waiting{Units: 1 << 62}, nil, 0, nil},
		"5 that are free":              {Waiting{Units: 5, OneMachine: true}, []int64{4, 5, 11}, 10, nil},
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

// What a claimant gets from its siblings is nothing that their parent has been given: another child still gets from
// outside what the parent lacks.
func TestSiblingsTakeNothingFromTheirParentsRoom(t *testing.T) {
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

// A pool whose one task is larger than its share gets it from a pool that is left better served all the same.
func TestTaskLargerThanTheShare(t *testing.T) {
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

// Copies go before originals, however long they have run: nothing is lost with them that another attempt does not do.
func TestCopiesGoFirst(t *testing.T) {
	s, shares := watched(t, []fairshare.Pool{{Demand: 8}, {Demand: 8}}, 8, Config{})
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{8, 0}))
	tasks := runningTasks(0, 8)
	tasks[0].Speculative, tasks[3].Speculative = true, true
	plan := s.Plan(time.Unix(3600, 0), tasks, nil)
	assert.Equal(t, []Victim{{3, 1, AboveShare}, {0, 1, AboveShare}, {7, 1, AboveShare}, {6, 1, AboveShare}}, plan.Victims)
}

// A plan looks at no more than so many tasks for claims that cannot be met; the claims that had no turn come first in
// the next one, so that a claim that can be met waits for ever behind none that cannot.
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
		s.SetWaiting(1+i, Waiting{Units: units}) // more than all tasks that may be killed
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
	assert.Greater(t, plans, 1, "the test is of what does not fit into one plan")
}

// A claim that used up the looks of a plan in the first turn is not the first in the next one. Each grant on one machine
// of a hundred looks at all of them.
func TestTurnAfterTheFirst(t *testing.T) {
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
