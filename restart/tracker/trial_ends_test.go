package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A trial that can no longer come out puts nothing at risk, in whatever way its attempts ended.
func TestEndedTrialsRiskNothing(t *testing.T) {
	restarted := func(tr *tracker.Tracker, now func(int) time.Time) { tr.Restart(now(200), 10, 0) }
	copied := func(tr *tracker.Tracker, now func(int) time.Time) { tr.Start(now(200), 10, 12) }
	for name, of := range map[string]struct {
		try, end func(tr *tracker.Tracker, now func(int) time.Time)
	}{
		"it is given up":           {restarted, func(tr *tracker.Tracker, now func(int) time.Time) { tr.GiveUp(now(201), 10) }},
		"the phase is closed":      {copied, func(tr *tracker.Tracker, now func(int) time.Time) { tr.Close(now(201)) }},
		"the closed one waits":     {restarted, func(tr *tracker.Tracker, now func(int) time.Time) { tr.Close(now(201)) }},
		"the copy fails":           {copied, func(tr *tracker.Tracker, now func(int) time.Time) { tr.Fail(now(201), 10, 1) }},
		"the copy's machine fails": {copied, func(tr *tracker.Tracker, now func(int) time.Time) { tr.LoseMachine(now(201), 12) }},
		"two copies' machine fails": {copied, func(tr *tracker.Tracker, now func(int) time.Time) {
			tr.Start(now(201), 10, 12)
			tr.LoseMachine(now(202), 12)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			tr, now := silentPhase(t)
			of.try(tr, now)
			assert.Positive(t, atRisk(tr))
			of.end(tr, now)
			assert.Equal(t, [3]int{}, tried(tr))
		})
	}

	tr, now := silentPhase(t)
	restarted(tr, now)
	tr.Finish(now(201), 10, 0)
	assert.Equal(t, [3]int{0, 1, 200}, tried(tr), "the old attempt finished after all, so the restart is lost")

	tr, now = silentPhase(t)
	tr.Start(now(200), 10, 12)
	before := atRisk(tr)
	tr.Fail(now(201), 10, 0) // the copy goes on
	tr.LoseMachine(now(201), 11)
	assert.Equal(t, before, atRisk(tr))
}

// A restart that was lost counts once, even if nothing is known of the attempt that is restarted next.
func TestALostRestartCountsOnce(t *testing.T) {
	tr, now := silentPhase(t)
	tr.Restart(now(200), 10, 0)
	tr.Submit(now(201), 10, 12)
	tr.Restart(now(210), 10, 1) // it has never begun
	tr.Start(now(211), 10, 12)
	tr.Finish(now(911), 10, 2)
	assert.Equal(t, 1, tried(tr)[1])
}

// Works are so small that the time of a unit of work exceeds a float32. The snapshot can be restored.
func TestTrialsOfTinyWorksCanBeRestored(t *testing.T) {
	c := tracker.Config{Slots: 14, Machines: 14, Interval: 10 * time.Second, Policy: restart.LeastCost{}}
	for range 12 {
		c.Work = append(c.Work, 1e-39)
	}
	tr, err := tracker.New(c)
	require.NoError(t, err)
	now := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	for i := range c.Work {
		tr.Start(now(0), i, i)
	}
	for i := range 10 {
		tr.Finish(now(95+i), i, 0)
	}
	tr.Start(now(200), 10, 12)
	require.Positive(t, atRisk(tr))
	data, err := tr.MarshalBinary()
	require.NoError(t, err)
	read, err := tracker.Restore(tracker.Config{}, data)
	require.NoError(t, err)
	assert.Equal(t, tr.Phase(), read.Phase())
}

// The stakes of all trials together exceed a time.Duration. They saturate, and fall to nothing once the trials have
// been dropped.
func TestStakesSaturate(t *testing.T) {
	tr, now := silentPhase(t)
	ages := now(0).Add(250 * 365 * 24 * time.Hour)
	tr.Start(ages, 10, 12) // so that the phase is not stuck
	for _, task := range []int{10, 11} {
		tr.Restart(ages, task, 0)
	}
	assert.Equal(t, time.Duration(1<<63-1), tr.Phase().Trials.AtRisk)
	tr.Close(ages)
	assert.Equal(t, [3]int{}, tried(tr))
}
