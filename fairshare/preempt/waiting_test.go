package preempt_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/preempt"
)

// A pool should have 10 units and waits to run a task of 5 units, and 300 units are free. If the pool uses 10
// units, no plan grants it a unit, even after a week. If the pool uses 8 units, it makes a claim and is granted 5
// units.
func TestAPlanGrantsUnitsOnlyToStarvingPools(t *testing.T) {
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
		assert.Equal(t, granted, got, "granted units with %d units in use", usage)
	}
}
