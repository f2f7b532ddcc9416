package fairshare

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func watched(t *testing.T, pools []Pool, total int64, p Preemption) (*Starvation, []Share) {
	t.Helper()
	tree, err := New(pools, Policy{})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, total)
	require.NoError(t, err)
	s, err := NewStarvation(tree, p)
	require.NoError(t, err)
	return s, shares
}

func runningTasks(pool, n int) (tasks []Task) {
	for i := range n {
		tasks = append(tasks, Task{Pool: pool, Machine: i % 4, Started: time.Unix(int64(i), 0)})
	}
	return tasks
}

func TestThresholdAsTriggerAndTarget(t *testing.T) {
	start := time.Unix(0, 0)
	for _, c := range []struct {
		threshold   int
		target      Target
		usage, want int64
	}{
		{50, ToShare, 4, 6}, {50, ToShare, 5, 0}, // the old rule: below half, claim all
		{50, ToThreshold, 4, 1}, {50, ToThreshold, 5, 0}, // the new one: claim half
		{33, ToThreshold, 3, 1}, {33, ToThreshold, 4, 0}, // 3 is below 3.3
		{0, ToThreshold, 9, 1}, {0, ToShare, 10, 0},
	} {
		s, shares := watched(t, []Pool{{Demand: 20}, {Demand: 20}}, 20, Preemption{Threshold: c.threshold, Target: c.target})
		require.NoError(t, s.Observe(start, shares, []int64{20 - c.usage, c.usage}))
		var got int64
		for _, claim := range s.Claims(start.Add(time.Hour)) {
			got += claim.Deficit
		}
		assert.Equal(t, c.want, got, "%+v", c)
	}
}

// The deficit never exceeds the demand, on a basis where the share may.
func TestDeficitIsCappedByDemand(t *testing.T) {
	tree, err := New([]Pool{{Demand: 20}, {Demand: 3, Min: 8}}, Policy{Basis: Entitled})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, 20)
	require.NoError(t, err)
	require.Equal(t, int64(10), shares[1].Slots)
	s, err := NewStarvation(tree, Preemption{})
	require.NoError(t, err)
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{19, 1}))
	claims := s.Claims(time.Unix(3600, 0))
	require.Len(t, claims, 1)
	assert.Equal(t, Claim{Pool: 1, Cause: MinTimeout, Deficit: 2, Waited: time.Hour, Usage: 1, Due: 3}, claims[0])

	s, err = NewStarvation(tree, Preemption{Patience: Patience{Min: Never}, Threshold: 50, Target: ToThreshold})
	require.NoError(t, err)
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{19, 1}))
	later := s.Claims(time.Unix(3600, 0))
	require.Len(t, later, 1)
	assert.Equal(t, int64(2), later[0].Deficit, "half the share is 5, but it wants 3")
	assert.Equal(t, "pool 1 claims 2: below minimum for 1h0m0s, has 1 of 3, granted 0", claims[0].String())
}

// A pool with children claims what their own claims leave of its deficit, not the same units again.
func TestParentsDoNotClaimTwice(t *testing.T) {
	pools := []Pool{{Min: 6}, {Parent: Under(0), Demand: 10}, {Parent: Under(0), Demand: 10}, {Demand: 20}}
	p := Preemption{Pools: make([]PoolPreemption, 4)}
	p.Pools[1].Patience = Patience{Min: Never, Fair: time.Hour}
	p.Pools[2].Patience = Patience{Min: Never, Fair: 2 * time.Hour}
	s, shares := watched(t, pools, 12, p)
	start := time.Unix(0, 0)
	require.NoError(t, s.Observe(start, shares, []int64{0, 0, 0, 12}))
	deficits := func(after time.Duration) (d [4]int64) {
		for _, c := range s.Claims(start.Add(after)) {
			d[c.Pool] = c.Deficit
		}
		return d
	}
	assert.Equal(t, [4]int64{0: 6}, deficits(time.Minute))
	assert.Equal(t, [4]int64{0: 3, 1: 3}, deficits(time.Hour))
	assert.Equal(t, [4]int64{1: 3, 2: 3}, deficits(2*time.Hour))
}

// Kills under way count as done, for whoever plans next.
func TestDyingTasksAreGone(t *testing.T) {
	s, shares := watched(t, []Pool{{Demand: 8}, {Demand: 8}}, 8, Preemption{Cooldown: NoCooldown})
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{8, 0}))
	tasks := runningTasks(0, 8)
	for i := range 3 {
		tasks[i].Dying = true
	}
	plan := s.Plan(time.Unix(3600, 0), tasks, 0)
	assert.Equal(t, []Victim{{7, 1}}, plan.Victims)
	assert.Equal(t, []Fate{Doomed, Doomed, Doomed, AtShare, AtShare, AtShare, AtShare, Killed}, plan.Fates)
	assert.Equal(t, int64(4), plan.Claims[0].Granted, "three are on their way")
	for i := range tasks {
		tasks[i].Dying = plan.Fates[i] == Doomed || plan.Fates[i] == Killed
	}
	assert.Empty(t, s.Plan(time.Unix(3600, 0), tasks, 0).Victims)
}

func TestProtection(t *testing.T) {
	pools := []Pool{{}, {Parent: Under(0), Demand: 8}, {Demand: 8}, {Demand: 8}}
	p := Preemption{Pools: []PoolPreemption{0: {Protected: true}, 3: {}}}
	s, shares := watched(t, pools, 12, p)
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{0, 6, 6, 0}))
	tasks := append(runningTasks(1, 6), runningTasks(2, 6)...)
	tasks[11].Protected = true
	plan := s.Plan(time.Unix(3600, 0), append(tasks, Task{Pool: 9}, Task{Pool: 0}), 1)
	require.Len(t, plan.Claims, 1)
	assert.Equal(t, []Victim{{10, 3}, {9, 3}}, plan.Victims)
	assert.Equal(t, int64(3), plan.Claims[0].Granted, "a free unit and two victims")
	assert.Equal(t, []Fate{Shielded, Shielded, Shielded, Shielded, Shielded, Shielded}, plan.Fates[:6])
	assert.Equal(t, []Fate{AtShare, Killed, Killed, Shielded, Foreign, Foreign}, plan.Fates[8:])
}

func TestOrderAndGrouping(t *testing.T) {
	oldest := func(a, b Task) int { return a.Started.Compare(b.Started) }
	for _, c := range []struct {
		p    Preemption
		want []Victim
	}{
		{Preemption{}, []Victim{{7, 1}, {6, 1}, {5, 1}, {4, 1}}},
		{Preemption{Order: oldest}, []Victim{{0, 1}, {1, 1}, {2, 1}, {3, 1}}},
		{Preemption{ByMachine: true}, []Victim{{6, 1}, {3, 1}, {0, 1}, {7, 1}}}, // machine 0 has three, 1 three, 2 two
	} {
		s, shares := watched(t, []Pool{{Demand: 8}, {Demand: 8}}, 8, c.p)
		require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{8, 0}))
		tasks := runningTasks(0, 8)
		for i := range tasks {
			tasks[i].Machine = i % 3
		}
		assert.Equal(t, c.want, s.Plan(time.Unix(3600, 0), tasks, 0).Victims)
	}
}

// Shares that no tree computes claim nothing that is not there.
func TestSharesOfRubbish(t *testing.T) {
	s, shares := watched(t, []Pool{{Demand: 8}, {Demand: 8}}, 8, Preemption{})
	for _, rubbish := range []Share{
		{Slots: math.MinInt64, Min: math.MinInt64, Demand: math.MinInt64}, {Slots: 5, Min: math.MinInt64}, {Min: math.MaxInt64, Demand: math.MaxInt64},
	} {
		shares[1] = rubbish
		require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{8, 1}))
		assert.Empty(t, s.Claims(time.Unix(7200, 0)), "%v", rubbish)
	}
}

// Dying tasks of more units than there are numbers leave their pools no worse off than with nothing.
func TestMoreDyingThanThereIs(t *testing.T) {
	s, shares := watched(t, []Pool{{Demand: 8}, {Demand: 8}}, 8, Preemption{})
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{8, 0}))
	tasks := runningTasks(0, 8)
	for range 3 {
		tasks = append(tasks, Task{Pool: 1, Slots: math.MaxInt64, Dying: true})
	}
	assert.Len(t, s.Plan(time.Unix(3600, 0), tasks, 0).Victims, 4)
}
