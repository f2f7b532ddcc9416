package fairshare

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCooldown(t *testing.T) {
	s, shares := watched(t, []Pool{{Demand: 8}, {Demand: 8}}, 8, Preemption{})
	start := time.Unix(0, 0)
	require.NoError(t, s.Observe(start, shares, []int64{8, 0}))
	due := start.Add(DefaultFairTimeout)
	require.Len(t, s.Plan(due, runningTasks(0, 8), 0).Victims, 4)
	assert.Empty(t, s.Plan(due.Add(DefaultCooldown-1), runningTasks(0, 8), 0).Claims)
	assert.Len(t, s.Plan(due.Add(DefaultCooldown), runningTasks(0, 8), 0).Victims, 4, "the host did not carry it out")
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

// However often the clock steps back, a wait ends and a cool-down does not last for ever.
func TestClockThatStepsBack(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	s, shares := watched(t, []Pool{{Demand: 8}, {Demand: 8}}, 8, Preemption{})
	usage := []int64{8, 0}
	require.NoError(t, s.Observe(start, shares, usage))
	for now := start; now.Before(start.Add(DefaultFairTimeout)); now = now.Add(10 * time.Second) {
		require.NoError(t, s.Observe(now, shares, usage))
		require.Empty(t, s.Claims(now))
		require.NoError(t, s.Observe(now.Add(-time.Millisecond), shares, usage)) // as clocks do that are set often
	}
	due := start.Add(DefaultFairTimeout)
	require.Len(t, s.Claims(due), 1)

	require.Len(t, s.Plan(due.Add(1000*time.Hour), runningTasks(0, 8), 0).Victims, 4) // a clock far ahead, set right later
	require.NoError(t, s.Observe(due, shares, usage))
	assert.Empty(t, s.Claims(due.Add(DefaultCooldown-1)))
	assert.Len(t, s.Claims(due.Add(DefaultCooldown)), 1)

	back := start.Add(-time.Hour)
	require.NoError(t, s.Observe(back, shares, usage))
	assert.Empty(t, s.Claims(back.Add(DefaultFairTimeout-1)))
	assert.Len(t, s.Claims(back.Add(DefaultFairTimeout)), 1)
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

func TestConfigReadsBack(t *testing.T) {
	s, _ := watched(t, []Pool{{}, {Parent: Under(0), Demand: 1}}, 1, Preemption{
		Cooldown: NoCooldown, Pools: []PoolPreemption{{Patience: Patience{Min: Never}, Protected: true}, {Patience: Patience{Fair: time.Hour}}},
	})
	assert.Equal(t, Preemption{
		Patience: Patience{DefaultMinTimeout, DefaultFairTimeout}, Threshold: 100, Cooldown: NoCooldown,
		Pools: []PoolPreemption{{Patience{Never, DefaultFairTimeout}, true}, {Patience{Never, time.Hour}, true}},
	}, s.Config())
}

// Pools come and go; those that stay keep their waits and cool-downs.
func TestResume(t *testing.T) {
	start := time.Unix(0, 0)
	old, shares := watched(t, []Pool{{Demand: 8}, {Demand: 8}, {Demand: 8}}, 12, Preemption{})
	require.NoError(t, old.Observe(start, shares, []int64{12, 0, 0}))
	s, shares := watched(t, []Pool{{Demand: 8}, {Demand: 8}, {Demand: 8}}, 12, Preemption{}) // the old 2 and 0, and a new one
	require.NoError(t, s.Resume(old, []int{2, -1, 0}))
	require.NoError(t, s.Observe(start.Add(time.Minute), shares, []int64{0, 0, 12}))
	claims := s.Claims(start.Add(DefaultFairTimeout))
	require.Len(t, claims, 1)
	assert.Equal(t, 0, claims[0].Pool)
	assert.Len(t, s.Plan(start.Add(DefaultFairTimeout), runningTasks(2, 12), 0).Victims, 4)

	next, _ := watched(t, []Pool{{Demand: 8}, {Demand: 8}, {Demand: 8}}, 12, Preemption{})
	require.NoError(t, next.Resume(s, []int{0, 9, 2}))
	require.NoError(t, next.Observe(start.Add(DefaultFairTimeout), shares, []int64{0, 4, 8}))
	assert.Empty(t, next.Claims(start.Add(DefaultFairTimeout+DefaultCooldown-1)))
	assert.Len(t, next.Claims(start.Add(DefaultFairTimeout+DefaultCooldown)), 1)
	assert.ErrorContains(t, next.Resume(s, nil), "fairshare: from has 0 entries")
}
