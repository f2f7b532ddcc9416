package tracker

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
)

// The record that a tracker makes for itself gets as many observations of running attempts as it can store:
// MostRunning for each machine at first, and as many in each interval. A record of the host gets all observations.
func TestTheOwnRecordGetsAsManyObservationsAsItHolds(t *testing.T) {
	f := fleet{own: true, machines: make([]machine, 2)}
	allowed := func(index int32, now time.Duration) (n int) {
		for range 20 {
			if f.admit(index, now, 16*time.Second) {
				n++
			}
		}
		return n
	}
	assert.Equal(t, machines.MostRunning, allowed(0, 5*time.Second))
	assert.Equal(t, 0, allowed(0, 6*time.Second))
	assert.Equal(t, 1, allowed(0, 7*time.Second))
	assert.Equal(t, machines.MostRunning, allowed(1, 7*time.Second), "each machine has its own bound")
	assert.Equal(t, machines.MostRunning, allowed(0, 23*time.Second), "an interval later as many observations are allowed again")
	spread := 0
	for s := range 160 { // no two reports come at the same time
		spread += allowed(0, 40*time.Second+time.Duration(s)*time.Second)
	}
	assert.Equal(t, machines.MostRunning*160/16+machines.MostRunning-1, spread)
	f.own = false
	assert.Equal(t, 20, allowed(0, 201*time.Second))
}

// A snapshot is changed so that the tracker would wait longer than an interval before the next observation of a
// machine. Such a snapshot is rejected, because the tracker might never send an observation.
func TestRestoreRejectsAnObservationTooFarAhead(t *testing.T) {
	const interval = 16 * time.Second
	tr, err := New(Config{Tasks: 12, Slots: 12, Machines: 1, Interval: interval})
	require.NoError(t, err)
	begin := time.Unix(0, 0)
	for task := range 12 {
		tr.Start(begin, task, 0)
	}
	now := begin.Add(interval)
	for task := range 12 {
		tr.Report(now, task, 0, Report{Done: .1})
	}
	due := &tr.phase.fleet.machines[0].due
	assert.Equal(t, 2*interval, *due, "the record has as many observations as it can hold")
	for wait, right := range map[time.Duration]bool{
		2 * interval: true, 0: true, 2*interval + 1: false, -1: false, 1<<63 - 1: false,
	} {
		*due = wait
		text, err := tr.MarshalBinary()
		require.NoError(t, err)
		if _, err = Restore(Config{}, text); right {
			assert.NoError(t, err, "%v", wait)
		} else {
			assert.ErrorContains(t, err, "holds an observation of a machine too far ahead", "%v", wait)
		}
	}
}

// A factor of Config.Path that is no positive number counts as 1.
func TestAPathFactorIsPositiveAndFinite(t *testing.T) {
	for factor, want := range map[float64]float64{2: 2, .5: .5, 0: 1, -1: 1, math.Inf(1): 1, math.Inf(-1): 1, math.NaN(): 1} {
		f := fleet{path: func(int, int) float64 { return factor }}
		assert.Equal(t, want, f.pathFactor(0, 0), "%v", factor)
	}
	assert.Equal(t, 1., new(fleet).pathFactor(0, 0), "no Path")
}
