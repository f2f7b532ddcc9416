package gate

import (
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBadConfigsAreNamed(t *testing.T) {
	for want, c := range map[string]Config{
		"Config.MaxComputing is -1": {MaxComputing: -1},
		"Config.MaxReducers is 1":   {MaxReducers: 1},
		"Config.MaxReducers is -4":  {MaxReducers: -4},
		"Config.MaxCopying is -2":   {MaxCopying: -2},
		"Config.Reserved is 6":      {Reserved: 6},
		"Config.Reserved is -1":     {Reserved: -1},
		"Config.Memory is -1":       {Memory: -1},
		"Config.MaxNetwork is 1.1":  {MaxNetwork: 1.1},
		"Config.MaxNetwork is NaN":  {MaxNetwork: math.NaN()},
		"Config.DiskReserve is -1":  {DiskReserve: -1},
	} {
		_, err := New(c)
		assert.ErrorContains(t, err, "fairshare/gate: "+want)
	}
	g, err := New(Config{MaxComputing: 1, MaxReducers: 8, MaxCopying: Off})
	require.NoError(t, err)
	huge, err := New(Config{MaxComputing: math.MaxInt})
	require.NoError(t, err)
	assert.Equal(t, Config{MaxComputing: math.MaxInt, MaxReducers: math.MaxInt, MaxCopying: math.MaxInt}, huge.Config())
	assert.Equal(t, Answer{Admit, BelowLimits, 7, 8}, g.Launch(Machine{Reducers: 7}, Reducer{Copying: 7}))
	assert.Equal(t, "wait machine-full have=8 limit=8", g.Launch(Machine{Reducers: 8}, Reducer{}).String())
	assert.Equal(t, "wait machine-computing have=1 limit=1", g.Compute(Machine{Reducers: 8, Computing: 1}, Reducer{}).String())
}

// The zero Gate has the limits of the paper's example.
func TestTheZeroGateIsThePapersExample(t *testing.T) {
	assert.Equal(t, Config{MaxComputing: 2, MaxReducers: 6, MaxCopying: 2}, Gate{}.Config())
	assert.Equal(t, Answer{Admit, BelowLimits, 5, 6}, Gate{}.Launch(Machine{Reducers: 5}, Reducer{}))
	assert.Equal(t, Answer{Wait, MachineComputing, 2, 2}, Gate{}.Compute(Machine{Computing: 2}, Reducer{}))
	assert.False(t, Answer{}.OK())
}

// Facts out of range must not admit a task beyond a limit, and must not cause a panic or an overflow.
func TestInvalidFactsAdmitNothingAndDoNotPanic(t *testing.T) {
	g, err := New(Config{Memory: 100, MaxNetwork: .5, DiskReserve: 10})
	require.NoError(t, err)
	for _, n := range []int64{math.MinInt64, -1, 0, 1, math.MaxInt64} {
		for _, share := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, .6} {
			machine := Machine{Reducers: int(n >> 33), Privileged: int(-n >> 33), Memory: n, Network: share, DiskFree: n, DiskOwed: -n}
			for _, m := range []int64{math.MinInt64, math.MaxInt64} {
				_ = g.Launch(machine, Reducer{Running: int(m >> 33), Memory: m, Disk: m}).String()
				_ = g.Room(machine, m, m)
			}
		}
	}
	assert.Equal(t, NetworkBusy, g.Launch(Machine{Network: math.NaN()}, Reducer{}).Reason)
	assert.Equal(t, MemoryFull, g.Room(Machine{Memory: math.MaxInt64}, math.MaxInt64, 0).Reason)
	assert.Equal(t, DiskFull, g.Room(Machine{DiskFree: math.MaxInt64, DiskOwed: math.MaxInt64}, 0, 1).Reason)
	assert.Equal(t, DiskFull, g.Room(Machine{DiskFree: math.MinInt64}, 0, 1).Reason)
}

func TestNoAllocations(t *testing.T) {
	jobs := []Job{{Bytes: 1}, {Bytes: 2}}
	var g Gate
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		_ = g.Launch(Machine{Reducers: 1}, Reducer{Copying: 1}).OK() && g.Compute(Machine{}, Reducer{}).OK()
		_ = LeastProgress.Evict(jobs)
	}))
}

func TestValuesPrintTheirNames(t *testing.T) {
	for want, got := range map[string]interface{ String() string }{
		"admit": Admit, "not-asked": NotAsked, "disk-full": DiskFull, "Action(7)": Action(7), "latest-submitted": LatestSubmitted,
	} {
		assert.Equal(t, want, got.String())
	}
	for want, got := range map[string]slog.LogValuer{
		"[action=wait reason=machine-full have=6 limit=6]": Answer{Wait, MachineFull, 6, 6},
		"[rule=least-progress job=2 leader=0 bytes=50]":    Eviction{LeastProgress, 2, 0, 50},
	} {
		assert.Equal(t, want, got.LogValue().String())
	}
	assert.Equal(t, "keep latest-submitted", LatestSubmitted.Evict(nil).String())
}

func TestEvictNeverChoosesTheLeader(t *testing.T) {
	day := func(n int64) time.Time { return time.Unix(86400*n, 0) }
	for name, c := range map[string]struct {
		jobs           []Job
		latest, behind Eviction
	}{
		"no jobs":                  {nil, Eviction{Job: -1, Leader: -1}, Eviction{Job: -1, Leader: -1}},
		"only the leader":          {[]Job{{Bytes: 9}}, Eviction{Job: -1}, Eviction{Job: -1}},
		"no other job holds bytes": {[]Job{{Submitted: day(1), Bytes: 9}, {Submitted: day(2)}}, Eviction{Job: -1}, Eviction{Job: -1}},
		"equal jobs": {[]Job{{Bytes: 1}, {Bytes: 2}, {Bytes: 3}}, Eviction{Job: 2, Bytes: 3},
			Eviction{Job: 2, Bytes: 3}},
		"progress and age differ": {
			[]Job{{Submitted: day(1), Done: 1, Tasks: 9, Bytes: 1}, {Submitted: day(2), Done: 2, Tasks: 9, Bytes: 2},
				{Submitted: day(3), Done: 2, Tasks: 17, Bytes: 3}},
			Eviction{Job: 2, Bytes: 3}, Eviction{Job: 0, Leader: 1, Bytes: 1}},
		"Done above Tasks": {
			[]Job{{Done: 9, Tasks: 9, Bytes: 1}, {Done: 5, Tasks: 1, Bytes: 2}}, Eviction{Job: 1, Bytes: 2}, Eviction{Job: 1,
				Bytes: 2}},
		"Tasks below 1": {
			[]Job{{Submitted: day(1), Done: -3, Tasks: -1, Bytes: 1}, {Submitted: day(2), Done: 1, Bytes: 2}},
			Eviction{Job: 1, Bytes: 2}, Eviction{Job: 0, Leader: 1, Bytes: 1}},
	} {
		c.behind.Rule = LeastProgress
		assert.Equal(t, c.latest, LatestSubmitted.Evict(c.jobs), name)
		assert.Equal(t, c.behind, LeastProgress.Evict(c.jobs), name)
	}
	assert.Equal(t, "keep latest-submitted leader=0", LatestSubmitted.Evict([]Job{{Bytes: 9}}).String())
}
