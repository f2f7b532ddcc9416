package preempt

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/internal/exact"
)

// cluster is a random state of a tree. Some pools have more than their share, and some have less.
type cluster struct {
	*forest
	tree   *fairshare.Tree
	total  int64
	shares []fairshare.Share
	usage  []int64
	tasks  []Task
}

// randomCluster returns a cluster whose tasks use at most as many units as the argument most says.
func randomCluster(t *testing.T, rng *rand.Rand, most int64) *cluster {
	n := 2 + rng.IntN(10)
	pools := make([]fairshare.Pool, n)
	for i := range pools {
		if i > 0 && rng.IntN(2) == 0 {
			pools[i].Parent = fairshare.Under(rng.IntN(i))
		}
		pools[i].Weight, pools[i].Discipline, pools[i].Rank = 1+rng.Int64N(3), fairshare.Discipline(rng.IntN(3)), rng.Int32N(2)
		if rng.IntN(3) == 0 {
			pools[i].Min = rng.Int64N(6)
		}
		pools[i].Demand = rng.Int64N(20)
	}
	c := &cluster{forest: &forest{pools: pools}, usage: make([]int64, n), total: 5 + rng.Int64N(50)}
	for i := range pools {
		if len(c.children(i)) > 0 {
			pools[i].Demand = 0
		}
	}
	var err error
	c.tree, err = fairshare.New(pools, fairshare.Policy{OnInfeasible: fairshare.Scale,
		Discipline: fairshare.Discipline(rng.IntN(3))})
	require.NoError(t, err)
	c.shares, err = c.tree.Shares(nil, nil, c.total)
	require.NoError(t, err)
	free := c.total
	for _, i := range rng.Perm(n) {
		for pools[i].Demand > c.usage[i] && free > 0 && rng.IntN(12) > 0 {
			slots := min(1+rng.Int64N(most), free, pools[i].Demand-c.usage[i])
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
		sum = exact.Add(sum, c.used(k))
	}
	return exact.Add(sum, c.usage[i])
}

// carryOut ends the tasks that the plan kills and the tasks that were killed before. It gives the granted units to
// the claimants. If a claimant has children, the units go to children below their shares.
func (c *cluster) carryOut(plan Plan) {
	granted := map[int]int64{}
	for _, claim := range plan.Claims {
		granted[claim.Pool] = claim.Granted
	}
	var left []Task
	for k, task := range c.tasks {
		switch plan.Outcomes[k] {
		case Killed, Dying:
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

func randomConfig(rng *rand.Rand) Config {
	return Config{
		Threshold: []float64{0, .5, .8, 1}[rng.IntN(4)], Target: Target(rng.IntN(2)), Cooldown: Off, ByMachine: rng.IntN(2) == 0,
	}
}

// After a plan is carried out, no pool that lost a task has a claim, however much time passes. The same holds for the
// pools between it and the common ancestor with the claimant. Repeated plans come to an end.
func TestPlansDoNotFlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 30))
	plans := 0
	for range 3000 {
		c := randomCluster(t, rng, 3)
		config := randomConfig(rng)
		config.StrictFloor = true
		s, err := New(c.tree, config)
		require.NoError(t, err)
		now := time.Unix(1000, 0)
		for round := 0; ; round++ {
			require.Less(t, round, 50, "plans must come to an end")
			require.NoError(t, s.Observe(now, c.shares, c.usage))
			now = now.Add(time.Hour)
			plan := s.Plan(now, c.tasks, nil)
			if len(plan.Victims) == 0 {
				break
			}
			plans++
			before := make([]int64, len(c.pools))
			for i := range before {
				before[i] = c.used(i)
			}
			lost := map[int]bool{}
			for _, v := range plan.Victims {
				for i := c.tasks[v.Task].Pool; i >= 0 && !c.under(v.For, i); i = c.pools[i].Parent.Index() {
					lost[i] = true
				}
				require.False(t, c.tasks[v.Task].Protected || c.tasks[v.Task].Dying)
			}
			c.carryOut(plan)
			require.NoError(t, s.Observe(now, c.shares, c.usage))
			now = now.Add(time.Hour)
			for _, claim := range s.Claims(now) {
				require.False(t, lost[claim.Pool], "pool %d lost a task and must not claim: %v", claim.Pool, claim)
			}
			for i := range c.pools {
				require.GreaterOrEqual(t, c.used(i), min(before[i]-c.lostToDying(plan, i), c.shares[i].Slots), "pool %d must keep its share", i)
			}
		}
	}
	require.Greater(t, plans, 500)
}

// under reports whether pool i is pool a or is below pool a.
func (c *cluster) under(i, a int) bool {
	for ; i >= 0; i = c.pools[i].Parent.Index() {
		if i == a {
			return true
		}
	}
	return false
}

// lostToDying returns an upper bound for the units that a pool loses because of tasks that were killed before the
// plan.
func (c *cluster) lostToDying(plan Plan, _ int) (sum int64) {
	for _, f := range plan.Outcomes {
		if f == Dying {
			sum += 3
		}
	}
	return sum
}

// If a pool lacks units and its parent has its share, units must come from pools with the same parent. Units from
// outside belong to other pools.
func TestClaimsStayInParentsWithTheirShare(t *testing.T) {
	pools := []fairshare.Pool{{}, {Parent: fairshare.Under(0), Demand: 20}, {Parent: fairshare.Under(0), Demand: 20},
		{Demand: 20}, {Demand: 20}}
	p := Config{Pools: []PoolConfig{1: {Protected: true}, 4: {}}}
	s, shares := watched(t, pools, 30, p)
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{0, 8, 2, 13, 7}))
	tasks := append(runningTasks(1, 8), runningTasks(3, 13)...)
	plan := s.Plan(time.Unix(3600, 0), tasks, nil)
	require.Len(t, plan.Claims, 2)
	require.Equal(t, []int64{2, 0}, []int64{int64(plan.Claims[0].Pool), plan.Claims[0].Granted})
	require.Equal(t, []int64{4, 3}, []int64{int64(plan.Claims[1].Pool), plan.Claims[1].Granted})
	require.Equal(t, []Victim{{20, 4, AboveShare}, {19, 4, AboveShare}, {18, 4, AboveShare}}, plan.Victims)

	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{0, 8, 0, 15, 7})) // now the parent lacks two units
	plan = s.Plan(time.Unix(7200, 0), append(tasks, runningTasks(3, 2)...), nil)
	require.Equal(t, []int64{2, 3}, []int64{plan.Claims[0].Granted, plan.Claims[1].Granted})
	plan = s.Plan(time.Unix(9000, 0), append(tasks, runningTasks(3, 2)...), []int64{4})
	require.Equal(t, int64(4), plan.Claims[0].Granted, "free units must be granted to every claimant")
	require.Equal(t, int64(3), plan.Claims[1].Granted)
}
