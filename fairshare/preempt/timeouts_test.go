package preempt

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
)

func TestPoolsClaimNothingWhileTheyCoolDown(t *testing.T) {
	s, shares := watched(t, []fairshare.Pool{{Demand: 8}, {Demand: 8}}, 8, Config{})
	start := time.Unix(0, 0)
	require.NoError(t, s.Observe(start, shares, []int64{8, 0}))
	due := start.Add(5 * time.Minute)
	require.Len(t, s.Plan(due, runningTasks(0, 8), nil).Victims, 4)
	assert.Empty(t, s.Plan(due.Add(15*time.Second-1), runningTasks(0, 8), nil).Claims)
	assert.Len(t, s.Plan(due.Add(15*time.Second), runningTasks(0, 8), nil).Victims, 4, "the claim must return after the cool-down, because the host did not carry out the plan")
}

// A pool without timeouts of its own has the timeouts of its nearest ancestor with timeouts.
func TestTimeoutsAreInherited(t *testing.T) {
	pools := []fairshare.Pool{{}, {Parent: fairshare.Under(0), Demand: 8}, {Demand: 8}, {Demand: 8}}
	p := Config{Pools: make([]PoolConfig, 4)}
	p.Pools[0].Timeouts = Timeouts{Min: time.Second, Fair: 2 * time.Second}
	p.Pools[2].Timeouts = Timeouts{Fair: Off}
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
	assert.Equal(t, []int{1}, claimants(start.Add(time.Hour)), "pool 2 must never claim its fair share")

	back := start.Add(-10 * time.Minute)
	require.NoError(t, s.Observe(back, shares, []int64{0, 0, 1, 8}))
	assert.Equal(t, []int{1}, claimants(back), "a clock that steps back must neither lengthen nor shorten a wait")
	require.NoError(t, s.Observe(back.Add(time.Minute), shares, []int64{0, 3, 1, 5}))
	assert.Empty(t, claimants(back.Add(time.Hour)), "pool 1 has its share and must not claim")
}

// Waits and cool-downs end even if the clock steps back again and again.
func TestWaitsSurviveAClockThatStepsBack(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	s, shares := watched(t, []fairshare.Pool{{Demand: 8}, {Demand: 8}}, 8, Config{})
	usage := []int64{8, 0}
	require.NoError(t, s.Observe(start, shares, usage))
	for now := start; now.Before(start.Add(5 * time.Minute)); now = now.Add(10 * time.Second) {
		require.NoError(t, s.Observe(now, shares, usage))
		require.Empty(t, s.Claims(now))
		require.NoError(t, s.Observe(now.Add(-time.Millisecond), shares, usage)) // the clock is set back by a millisecond
	}
	due := start.Add(5 * time.Minute)
	require.Len(t, s.Claims(due), 1)

	require.Len(t, s.Plan(due.Add(1000*time.Hour), runningTasks(0, 8), nil).Victims,
		4) // the clock is far ahead and is corrected later
	require.NoError(t, s.Observe(due, shares, usage))
	assert.Empty(t, s.Claims(due.Add(15*time.Second-1)))
	assert.Len(t, s.Claims(due.Add(15*time.Second)), 1)

	back := start.Add(-time.Hour)
	require.NoError(t, s.Observe(back, shares, usage))
	assert.Len(t, s.Claims(back), 1, "the wait must continue")
}

func TestBadConfigsAreNamed(t *testing.T) {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 1}, {Demand: 1}}, fairshare.Policy{})
	require.NoError(t, err)
	for want, p := range map[string]Config{
		"Config.Timeouts.Min is -2ns":           {Timeouts: Timeouts{Min: -2}},
		"Config.Timeouts.Fair is -2ns":          {Timeouts: Timeouts{Fair: -2}},
		"Config.Timeouts.Min is 5m0.000000001s": {Timeouts: Timeouts{Min: 5*time.Minute + 1}},
		"Config.Threshold is 1.01":              {Threshold: 1.01},
		"Config.Threshold is -1":                {Threshold: -1},
		"Config.Target is Target(2)":            {Target: 2},
		"Config.Cooldown is -2ns":               {Cooldown: -2},
		"len(Config.Pools) is 1":                {Pools: make([]PoolConfig, 1)},
		"Config.Pools[1].Timeouts.Min is 1h0m0s, want at most": {Pools: []PoolConfig{{},
			{Timeouts: Timeouts{Min: time.Hour}}}},
	} {
		_, err := New(tree, p)
		assert.ErrorContains(t, err, "fairshare/preempt: "+want)
	}
	s, err := New(tree, Config{Timeouts: Timeouts{Min: time.Hour, Fair: Off}})
	require.NoError(t, err)
	assert.ErrorContains(t, s.Observe(time.Time{}, nil, nil), "fairshare/preempt: len(shares) is 0")
}

func TestConfigShowsInheritedValues(t *testing.T) {
	s, _ := watched(t, []fairshare.Pool{{}, {Parent: fairshare.Under(0), Demand: 1}}, 1, Config{
		Cooldown: Off, Pools: []PoolConfig{{Timeouts: Timeouts{Min: Off}, Protected: true},
			{Timeouts: Timeouts{Fair: time.Hour}}},
	})
	assert.Equal(t, Config{
		Timeouts: Timeouts{time.Minute, 5 * time.Minute}, Threshold: 1, Cooldown: Off,
		Pools: []PoolConfig{{Timeouts{Off, 5 * time.Minute}, true}, {Timeouts{Off, time.Hour}, true}},
	}, s.Config())
}

// Pools that exist before and after a change of the tree keep their waits and cool-downs.
func TestResumeKeepsWaitsAndCooldowns(t *testing.T) {
	start := time.Unix(0, 0)
	old, shares := watched(t, []fairshare.Pool{{Demand: 8}, {Demand: 8}, {Demand: 8}}, 12, Config{})
	require.NoError(t, old.Observe(start, shares, []int64{12, 0, 0}))
	s, shares := watched(t, []fairshare.Pool{{Demand: 8}, {Demand: 8}, {Demand: 8}}, 12,
		Config{}) // pool 0 was pool 2, pool 2 was pool 0, and pool 1 is new
	require.NoError(t, s.Resume(old, []int{2, -1, 0}))
	require.NoError(t, s.Observe(start.Add(time.Minute), shares, []int64{0, 0, 12}))
	claims := s.Claims(start.Add(5 * time.Minute))
	require.Len(t, claims, 1)
	assert.Equal(t, 0, claims[0].Pool)
	assert.Len(t, s.Plan(start.Add(5*time.Minute), runningTasks(2, 12), nil).Victims, 4)

	next, _ := watched(t, []fairshare.Pool{{Demand: 8}, {Demand: 8}, {Demand: 8}}, 12, Config{})
	require.NoError(t, next.Resume(s, []int{0, 9, 2}))
	require.NoError(t, next.Observe(start.Add(5*time.Minute), shares, []int64{0, 4, 8}))
	assert.Empty(t, next.Claims(start.Add(5*time.Minute+15*time.Second-1)))
	assert.Len(t, next.Claims(start.Add(5*time.Minute+15*time.Second)), 1)
	assert.ErrorContains(t, next.Resume(s, nil), "fairshare/preempt: len(from) is 0")
}

// If Min is Off, a pool below its minimum makes no claim for the minimum, however long it waits.
func TestMinOffMakesNoClaimForTheMinimum(t *testing.T) {
	pools := []fairshare.Pool{{Demand: 8, Min: 4}, {Demand: 8}}
	for timeout, want := range map[time.Duration]Cause{0: BelowMinimum, Off: BelowShare} {
		s, shares := watched(t, pools, 8, Config{Timeouts: Timeouts{Min: timeout}})
		require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{0, 8}))
		claims := s.Claims(time.Unix(3600, 0))
		require.Len(t, claims, 1)
		assert.Equal(t, want, claims[0].Cause)
	}
}

// take removes units on machines that the host has not listed first, and then units of the machines in their
// order.
func TestFreeUnitsAreTakenInOrder(t *testing.T) {
	var f freeUnits
	f.fill([]int64{2, -1, 2})
	f.add(7, 3)
	f.take(4)
	assert.Equal(t, []int64{1, 0, 2}, f.machines)
	assert.Equal(t, []int64{3, 0}, []int64{f.total, f.elsewhere})
	f.take(2)
	assert.Equal(t, []int64{0, 0, 1}, f.machines)
	f.add(0, 1)
	f.take(2)
	assert.Equal(t, []int64{0, 0, 0}, f.machines)
	assert.Zero(t, f.total)
}
