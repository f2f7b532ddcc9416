package fairshare_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
)

// One test for each claim of M. Zaharia et al., "Job Scheduling for Multi-User MapReduce Clusters", UCB/EECS-2009-55.

func slotsOf(shares []fairshare.Share) (slots []int64) {
	for _, s := range shares {
		slots = append(slots, s.Slots)
	}
	return slots
}

// Section 3.1 and Figure 3: 100 slots, minimums 50, 10, 25, 15 and demands 46, 18, 28, 16 give 46, 14, 25, 15.
func TestFigure3(t *testing.T) {
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

// Section 3.2: two pools with 50 of 100 slots each; when a third becomes active each is due roughly 33.
func TestSection32ThirdPool(t *testing.T) {
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

// Appendix A: the minimums need only fit as far as they are wanted. Here they add up to 150, of which 100 are wanted.
func TestAppendixAFeasibility(t *testing.T) {
	shares, err := fairshare.Shares([]fairshare.Pool{{Min: 100, Demand: 50}, {Min: 50, Demand: 60}}, 100)
	require.NoError(t, err)
	assert.Equal(t, []int64{50, 50}, slotsOf(shares))

	_, err = fairshare.Shares([]fairshare.Pool{{Min: 100, Demand: 60}, {Min: 50, Demand: 60}}, 100)
	var infeasible *fairshare.InfeasibleError
	require.ErrorAs(t, err, &infeasible)
	assert.Equal(t, fairshare.InfeasibleError{Minimums: 110, Total: 100}, *infeasible)
}

// Section 3.2: with tasks of one minute, a new job that needs 10 % of the slots has them after 6 s on average, without a
// kill, because the index gives it every slot that becomes free.
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
		ends := make([]float64, slots) // tasks end uniformly over the coming minute
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
	assert.InDelta(t, 6, total/seeds, 1) // the band is 5 to 7 s
}

// Section 3.2: a pool that does not get its minimum within Tmin, or its fair share within Tfair, makes a claim; the most
// recently launched tasks are killed, and no pool is taken below its fair share.
func TestSection32Timeouts(t *testing.T) {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 100}, {Demand: 100, Min: 20}}, fairshare.Policy{})
	require.NoError(t, err)
	s, err := fairshare.NewStarvation(tree, fairshare.Preemption{Patience: fairshare.Patience{Min: time.Minute, Fair: 2 * time.Minute}})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, 100)
	require.NoError(t, err)
	start := time.Unix(0, 0)
	tasks := make([]fairshare.Task, 100)
	for i := range tasks {
		tasks[i].Started = start.Add(time.Duration(i*37%100) * time.Second)
	}
	usage := []int64{100, 0}
	require.NoError(t, s.Observe(start, shares, usage))
	assert.Empty(t, s.Plan(start.Add(time.Minute-1), tasks, 0).Claims, "not before Tmin")

	plan := s.Plan(start.Add(time.Minute), tasks, 0)
	require.Len(t, plan.Victims, 20)
	for k, v := range plan.Victims {
		assert.Equal(t, start.Add(time.Duration(99-k)*time.Second), tasks[v.Task].Started, "newest first")
	}
	require.NoError(t, s.Observe(start.Add(time.Minute), shares, []int64{80, 20}))
	plan = s.Plan(start.Add(2*time.Minute), tasks[:80], 0)
	require.Len(t, plan.Claims, 1)
	assert.Equal(t, fairshare.FairTimeout, plan.Claims[0].Cause)
	assert.Len(t, plan.Victims, 30)

	require.NoError(t, s.Observe(start.Add(2*time.Minute), shares, []int64{45, 20}))
	plan = s.Plan(start.Add(time.Hour), tasks[:45], 35)
	assert.Empty(t, plan.Victims, "free slots are used first, and the other pool is below its share")
}

// Section 2.1: Hadoop's own order is FIFO with priorities; section 7.2: multi-level queues serve one class of jobs before
// the other, or share between classes by weight.
func TestDisciplines(t *testing.T) {
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
		assert.Equal(t, c.want, []int64{index.Usage(0), index.Usage(1), index.Usage(2)}, "%v, one at a time", c.discipline)
	}
}

// Section 3.2: a pool's minimum and its fair share are two deficits, of which the larger counts, never their sum.
func TestLargerDeficitCounts(t *testing.T) {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 10}, {Demand: 10, Min: 4}}, fairshare.Policy{})
	require.NoError(t, err)
	s, err := fairshare.NewStarvation(tree, fairshare.Preemption{})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, 10)
	require.NoError(t, err)
	start := time.Unix(0, 0)
	require.NoError(t, s.Observe(start, shares, []int64{9, 1}))
	claims := s.Claims(start.Add(time.Hour))
	require.Len(t, claims, 1)
	assert.Equal(t, int64(4), claims[0].Deficit) // 3 by minimum, 4 by fair share
}
