package preempt_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/preempt"
)

// Section 3.2: a pool makes a claim if it does not get its minimum within Tmin, or its fair share within Tfair. The
// plan kills the tasks that started last, and no pool falls below its fair share.
func TestSection32ClaimsFollowTheTimeouts(t *testing.T) {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 100}, {Demand: 100, Min: 20}}, fairshare.Policy{})
	require.NoError(t, err)
	s, err := preempt.New(tree, preempt.Config{Timeouts: preempt.Timeouts{Min: time.Minute, Fair: 2 * time.Minute}})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, 100)
	require.NoError(t, err)
	start := time.Unix(0, 0)
	tasks := make([]preempt.Task, 100)
	for i := range tasks {
		tasks[i].Started = start.Add(time.Duration(i*37%100) * time.Second)
	}
	assert.Equal(t, preempt.Timeouts{Min: time.Minute, Fair: 5 * time.Minute}, preempt.Config{}.Effective().Timeouts)
	usage := []int64{100, 0}
	require.NoError(t, s.Observe(start, shares, usage))
	assert.Empty(t, s.Plan(start.Add(time.Minute-1), tasks, nil).Claims, "no claim may be due before Tmin")

	plan := s.Plan(start.Add(time.Minute), tasks, nil)
	require.Len(t, plan.Victims, 20)
	for k, v := range plan.Victims {
		assert.Equal(t, start.Add(time.Duration(99-k)*time.Second), tasks[v.Task].Started, "the task that started last must be first")
	}
	require.NoError(t, s.Observe(start.Add(time.Minute), shares, []int64{80, 20}))
	plan = s.Plan(start.Add(2*time.Minute), tasks[:80], nil)
	require.Len(t, plan.Claims, 1)
	assert.Equal(t, preempt.BelowShare, plan.Claims[0].Cause)
	assert.Len(t, plan.Victims, 30)

	require.NoError(t, s.Observe(start.Add(2*time.Minute), shares, []int64{45, 20}))
	plan = s.Plan(start.Add(time.Hour), tasks[:45], []int64{35})
	assert.Empty(t, plan.Victims, "free slots must be used first, and the other pool is below its share")
}

// Section 3.2: a pool may lack units to reach its minimum, and units to reach its fair share. It claims the larger
// number, and never the sum.
func TestSection32LargerDeficitCounts(t *testing.T) {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 10}, {Demand: 10, Min: 4}}, fairshare.Policy{})
	require.NoError(t, err)
	s, err := preempt.New(tree, preempt.Config{})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, 10)
	require.NoError(t, err)
	start := time.Unix(0, 0)
	require.NoError(t, s.Observe(start, shares, []int64{9, 1}))
	claims := s.Claims(start.Add(time.Hour))
	require.Len(t, claims, 1)
	assert.Equal(t, int64(4), claims[0].Deficit) // the deficit is 3 for the minimum and 4 for the fair share

	// The deficit is 3 for the minimum, and 2 for the threshold of half the fair share.
	s, err = preempt.New(tree, preempt.Config{Threshold: 0.5, Target: preempt.ToThreshold})
	require.NoError(t, err)
	require.NoError(t, s.Observe(start, shares, []int64{9, 1}))
	claims = s.Claims(start.Add(time.Hour))
	require.Len(t, claims, 1)
	assert.Equal(t, int64(3), claims[0].Deficit)
	assert.Equal(t, preempt.BelowMinimum, claims[0].Cause)
}

// Section 3.2, "recently launched tasks in over-scheduled jobs": a job uses nothing, and its share is 5. Its pool
// uses 8 units of its share of 10. So 3 units come from the job's sibling and 2 units from the other pool. The tasks
// that started last are killed first, and no pool falls below its share.
func TestSection32NearestRelativesFirst(t *testing.T) {
	pools := []fairshare.Pool{
		{}, {},
		{Parent: fairshare.Under(0), Demand: 20}, {Parent: fairshare.Under(0), Demand: 20},
		{Parent: fairshare.Under(1), Demand: 20},
	}
	tree, err := fairshare.New(pools, fairshare.Policy{})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, 20)
	require.NoError(t, err)
	s, err := preempt.New(tree, preempt.Config{})
	require.NoError(t, err)
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{0, 0, 8, 0, 12}))
	var tasks []preempt.Task
	for pool, n := range map[int]int{2: 8, 4: 12} {
		for i := range n {
			tasks = append(tasks, preempt.Task{Pool: pool, Started: time.Unix(int64(i), 0)})
		}
	}
	var from [5]int
	plan := s.Plan(time.Unix(3600, 0), tasks, nil)
	for _, v := range plan.Victims {
		from[tasks[v.Task].Pool]++
		assert.GreaterOrEqual(t, tasks[v.Task].Started.Unix(), int64(5), "the tasks that started last must be killed")
	}
	assert.Equal(t, [5]int{2: 3, 4: 2}, from)
	assert.Equal(t, int64(5), plan.Claims[0].Granted)
}

// Section 3.2: "Tmin < Tfair". This package allows equal timeouts, and then a pool claims the larger deficit after
// this time.
func TestSection32EqualTimeouts(t *testing.T) {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 10}, {Min: 2, Demand: 10}}, fairshare.Policy{})
	require.NoError(t, err)
	s, err := preempt.New(tree, preempt.Config{Timeouts: preempt.Timeouts{Min: time.Minute, Fair: time.Minute}})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, 10)
	require.NoError(t, err)
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{10, 0}))
	assert.Empty(t, s.Claims(time.Unix(59, 0)))
	assert.Equal(t, []preempt.Claim{{Pool: 1, Cause: preempt.BelowShare, Deficit: 5, Waited: time.Minute, Due: 5}},
		s.Claims(time.Unix(60, 0)))
}
