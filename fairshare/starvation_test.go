package fairshare

import (
	"math/rand/v2"

	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cluster is a random state of a tree in which some pools have more than their share and some less.
type cluster struct {
	*oracle
	tree   *Tree
	total  int64
	shares []Share
	usage  []int64
	tasks  []Task
}

func randomCluster(t *testing.T, rng *rand.Rand) *cluster {
	n := 2 + rng.IntN(10)
	pools := make([]Pool, n)
	for i := range pools {
		if i > 0 && rng.IntN(2) == 0 {
			pools[i].Parent = Under(rng.IntN(i))
		}
		pools[i].Weight = 1 + rng.Int64N(3)
		if rng.IntN(3) == 0 {
			pools[i].Min = rng.Int64N(6)
		}
		pools[i].Demand = rng.Int64N(20)
	}
	c := &cluster{oracle: &oracle{pools: pools}, usage: make([]int64, n), total: 5 + rng.Int64N(50)}
	for i := range pools {
		if len(c.children(i)) > 0 {
			pools[i].Demand = 0
		}
	}
	var err error
	c.tree, err = New(pools, Policy{Infeasible: Scale})
	require.NoError(t, err)
	c.shares, err = c.tree.Shares(nil, nil, c.total)
	require.NoError(t, err)
	free := c.total
	for _, i := range rng.Perm(n) {
		for pools[i].Demand > c.usage[i] && free > 0 && rng.IntN(12) > 0 {
			slots := min(1+rng.Int64N(3), free, pools[i].Demand-c.usage[i])
			c.tasks = append(c.tasks, Task{
				Pool: i, Machine: rng.IntN(4), Slots: slots, Started: time.Unix(rng.Int64N(9), 0),
				Protected: rng.IntN(9) == 0, Dying: rng.IntN(9) == 0,
			})
			c.usage[i] += slots
			free -= slots
		}
	}
	return c
}

func (c *cluster) used(i int) (sum int64) {
	for _, k := range c.children(i) {
		sum += c.used(k)
	}
	return sum + c.usage[i]
}

// carryOut kills the victims and those dying, and gives what was freed to the claimants: to a pool with children, where
// it is short.
func (c *cluster) carryOut(plan Plan) {
	granted := map[int]int64{}
	for _, claim := range plan.Claims {
		granted[claim.Pool] = claim.Granted
	}
	var left []Task
	for k, task := range c.tasks {
		switch plan.Fates[k] {
		case Killed, Doomed:
			c.usage[task.Pool] -= task.Slots
		default:
			left = append(left, task)
		}
	}
	c.tasks = left
	for i := range c.pools {
		c.give(i, min(granted[i], c.shares[i].Slots-c.used(i)))
	}
}

func (c *cluster) give(i int, units int64) {
	if units <= 0 {
		return
	}
	children := c.children(i)
	if len(children) == 0 {
		c.usage[i] += units
		c.tasks = append(c.tasks, Task{Pool: i, Slots: units, Started: time.Unix(100, 0)})
	}
	for _, k := range children {
		part := min(units, c.shares[k].Slots-c.used(k))
		c.give(k, part)
		units -= max(0, part)
	}
}

func randomPreemption(rng *rand.Rand) Preemption {
	return Preemption{
		Threshold: []int{0, 50, 80, 100}[rng.IntN(4)], Target: Target(rng.IntN(2)), Cooldown: NoCooldown, ByMachine: rng.IntN(2) == 0,
	}
}

// No flapping: once a plan is carried out, no pool that lost a task has a claim, however long one waits, nor has a pool
// between it and the claimant. Repeated plans come to an end.
func TestPlansDoNotFlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 30))
	plans := 0
	for range 3000 {
		c := randomCluster(t, rng)
		s, err := NewStarvation(c.tree, randomPreemption(rng))
		require.NoError(t, err)
		now := time.Unix(1000, 0)
		for round := 0; ; round++ {
			require.Less(t, round, 50, "plans go on for ever")
			require.NoError(t, s.Observe(now, c.shares, c.usage))
			now = now.Add(time.Hour)
			plan := s.Plan(now, c.tasks, 0)
			if len(plan.Victims) == 0 {
				break
			}
			plans++
			before := make([]int64, len(c.pools))
			for i := range before {
				before[i] = c.used(i)
			}
			robbed := map[int]bool{}
			for _, v := range plan.Victims {
				for i := c.tasks[v.Task].Pool; i >= 0 && !c.under(v.For, i); i = c.pools[i].Parent.Index() {
					robbed[i] = true
				}
				require.False(t, c.tasks[v.Task].Protected || c.tasks[v.Task].Dying)
			}
			c.carryOut(plan)
			require.NoError(t, s.Observe(now, c.shares, c.usage))
			now = now.Add(time.Hour)
			for _, claim := range s.Claims(now) {
				require.False(t, robbed[claim.Pool], "pool %d lost a task and now claims: %v", claim.Pool, claim)
			}
			for i := range c.pools {
				require.GreaterOrEqual(t, c.used(i), min(before[i]-c.doomed(plan, i), c.shares[i].Slots), "pool %d", i)
			}
		}
	}
	require.Greater(t, plans, 500)
}

// under reports whether pool i is pool a or stands below it.
func (c *cluster) under(i, a int) bool {
	for ; i >= 0; i = c.pools[i].Parent.Index() {
		if i == a {
			return true
		}
	}
	return false
}

// doomed is an upper bound for what a pool loses by tasks that died without the plan.
func (c *cluster) doomed(plan Plan, _ int) (sum int64) {
	for _, f := range plan.Fates {
		if f == Doomed {
			sum += 3
		}
	}
	return sum
}

// A claim is left unmet only if no task can be taken for it: the slow way is to replay the plan with the pools' usage and
// to try every task that is left.
func TestPlansLeaveNothingThatHelps(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 31))
	unmet := 0
	for range 2000 {
		c := randomCluster(t, rng)
		s, err := NewStarvation(c.tree, randomPreemption(rng))
		require.NoError(t, err)
		require.NoError(t, s.Observe(time.Unix(0, 0), c.shares, c.usage))
		free := rng.Int64N(3)
		plan := s.Plan(time.Unix(7200, 0), c.tasks, free)
		r := newReplay(c, plan, free)
		for _, v := range plan.Victims {
			require.True(t, r.helps(v.Task, v.For), "%v", v)
			r.kill(v.Task, v.For)
		}
		for _, claim := range plan.Claims {
			require.Equal(t, claim.Deficit-claim.Granted, r.open[claim.Pool])
			if claim.Granted == claim.Deficit {
				continue
			}
			unmet++
			for k := range c.tasks {
				if plan.Fates[k] == Spared || plan.Fates[k] == AtShare {
					require.Equal(t, AtShare, plan.Fates[k])
					require.False(t, r.helps(k, claim.Pool), "task %d would help %v", k, claim)
				}
			}
		}
	}
	require.Greater(t, unmet, 100)
}

// replay follows a plan, one kill at a time.
type replay struct {
	*cluster
	left []int64       // usage without those that die
	open map[int]int64 // what each claimant still misses
}

func newReplay(c *cluster, plan Plan, free int64) *replay {
	r := &replay{cluster: c, left: make([]int64, len(c.pools)), open: map[int]int64{}}
	for i := range r.left {
		r.left[i] = c.used(i)
	}
	for k, f := range plan.Fates {
		for i := c.tasks[k].Pool; f == Doomed && i >= 0; i = c.pools[i].Parent.Index() {
			r.left[i] -= c.tasks[k].Slots
		}
	}
	for _, claim := range plan.Claims {
		used := min(free, claim.Deficit)
		r.open[claim.Pool], free = claim.Deficit-used, free-used
	}
	return r
}

// loss is what the pool loses for good if the task is killed for the claimant.
func (r *replay) loss(task, pool, claimant int) int64 {
	if r.under(claimant, pool) {
		return max(0, r.tasks[task].Slots-r.open[claimant])
	}
	return r.tasks[task].Slots
}

func (r *replay) helps(task, claimant int) bool {
	if r.under(r.tasks[task].Pool, claimant) {
		return false
	}
	for i := r.tasks[task].Pool; i >= 0; i = r.pools[i].Parent.Index() {
		if loss := r.loss(task, i, claimant); loss > 0 && r.left[i]-loss < r.shares[i].Slots {
			return false
		}
	}
	return true
}

func (r *replay) kill(task, claimant int) {
	for i := r.tasks[task].Pool; i >= 0; i = r.pools[i].Parent.Index() {
		r.left[i] -= r.loss(task, i, claimant)
	}
	r.open[claimant] = max(0, r.open[claimant]-r.tasks[task].Slots)
}

func watched(t *testing.T, pools []Pool, total int64, p Preemption) (*Starvation, []Share) {
	t.Helper()
	tree, err := New(pools, Policy{})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, total)
	require.NoError(t, err)
	s, err := NewStarvation(tree, p)
	require.NoError(t, err)
	return s, shares
}

func runningTasks(pool, n int) (tasks []Task) {
	for i := range n {
		tasks = append(tasks, Task{Pool: pool, Machine: i % 4, Started: time.Unix(int64(i), 0)})
	}
	return tasks
}

func TestThresholdAsTriggerAndTarget(t *testing.T) {
	start := time.Unix(0, 0)
	for _, c := range []struct {
		threshold   int
		target      Target
		usage, want int64
	}{
		{50, ToShare, 4, 6}, {50, ToShare, 5, 0}, // the old rule: below half, claim all
		{50, ToThreshold, 4, 1}, {50, ToThreshold, 5, 0}, // the new one: claim half
		{33, ToThreshold, 3, 1}, {33, ToThreshold, 4, 0}, // 3 is below 3.3
		{0, ToThreshold, 9, 1}, {0, ToShare, 10, 0},
	} {
		s, shares := watched(t, []Pool{{Demand: 20}, {Demand: 20}}, 20, Preemption{Threshold: c.threshold, Target: c.target})
		require.NoError(t, s.Observe(start, shares, []int64{20 - c.usage, c.usage}))
		var got int64
		for _, claim := range s.Claims(start.Add(time.Hour)) {
			got += claim.Deficit
		}
		assert.Equal(t, c.want, got, "%+v", c)
	}
}

// The deficit never exceeds the demand, on a basis where the share may.
func TestDeficitIsCappedByDemand(t *testing.T) {
	tree, err := New([]Pool{{Demand: 20}, {Demand: 3, Min: 8}}, Policy{Basis: Entitled})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, 20)
	require.NoError(t, err)
	require.Equal(t, int64(10), shares[1].Slots)
	s, err := NewStarvation(tree, Preemption{})
	require.NoError(t, err)
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{19, 1}))
	claims := s.Claims(time.Unix(3600, 0))
	require.Len(t, claims, 1)
	assert.Equal(t, Claim{Pool: 1, Cause: MinTimeout, Deficit: 2, Waited: time.Hour, Usage: 1, Due: 3}, claims[0])
	assert.Equal(t, "pool 1 claims 2: below minimum for 1h0m0s, has 1 of 3, granted 0", claims[0].String())
}

// A pool with children claims what their own claims leave of its deficit, not the same units again.
func TestParentsDoNotClaimTwice(t *testing.T) {
	pools := []Pool{{Min: 6}, {Parent: Under(0), Demand: 10}, {Parent: Under(0), Demand: 10}, {Demand: 20}}
	p := Preemption{Pools: make([]PoolPreemption, 4)}
	p.Pools[1].Patience = Patience{Min: Never, Fair: time.Hour}
	p.Pools[2].Patience = Patience{Min: Never, Fair: 2 * time.Hour}
	s, shares := watched(t, pools, 12, p)
	start := time.Unix(0, 0)
	require.NoError(t, s.Observe(start, shares, []int64{0, 0, 0, 12}))
	deficits := func(after time.Duration) (d [4]int64) {
		for _, c := range s.Claims(start.Add(after)) {
			d[c.Pool] = c.Deficit
		}
		return d
	}
	assert.Equal(t, [4]int64{0: 6}, deficits(time.Minute))
	assert.Equal(t, [4]int64{0: 3, 1: 3}, deficits(time.Hour))
	assert.Equal(t, [4]int64{1: 3, 2: 3}, deficits(2*time.Hour))
}

func TestCooldown(t *testing.T) {
	s, shares := watched(t, []Pool{{Demand: 8}, {Demand: 8}}, 8, Preemption{})
	start := time.Unix(0, 0)
	require.NoError(t, s.Observe(start, shares, []int64{8, 0}))
	due := start.Add(DefaultFairTimeout)
	require.Len(t, s.Plan(due, runningTasks(0, 8), 0).Victims, 4)
	assert.Empty(t, s.Plan(due.Add(DefaultCooldown-1), runningTasks(0, 8), 0).Claims)
	assert.Len(t, s.Plan(due.Add(DefaultCooldown), runningTasks(0, 8), 0).Victims, 4, "the host did not carry it out")
}

// Kills under way count as done, for whoever plans next.
func TestDyingTasksAreGone(t *testing.T) {
	s, shares := watched(t, []Pool{{Demand: 8}, {Demand: 8}}, 8, Preemption{Cooldown: NoCooldown})
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{8, 0}))
	tasks := runningTasks(0, 8)
	for i := range 3 {
		tasks[i].Dying = true
	}
	plan := s.Plan(time.Unix(3600, 0), tasks, 0)
	assert.Equal(t, []Victim{{7, 1}}, plan.Victims)
	assert.Equal(t, []Fate{Doomed, Doomed, Doomed, AtShare, AtShare, AtShare, AtShare, Killed}, plan.Fates)
	assert.Equal(t, int64(1), plan.Claims[0].Granted)
}

func TestProtection(t *testing.T) {
	pools := []Pool{{}, {Parent: Under(0), Demand: 8}, {Demand: 8}, {Demand: 8}}
	p := Preemption{Pools: []PoolPreemption{0: {Protected: true}, 3: {}}}
	s, shares := watched(t, pools, 12, p)
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{0, 6, 6, 0}))
	tasks := append(runningTasks(1, 6), runningTasks(2, 6)...)
	tasks[11].Protected = true
	plan := s.Plan(time.Unix(3600, 0), append(tasks, Task{Pool: 9}, Task{Pool: 0}), 1)
	require.Len(t, plan.Claims, 1)
	assert.Equal(t, []Victim{{10, 3}, {9, 3}}, plan.Victims)
	assert.Equal(t, int64(3), plan.Claims[0].Granted, "a free unit and two victims")
	assert.Equal(t, []Fate{Shielded, Shielded, Shielded, Shielded, Shielded, Shielded}, plan.Fates[:6])
	assert.Equal(t, []Fate{AtShare, Killed, Killed, Shielded, Foreign, Foreign}, plan.Fates[8:])
}

func TestOrderAndGrouping(t *testing.T) {
	oldest := func(a, b Task) int { return a.Started.Compare(b.Started) }
	for _, c := range []struct {
		p    Preemption
		want []Victim
	}{
		{Preemption{}, []Victim{{7, 1}, {6, 1}, {5, 1}, {4, 1}}},
		{Preemption{Order: oldest}, []Victim{{0, 1}, {1, 1}, {2, 1}, {3, 1}}},
		{Preemption{ByMachine: true}, []Victim{{6, 1}, {3, 1}, {0, 1}, {7, 1}}}, // machine 0 has three, 1 three, 2 two
	} {
		s, shares := watched(t, []Pool{{Demand: 8}, {Demand: 8}}, 8, c.p)
		require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{8, 0}))
		tasks := runningTasks(0, 8)
		for i := range tasks {
			tasks[i].Machine = i % 3
		}
		assert.Equal(t, c.want, s.Plan(time.Unix(3600, 0), tasks, 0).Victims)
	}
}

// Timeouts come from the nearest ancestor that has its own, and a clock that steps back starts the wait anew.
func TestPatienceIsInherited(t *testing.T) {
	pools := []Pool{{}, {Parent: Under(0), Demand: 8}, {Demand: 8}, {Demand: 8}}
	p := Preemption{Pools: make([]PoolPreemption, 4)}
	p.Pools[0].Patience = Patience{Min: time.Second, Fair: 2 * time.Second}
	p.Pools[2].Patience = Patience{Fair: Never}
	s, shares := watched(t, pools, 9, p)
	start := time.Unix(1000, 0)
	require.NoError(t, s.Observe(start, shares, []int64{0, 0, 1, 8}))
	claimants := func(now time.Time) (list []int) {
		for _, c := range s.Claims(now) {
			list = append(list, c.Pool)
		}
		return list
	}
	assert.Empty(t, claimants(start.Add(2*time.Second-1)))
	assert.Equal(t, []int{1}, claimants(start.Add(2*time.Second)))
	assert.Equal(t, []int{1}, claimants(start.Add(time.Hour)), "pool 2 never claims its fair share")

	back := start.Add(-10 * time.Minute)
	require.NoError(t, s.Observe(back, shares, []int64{0, 0, 1, 8}))
	assert.Empty(t, claimants(back.Add(2*time.Second-1)))
	assert.Equal(t, []int{1}, claimants(back.Add(2*time.Second)))
	require.NoError(t, s.Observe(back.Add(time.Minute), shares, []int64{0, 3, 1, 5}))
	assert.Empty(t, claimants(back.Add(time.Hour)), "it has its share")
}

func TestPreemptionIsChecked(t *testing.T) {
	tree, err := New([]Pool{{Demand: 1}, {Demand: 1}}, Policy{})
	require.NoError(t, err)
	for want, p := range map[string]Preemption{
		"preemption: Patience.Min is -2ns":                      {Patience: Patience{Min: -2}},
		"preemption: Patience.Fair is -2ns":                     {Patience: Patience{Fair: -2}},
		"preemption: Patience.Min is 5m0s":                      {Patience: Patience{Min: DefaultFairTimeout}},
		"preemption: Threshold is 101":                          {Threshold: 101},
		"preemption: Threshold is -1":                           {Threshold: -1},
		"preemption: Target is 2":                               {Target: 2},
		"preemption: Cooldown is -2ns":                          {Cooldown: -2},
		"preemption: Pools has 1 entries":                       {Pools: make([]PoolPreemption, 1)},
		"preemption: pool 1: Patience.Min is 1h0m0s, want less": {Pools: []PoolPreemption{{}, {Patience: Patience{Min: time.Hour}}}},
	} {
		_, err := NewStarvation(tree, p)
		assert.ErrorContains(t, err, "fairshare: "+want)
	}
	s, err := NewStarvation(tree, Preemption{Patience: Patience{Min: time.Hour, Fair: Never}})
	require.NoError(t, err)
	assert.ErrorContains(t, s.Observe(time.Time{}, nil, nil), "fairshare: 0 shares and 0 usages")
}
