package dominant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare/dominant"
	"github.com/straggler-go/straggler/fairshare/preempt"
)

// A pool is granted its share in whole tasks, however small these are beside the cluster.
func TestTasksThatAreTinyBesideTheClusterAreGranted(t *testing.T) {
	for _, need := range []int64{1 << 20, 1536, 1000} { // bytes, of a pebibyte
		const capacity = int64(1) << 50
		pools := []dominant.Pool{{Demand: 4000, Task: []int64{capacity / 4000}}, {Demand: 1000, Task: []int64{need}}}
		tree, err := dominant.New(pools, []int64{capacity}, dominant.Policy{})
		require.NoError(t, err)
		x := tree.Index()
		x.Add(0, 4000, nil)
		soon := preempt.Timeouts{Min: time.Second, Fair: time.Second}
		p, err := dominant.NewPreemptor(tree, preempt.Config{Timeouts: soon})
		require.NoError(t, err)
		now := time.Unix(1_700_000_000, 0)
		shares, err := tree.Shares(nil)
		require.NoError(t, err)
		require.NoError(t, p.Observe(now, shares, x))
		tasks := make([]dominant.Task, 4000)
		for i := range tasks {
			tasks[i] = dominant.Task{Task: preempt.Task{Pool: 0}, Need: []int64{capacity / 4000}}
		}
		plan := p.Plan(now.Add(time.Minute), tasks, []int64{0})
		assert.Equal(t, []dominant.Grant{{Pool: 1, Tasks: shares[1].Tasks}}, plan.Grants, "tasks of %d", need)
		require.Len(t, plan.Claims, 1)
		assert.InDelta(t, plan.Claims[0].Deficit, plan.Claims[0].Granted, 1, "a claim says what it was granted")
		assert.Len(t, plan.Victims, 1)
	}
}

// What was not made by New answers or refuses, and does not panic.
func TestZeroPreemptorAndNil(t *testing.T) {
	var p dominant.Preemptor
	now := time.Unix(7, 0)
	assert.Zero(t, p.Plan(now, make([]dominant.Task, 2), []int64{1}))
	assert.Empty(t, p.Claims(now))
	assert.Empty(t, p.Config().Pools)
	assert.ErrorContains(t, p.Observe(now, nil, nil), "fairshare/dominant: Preemptor is ")
	_, err := p.MarshalBinary()
	assert.NoError(t, err)
	_, err = dominant.NewPreemptor(nil, preempt.Config{})
	assert.EqualError(t, err, `fairshare/dominant: t is "nil", want a tree of pools`)
	_, err = preempt.New(nil, preempt.Config{})
	assert.EqualError(t, err, `fairshare/preempt: tree is "nil", want a tree of pools`)

	tree, err := dominant.New([]dominant.Pool{{Task: []int64{1}}}, []int64{1}, dominant.Policy{})
	require.NoError(t, err)
	made, err := dominant.NewPreemptor(tree, preempt.Config{})
	require.NoError(t, err)
	assert.ErrorContains(t, made.Observe(now, make([]dominant.Share, 1), nil), "fairshare/dominant: x is ")
	assert.ErrorContains(t, made.Resume(nil, []int{0}), "fairshare/preempt: old is ")
	assert.NoError(t, made.Resume(&p, []int{0}))
}
