package preempt_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/preempt"
)

// A pool that has the 10 units that it is due waits for a task of 5, and 300 units are free. No plan grants it any, after a
// week either; with 8 units in use it starves, and gets 5.
func TestAPlanLooksAfterStarvingPoolsAlone(t *testing.T) {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 1000}, {Demand: 30, Min: 10}}, fairshare.Policy{})
	require.NoError(t, err)
	start := time.Unix(0, 0)
	week := start.Add(7 * 24 * time.Hour)
	for usage, granted := range map[int64]int64{10: 0, 8: 5} {
		p, err := preempt.New(tree, preempt.Config{Timeouts: preempt.Timeouts{Min: time.Minute, Fair: time.Minute}})
		require.NoError(t, err)
		shares, err := tree.Shares(nil, nil, 20)
		require.NoError(t, err)
		assert.True(t, p.SetWaiting(1, preempt.Waiting{Units: 5}))
		require.NoError(t, p.Observe(start, shares, []int64{10, usage}))
		require.NoError(t, p.Observe(week, shares, []int64{10, usage}))
		got := int64(0)
		for _, claim := range p.Plan(week, nil, []int64{300}).Claims {
			got += claim.Granted
		}
		assert.Equal(t, granted, got, "%d units in use", usage)
	}
}
