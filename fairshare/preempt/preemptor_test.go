package preempt

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
)

func watched(t *testing.T, pools []fairshare.Pool, total int64, p Config) (*Preemptor, []fairshare.Share) {
	t.Helper()
	tree, err := fairshare.New(pools, fairshare.Policy{})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, total)
	require.NoError(t, err)
	s, err := New(tree, p)
	require.NoError(t, err)
	return s, shares
}

func runningTasks(pool, n int) (tasks []Task) {
	for i := range n {
		tasks = append(tasks, Task{Pool: pool, Machine: i % 4, Started: time.Unix(int64(i), 0)})
	}
	return tasks
}

func TestThresholdTriggersOrBoundsTheClaim(t *testing.T) {
	start := time.Unix(0, 0)
	for _, c := range []struct {
		threshold   float64
		target      Target
		usage, want int64
	}{
		{.5, ToShare, 4, 6}, {.5, ToShare, 5, 0}, // Hadoop before 2.9: a pool below half of its share claims the whole share
		{.5, ToThreshold, 4, 1}, {.5, ToThreshold, 5, 0}, // Hadoop since 2.9: the pool claims units up to half of its share
		{.33, ToThreshold, 3, 1}, {.33, ToThreshold, 4, 0}, // a usage of 3 is below 3.3
		{0, ToThreshold, 9, 1}, {0, ToShare, 10, 0},
	} {
		s, shares := watched(t, []fairshare.Pool{{Demand: 20}, {Demand: 20}}, 20,
			Config{Threshold: c.threshold, Target: c.target})
		require.NoError(t, s.Observe(start, shares, []int64{20 - c.usage, c.usage}))
		var got int64
		for _, claim := range s.Claims(start.Add(time.Hour)) {
			got += claim.Deficit
		}
		assert.Equal(t, c.want, got, "%+v", c)
	}
}

// The deficit never exceeds the demand, even if the basis allows a share above the demand.
func TestDeficitIsCappedByDemand(t *testing.T) {
	tree, err := fairshare.New([]fairshare.Pool{{Demand: 20}, {Demand: 3, Min: 8}},
		fairshare.Policy{Basis: fairshare.Entitled})
	require.NoError(t, err)
	shares, err := tree.Shares(nil, nil, 20)
	require.NoError(t, err)
	require.Equal(t, int64(10), shares[1].Slots)
	s, err := New(tree, Config{})
	require.NoError(t, err)
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{19, 1}))
	claims := s.Claims(time.Unix(3600, 0))
	require.Len(t, claims, 1)
	assert.Equal(t, Claim{Pool: 1, Cause: BelowMinimum, Deficit: 2, Waited: time.Hour, Usage: 1, Due: 3}, claims[0])

	s, err = New(tree, Config{Timeouts: Timeouts{Min: Off}, Threshold: .5, Target: ToThreshold})
	require.NoError(t, err)
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{19, 1}))
	later := s.Claims(time.Unix(3600, 0))
	require.Len(t, later, 1)
	assert.Equal(t, int64(2), later[0].Deficit, "half of the share is 5, and the demand is 3")
	assert.Equal(t, "claim below-minimum pool=1 deficit=2 waited=3600s usage=1 due=3 granted=0", claims[0].String())
}

// A pool with children claims its own deficit minus the claims of its children.
func TestParentsDoNotClaimTwice(t *testing.T) {
	pools := []fairshare.Pool{{Min: 6}, {Parent: fairshare.Under(0), Demand: 10},
		{Parent: fairshare.Under(0), Demand: 10}, {Demand: 20}}
	p := Config{Pools: make([]PoolConfig, 4)}
	p.Pools[1].Timeouts = Timeouts{Min: Off, Fair: time.Hour}
	p.Pools[2].Timeouts = Timeouts{Min: Off, Fair: 2 * time.Hour}
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

// The next plan treats tasks that were killed before as gone.
func TestDyingTasksCountAsGone(t *testing.T) {
	s, shares := watched(t, []fairshare.Pool{{Demand: 8}, {Demand: 8}}, 8, Config{Cooldown: Off})
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{8, 0}))
	tasks := runningTasks(0, 8)
	for i := range 3 {
		tasks[i].Dying = true
	}
	plan := s.Plan(time.Unix(3600, 0), tasks, nil)
	assert.Equal(t, []Victim{{7, 1, AboveShare}}, plan.Victims)
	assert.Equal(t, []Outcome{Dying, Dying, Dying, AtShare, AtShare, AtShare, AtShare, Killed}, plan.Outcomes)
	assert.Equal(t, int64(4), plan.Claims[0].Granted, "three dying tasks and one victim must count")
	for i := range tasks {
		tasks[i].Dying = plan.Outcomes[i] == Dying || plan.Outcomes[i] == Killed
	}
	assert.Empty(t, s.Plan(time.Unix(3600, 0), tasks, nil).Victims)
}

func TestProtectedTasksAndPoolsLoseNothing(t *testing.T) {
	pools := []fairshare.Pool{{}, {Parent: fairshare.Under(0), Demand: 8}, {Demand: 8}, {Demand: 8}}
	p := Config{Pools: []PoolConfig{0: {Protected: true}, 3: {}}}
	s, shares := watched(t, pools, 12, p)
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{0, 6, 6, 0}))
	tasks := append(runningTasks(1, 6), runningTasks(2, 6)...)
	tasks[11].Protected = true
	plan := s.Plan(time.Unix(3600, 0), append(tasks, Task{Pool: 9}, Task{Pool: 0}), []int64{1})
	require.Len(t, plan.Claims, 1)
	assert.Equal(t, []Victim{{10, 3, AboveShare}, {9, 3, AboveShare}}, plan.Victims)
	assert.Equal(t, int64(3), plan.Claims[0].Granted, "one free unit and two victims must count")
	assert.Equal(t, []Outcome{Protected, Protected, Protected, Protected, Protected, Protected}, plan.Outcomes[:6])
	assert.Equal(t, []Outcome{AtShare, Killed, Killed, Protected, UnknownPool, UnknownPool}, plan.Outcomes[8:])
}

func TestVictimsFollowTheOrderWithinAMachine(t *testing.T) {
	oldest := func(a, b Task) int { return a.Started.Compare(b.Started) }
	for _, c := range []struct {
		p    Config
		want []Victim
	}{
		{Config{}, []Victim{{7, 1, AboveShare}, {6, 1, AboveShare}, {5, 1, AboveShare}, {4, 1, AboveShare}}},
		{Config{Order: oldest}, []Victim{{0, 1, AboveShare}, {1, 1, AboveShare}, {2, 1, AboveShare}, {3, 1, AboveShare}}},
		{Config{ByMachine: true}, []Victim{{6, 1, AboveShare}, {3, 1, AboveShare}, {0, 1, AboveShare},
			{7, 1, AboveShare}}}, // machines 0 and 1 have three tasks each, and machine 2 has two
	} {
		s, shares := watched(t, []fairshare.Pool{{Demand: 8}, {Demand: 8}}, 8, c.p)
		require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{8, 0}))
		tasks := runningTasks(0, 8)
		for i := range tasks {
			tasks[i].Machine = i % 3
		}
		assert.Equal(t, c.want, s.Plan(time.Unix(3600, 0), tasks, nil).Victims)
	}
}

// Shares that no tree computes, such as negative shares, lead to no claim.
func TestInvalidSharesClaimNothing(t *testing.T) {
	s, shares := watched(t, []fairshare.Pool{{Demand: 8}, {Demand: 8}}, 8, Config{})
	for _, rubbish := range []fairshare.Share{
		{Slots: math.MinInt64, Min: math.MinInt64, Demand: math.MinInt64}, {Slots: 5,
			Min: math.MinInt64}, {Min: math.MaxInt64, Demand: math.MaxInt64},
	} {
		shares[1] = rubbish
		require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{8, 1}))
		assert.Empty(t, s.Claims(time.Unix(7200, 0)), "%v", rubbish)
	}
}

// The units of the tasks that were killed before add up to more than an int64. The sum is replaced by the largest
// int64, and the plan is the same as with usage 0.
func TestDyingUnitsSaturate(t *testing.T) {
	s, shares := watched(t, []fairshare.Pool{{Demand: 8}, {Demand: 8}}, 8, Config{})
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{8, 0}))
	tasks := runningTasks(0, 8)
	for range 3 {
		tasks = append(tasks, Task{Pool: 1, Slots: math.MaxInt64, Dying: true})
	}
	assert.Len(t, s.Plan(time.Unix(3600, 0), tasks, nil).Victims, 4)
}

// A child's minimum beyond the child's demand leads to no claim of the parent. This holds for every basis.
func TestUnwantedMinimumClaimsNothing(t *testing.T) {
	for _, unwanted := range []int64{0, 2} {
		pools := []fairshare.Pool{{}, {Parent: fairshare.Under(0), Min: 8, Demand: unwanted},
			{Parent: fairshare.Under(0), Demand: 10}, {Min: 5, Demand: 10}}
		for _, basis := range []fairshare.Basis{fairshare.Demanded, fairshare.Entitled, fairshare.Steady} {
			tree, err := fairshare.New(pools, fairshare.Policy{Basis: basis, OnInfeasible: fairshare.Scale})
			require.NoError(t, err)
			shares, err := tree.Shares(nil, nil, 10)
			require.NoError(t, err)
			s, err := New(tree, Config{Timeouts: Timeouts{Fair: Off}})
			require.NoError(t, err)
			require.NoError(t, s.Observe(time.Unix(0, 0), shares, []int64{0, unwanted, 5 - unwanted, 5}))
			assert.Empty(t, s.Claims(time.Unix(3600, 0)), "no claim may be due with basis %v and demand %d", basis, unwanted)
		}
		tree, err := fairshare.New(pools, fairshare.Policy{})
		require.NoError(t, err)
		index := tree.Index()
		for range 10 {
			index.Add(index.Next().Pool, 1)
		}
		assert.Equal(t, []int64{5, 5}, []int64{index.Usage(0), index.Usage(3)}, "usage after one unit at a time")
	}
}
