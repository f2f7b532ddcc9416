package dominant

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare/preempt"
)

// cluster is a state of a tree in which tasks run.
type cluster struct {
	tree   *Tree
	pools  []Pool
	shares []Share
	tasks  []Task
}

// index counts what runs.
func (c *cluster) index() *Index {
	x := c.tree.Index()
	for _, task := range c.tasks {
		x.Add(task.Pool, 1, task.Need)
	}
	return x
}

// free is what nobody uses.
func (c *cluster) free() []int64 {
	free := slices.Clone(c.tree.capacity)
	for _, task := range c.tasks {
		for r, n := range task.Need {
			free[r] -= n
		}
	}
	return free
}

// carryOut kills the victims and starts what was granted.
func (c *cluster) carryOut(plan Plan) {
	var left []Task
	for i, task := range c.tasks {
		if plan.Outcomes[i] != preempt.Killed && plan.Outcomes[i] != preempt.Dying {
			left = append(left, task)
		}
	}
	c.tasks = left
	for _, g := range plan.Grants {
		for range g.Tasks {
			c.tasks = append(c.tasks, Task{Task: preempt.Task{Pool: g.Pool, Started: time.Unix(1000, 0)},
				Need: c.pools[g.Pool].Task})
		}
	}
}

func randomCluster(t *testing.T, rng *rand.Rand) *cluster {
	m := 1 + rng.IntN(3)
	capacity := make([]int64, m)
	for r := range capacity {
		capacity[r] = 20 + rng.Int64N(60)
	}
	c := &cluster{pools: randomPools(rng, 2+rng.IntN(7), m, rng.IntN(2) == 0)}
	for i := range c.pools {
		c.pools[i].Max = nil
	}
	var err error
	c.tree, err = New(c.pools, capacity, Policy{})
	require.NoError(t, err)
	c.shares, err = c.tree.Shares(nil)
	require.NoError(t, err)
	x := c.tree.Index()
	for _, i := range rng.Perm(len(c.pools)) {
		for rng.IntN(12) > 0 && x.Running(i) < c.pools[i].Demand && lacking(c.pools[i].Task, x.total, capacity) < 0 {
			x.Add(i, 1, nil)
			c.tasks = append(c.tasks, Task{
				Task: preempt.Task{
					Pool: i, Started: time.Unix(rng.Int64N(9), 0), Speculative: rng.IntN(9) == 0, Protected: rng.IntN(9) == 0, Dying: rng.IntN(15) == 0,
				},
				Need: c.pools[i].Task,
			})
		}
	}
	return c
}

// No pool is taken below its dominant share, what is granted is there, nobody is killed for nothing, no pool that
// lost a task has a claim, and plans come to an end.
func TestPlans(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 53))
	victims := 0
	for range 3000 {
		c := randomCluster(t, rng)
		p, err := NewPreemptor(c.tree, preempt.Config{Cooldown: preempt.Off})
		require.NoError(t, err)
		now := time.Unix(1000, 0)
		for round := 0; ; round++ {
			require.Less(t, round, 50, "plans go on for ever")
			require.NoError(t, p.Observe(now, c.shares, c.index()))
			now = now.Add(time.Hour)
			free := c.free()
			plan := p.Plan(now, c.tasks, free)
			if len(plan.Victims) == 0 {
				break
			}
			victims += len(plan.Victims)
			for _, v := range plan.Victims {
				task := c.tasks[v.Task]
				require.False(t, task.Protected || task.Dying)
			}
			before := c.index()
			robbed := map[int]bool{}
			spare := slices.Clone(free)
			for i, task := range c.tasks {
				if plan.Outcomes[i] == preempt.Killed || plan.Outcomes[i] == preempt.Dying {
					for r, n := range task.Need {
						spare[r] += n
					}
				}
				robbed[task.Pool] = robbed[task.Pool] || plan.Outcomes[i] == preempt.Killed
			}
			dying := slices.Contains(plan.Outcomes, preempt.Dying)
			for _, g := range plan.Grants {
				for r, n := range c.pools[g.Pool].Task {
					spare[r] -= g.Tasks * n
					require.GreaterOrEqual(t, spare[r], int64(0), "more is granted than there is")
				}
			}
			for i, task := range c.tasks {
				if plan.Outcomes[i] == preempt.Killed && !dying {
					require.True(t, lacking(task.Need, make([]int64, len(spare)), spare) >= 0, "%+v is killed for nothing", task)
				}
			}
			c.carryOut(plan)
			after := c.index()
			for pool := range robbed {
				if robbed[pool] && !dying {
					require.GreaterOrEqual(t, p.part(after.row(after.usage, c.tree.at[pool]), 1),
						min(p.facts[pool].Slots, p.part(before.row(before.usage, c.tree.at[pool]), 1)))
				}
			}
			require.NoError(t, p.Observe(now, c.shares, after))
			for _, claim := range p.Claims(now.Add(time.Hour)) {
				require.False(t, robbed[claim.Pool] && !dying, "pool %d lost a task and now claims: %v", claim.Pool, claim)
			}
		}
	}
	require.Greater(t, victims, 1000)
}

// Memory is short, and processors are not: only tasks that hold memory go, however many processors others hold.
func TestOnlyWhatIsLackingIsFreed(t *testing.T) {
	pools := []Pool{
		{Task: []int64{1, 10}, Demand: 10},
		{Task: []int64{10, 0}, Demand: 10}, // processors only
		{Task: []int64{1, 10}, Demand: 10},
	}
	tree, err := New(pools, []int64{110, 100}, Policy{})
	require.NoError(t, err)
	shares, err := tree.Shares(nil)
	require.NoError(t, err)
	c := &cluster{tree: tree, pools: pools, shares: shares}
	for i := range 20 {
		c.tasks = append(c.tasks, Task{Task: preempt.Task{Pool: i % 2, Started: time.Unix(int64(i), 0)},
			Need: pools[i%2].Task})
	}
	p, err := NewPreemptor(tree, preempt.Config{})
	require.NoError(t, err)
	require.NoError(t, p.Observe(time.Unix(0, 0), shares, c.index()))
	assert.Empty(t, p.Claims(time.Unix(299, 0)))
	data, err := p.MarshalBinary()
	require.NoError(t, err)
	again, err := NewPreemptor(tree, preempt.Config{})
	require.NoError(t, err)
	require.NoError(t, again.UnmarshalBinary(data))
	require.NoError(t, again.Observe(time.Unix(299, 0), shares, c.index()))
	plan := again.Plan(time.Unix(300, 0), c.tasks, c.free())
	assert.Equal(t, []Grant{{Pool: 2, Tasks: 5}}, plan.Grants)
	for k, v := range plan.Victims {
		assert.Equal(t, preempt.Victim{Task: 18 - 2*k, For: 2}, v)
	}
	assert.Len(t, plan.Victims, 5)
	assert.Empty(t, again.Claims(time.Unix(301, 0)), "it cools down")
}

// What no host should tell is an error or is passed over.
func TestPreemptorOfRubbish(t *testing.T) {
	tree, err := New([]Pool{{Task: []int64{1}, Demand: 9}, {Task: []int64{1}, Demand: 9}}, []int64{10}, Policy{})
	require.NoError(t, err)
	p, err := NewPreemptor(tree, preempt.Config{Cooldown: preempt.Off})
	require.NoError(t, err)
	_, err = NewPreemptor(tree, preempt.Config{Threshold: 2})
	assert.ErrorContains(t, err, "Config.Threshold is 2")
	x := tree.Index()
	x.Add(0, 10, nil)
	assert.ErrorContains(t, p.Observe(time.Unix(0, 0), nil, x), "len(shares) is 0")
	shares, err := tree.Shares(nil)
	require.NoError(t, err)
	assert.Error(t, p.Observe(time.Unix(0, 0), shares, new(Index)))
	require.NoError(t, p.Observe(time.Unix(0, 0), shares, x))
	assert.Empty(t, p.Plan(time.Unix(3600, 0), nil, nil).Claims, "free is of the wrong length")
	plan := p.Plan(time.Unix(3600, 0), []Task{
		{}, {Task: preempt.Task{Pool: 7}, Need: []int64{1}}, {Task: preempt.Task{Pool: -1}}, {Need: []int64{math.MinInt64}},
		{Need: []int64{math.MaxInt64}}, {Task: preempt.Task{Dying: true}, Need: []int64{-5}}, {Need: []int64{3}},
	}, []int64{-4})
	assert.Equal(t, []preempt.Outcome{
		preempt.UnknownPool, preempt.UnknownPool, preempt.UnknownPool, preempt.Spared, preempt.AtShare, preempt.Dying, preempt.Killed,
	}, plan.Outcomes)
	assert.Equal(t, []Grant{{Pool: 1, Tasks: 3}}, plan.Grants)
}
