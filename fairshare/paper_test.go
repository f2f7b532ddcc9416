package fairshare_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
)

// Each test checks one claim of M. Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters",
// UCB/EECS-2009-55.

func slotsOf(shares []fairshare.Share) (slots []int64) {
	for _, s := range shares {
		slots = append(slots, s.Slots)
	}
	return slots
}

// Section 3.1 and Figure 3: 100 slots, minimums 50, 10, 25, 15 and demands 46, 18, 28, 16 give 46, 14, 25, 15.
func TestSection31Figure3(t *testing.T) {
	shares, err := fairshare.Shares([]fairshare.Pool{
		{Min: 50, Demand: 46}, {Min: 10, Demand: 18}, {Min: 25, Demand: 28}, {Min: 15, Demand: 16},
	}, 100)
	require.NoError(t, err)
	assert.Equal(t, []int64{46, 14, 25, 15}, slotsOf(shares))
	bounds := []fairshare.Bound{fairshare.AtDemand, fairshare.AtLevel, fairshare.AtMin, fairshare.AtMin}
	for i, s := range shares {
		assert.Equal(t, bounds[i], s.Bound, "pool %d", i)
		assert.Equal(t, 14.0, s.Level)
	}
}

// Section 3.2: two pools have 50 of 100 slots each. When a third pool becomes active, the share of each is about 33
// slots.
func TestSection32ThirdPoolGetsAThird(t *testing.T) {
	pools := []fairshare.Pool{{Demand: 100}, {Demand: 100}, {}}
	tree, err := fairshare.New(pools, fairshare.Policy{})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, 100)
	require.NoError(t, err)
	assert.Equal(t, []int64{50, 50, 0}, slotsOf(shares))
	shares, err = tree.Shares(shares, []int64{100, 100, 100}, 100)
	require.NoError(t, err)
	assert.Equal(t, []int64{34, 33, 33}, slotsOf(shares))
	assert.InDelta(t, 100.0/3, shares[2].Real, 1e-12)
}

// Appendix A: the part of a minimum beyond the demand is ignored. The minimums here add up to 150 slots, and the
// pools demand 100 of these slots.
func TestAppendixAMinimumsCountUpToTheDemand(t *testing.T) {
	shares, err := fairshare.Shares([]fairshare.Pool{{Min: 100, Demand: 50}, {Min: 50, Demand: 60}}, 100)
	require.NoError(t, err)
	assert.Equal(t, []int64{50, 50}, slotsOf(shares))

	_, err = fairshare.Shares([]fairshare.Pool{{Min: 100, Demand: 60}, {Min: 50, Demand: 60}}, 100)
	var infeasible *fairshare.InfeasibleError
	require.ErrorAs(t, err, &infeasible)
	assert.Equal(t, fairshare.InfeasibleError{Minimums: 110, Total: 100}, *infeasible)
}

// Section 3.2: tasks take one minute, and a new job needs 10 % of the slots. The index gives every free slot to the
// new job. So the job has its slots after 6 s on average, without a kill.
func TestSection32SlotsComeFreeInSixSeconds(t *testing.T) {
	const slots, seeds = 100, 200
	rng := rand.New(rand.NewPCG(32, 6))
	var total float64
	for range seeds {
		tree, err := fairshare.New([]fairshare.Pool{{Demand: 1000}, {Demand: 1000}, {Demand: slots / 10}}, fairshare.Policy{})
		require.NoError(t, err)
		index := tree.Index()
		index.Add(0, slots/2)
		index.Add(1, slots/2)
		ends := make([]float64, slots) // in seconds; uniform over the next minute
		owners := make([]int, slots)
		for i := range ends {
			ends[i], owners[i] = 60*rng.Float64(), i%2
		}
		for index.Usage(2) < slots/10 {
			first := slices.Index(ends, slices.Min(ends))
			now := ends[first]
			index.Add(owners[first], -1)
			next := index.Next().Pool
			index.Add(next, 1)
			ends[first], owners[first] = now+60, next
			if index.Usage(2) == slots/10 {
				total += now
			}
		}
	}
	assert.InDelta(t, 6, total/seeds, 1) // 5 s to 7 s are accepted
}

// Section 3: the slots are divided among pools first, and then among the jobs of each pool. A pool with one job has
// as many slots as a pool with three jobs. Without pools each of the four jobs would have a quarter.
func TestSection3PoolsDivideBeforeTheirJobs(t *testing.T) {
	pools := []fairshare.Pool{
		{}, {}, {Parent: fairshare.Under(0), Demand: 12},
		{Parent: fairshare.Under(1), Demand: 12}, {Parent: fairshare.Under(1), Demand: 12},
		{Parent: fairshare.Under(1), Demand: 1},
	}
	tree, err := fairshare.New(pools, fairshare.Policy{})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, 12)
	require.NoError(t, err)
	assert.Equal(t, []int64{6, 6, 6, 3, 2, 1}, slotsOf(shares), "slots that a job does not want must stay in its pool")

	index := tree.Index()
	for range 12 {
		index.Add(index.Next().Pool, 1)
	}
	for pool, want := range []int64{6, 6, 6, 3, 2, 1} {
		assert.Equal(t, want, index.Usage(pool), "usage of pool %d after one slot at a time", pool)
	}
}

// Section 2.1: Hadoop's own order is FIFO with priorities. Section 7.2: multi-level queues serve one class of jobs
// before the next class, or divide between classes by weight.
func TestSection72DisciplinesDivideByRankOrFairly(t *testing.T) {
	jobs := []fairshare.Pool{{Rank: 1, Demand: 6}, {Demand: 6}, {Demand: 6}}
	for _, c := range []struct {
		discipline fairshare.Discipline
		want       []int64
	}{
		{fairshare.Fair, []int64{4, 3, 3}},
		{fairshare.FIFO, []int64{0, 6, 4}},
		{fairshare.MultiLevel, []int64{0, 5, 5}},
	} {
		tree, err := fairshare.New(jobs, fairshare.Policy{Discipline: c.discipline})
		require.NoError(t, err)
		shares, err := tree.Shares(nil, nil, 10)
		require.NoError(t, err)
		assert.Equal(t, c.want, slotsOf(shares), "%v", c.discipline)

		index := tree.Index()
		for range 10 {
			index.Add(index.Next().Pool, 1)
		}
		assert.Equal(t, c.want, []int64{index.Usage(0), index.Usage(1), index.Usage(2)}, "usage under %v after one slot at a time", c.discipline)
	}
}

// Section 4.1: head-of-line scheduling serves "the job farthest below its fair share". The shares are 14 and 86
// slots, and 10 and 40 slots are in use. The second pool is farther below its share, in units and in proportion.
// Hadoop's own order compares usage alone and serves the first pool.
func TestSection41FarthestBelowItsShare(t *testing.T) {
	pools := []fairshare.Pool{{Demand: 14}, {Demand: 100}}
	usage := []int64{10, 40}
	for order, want := range map[fairshare.Order]fairshare.Pick{
		fairshare.LeastUsage:     {Pool: 0, Reason: fairshare.LeastServed, Usage: 10, Per: 1},
		fairshare.LargestDeficit: {Pool: 1, Reason: fairshare.BelowShare, Usage: 40, Per: 86},
		fairshare.SmallestPart:   {Pool: 1, Reason: fairshare.BelowShare, Usage: 40, Per: 86},
	} {
		tree, err := fairshare.New(pools, fairshare.Policy{Order: order})
		require.NoError(t, err)
		shares, err := tree.Shares(nil, nil, 100)
		require.NoError(t, err)
		require.Equal(t, []int64{14, 86}, slotsOf(shares))
		index := tree.Index()
		require.NoError(t, index.SetShares(shares))
		index.Add(0, usage[0])
		index.Add(1, usage[1])
		assert.Equal(t, want, index.Next(), "%v", order)
	}
}

// Section 3.1 divides the surplus "starting with the bucket with the least water", so a pool with a large
// guarantee gets less of the surplus. Kueue divides only the quota that its queues borrow, so a guarantee of 40
// makes no difference.
func TestSection31SurplusIsDividedByLevelOrAboveTheMinimum(t *testing.T) {
	pools := []fairshare.Pool{{Min: 40, Demand: 100}, {Demand: 100}, {Demand: 5}}
	for surplus, want := range map[fairshare.Surplus][]int64{
		fairshare.WaterLevel:   {48, 47, 5},
		fairshare.AboveMinimum: {68, 27, 5}, // the level is 27.5: 40 + 27.5 is rounded up, 0 + 27.5 is rounded down
	} {
		tree, err := fairshare.New(pools, fairshare.Policy{Surplus: surplus})
		require.NoError(t, err)
		shares, err := tree.Shares(nil, nil, 100)
		require.NoError(t, err)
		assert.Equal(t, want, slotsOf(shares), "%v", surplus)
		index := tree.Index()
		for range 100 {
			index.Add(index.Next().Pool, 1)
		}
		assert.Equal(t, want, []int64{index.Usage(0), index.Usage(1), index.Usage(2)}, "usage under %v after one slot at a time", surplus)
	}
}
