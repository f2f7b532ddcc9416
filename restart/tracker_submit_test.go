package restart_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
)

// queued returns a tracker of four tasks of which two have finished after 10 s each, and task 2 lags far behind.
func queued(t *testing.T, policy restart.Policy) *restart.Tracker {
	t.Helper()
	tracker := newTracker(t, restart.Config{Tasks: 4, Slots: 4, Machines: 4, Interval: 5 * time.Second, Policy: policy})
	for task := range 4 {
		require.Zero(t, tracker.Start(at(0), task, task))
	}
	for _, task := range []int{0, 1, 3} {
		tracker.Report(at(5), task, 0, restart.Progress{Done: 0.5})
		tracker.Finish(at(10), task, 0, nil)
	}
	return tracker
}

// A copy that waits in the engine's queue holds its slot, is neither judged nor made again, and its age counts from its
// begin.
func TestSubmittedCopyIsNotDuplicatedAgain(t *testing.T) {
	tracker := queued(t, nil)
	require.Equal(t, restart.Duplicate, tracker.Report(at(20), 2, 0, restart.Progress{Done: 0.02}).Action)
	require.Equal(t, 1, tracker.Submit(at(20), 2, -1))
	assert.Equal(t, 1, tracker.Phase().Speculative)
	assert.Equal(t, 2, tracker.Phase().FreeSlots)
	for s := 25.; s <= 120; s += 5 {
		d := tracker.Report(at(s), 2, 0, restart.Progress{Done: s / 1000})
		require.Equal(t, restart.Keep, d.Action, "%v s: %v", s, d)
		require.Equal(t, restart.CopyTooRecent, d.Reason, "%v s", s)
		task, d := tracker.Next(at(s), 0)
		require.Equal(t, -1, task, d)
	}
	tracker.Begin(at(120), 2, 1, 3)
	tracker.Report(at(125), 2, 1, restart.Progress{Done: 0.5}) // ends at 130 s, if it began at 120 s
	assert.Equal(t, 5*time.Second, tracker.Decide(at(125), 2).Remaining)
	assert.Equal(t, []int{0}, tracker.Finish(at(130), 2, 1, nil))
	l := tracker.Ledger()
	assert.Equal(t, 170*time.Second, l.Used, "three of 10 s, one of 130 s, and 10 s of the copy")
	assert.Equal(t, 1, l.Won)
	assert.Zero(t, l.Ignored)
}

// A task of whose copies none has begun is not judged, under any policy.
func TestSubmittedTaskIsNotJudged(t *testing.T) {
	for name, policy := range policies() {
		tracker := newTracker(t, restart.Config{Tasks: 8, Slots: 8, Interval: time.Second, Policy: everything{policy}})
		for task := range 7 {
			tracker.Start(at(0), task, -1)
		}
		assert.Equal(t, 0, tracker.Submit(at(0), 7, 5), name)
		assert.Equal(t, 0, tracker.Phase().Waiting, name)
		for task := range 7 {
			tracker.Report(at(5), task, 0, restart.Progress{Done: 0.5})
			tracker.Finish(at(10), task, 0, nil)
		}
		assert.Equal(t, 1., tracker.Phase().Peers.MeanScore, name)
		notRunning := restart.Decision{Reason: restart.NotRunning}
		assert.Equal(t, notRunning, tracker.Decide(at(1000), 7), name)
		tracker.Sweep(at(1000), func(task int, d restart.Decision) { t.Errorf("%s: sweep visits %d: %v", name, task, d) })
		task, d := tracker.Next(at(1000), 2)
		assert.Equal(t, -1, task, name)
		assert.Equal(t, restart.NothingToDo, d.Reason, name)
		assert.NotEqual(t, restart.NotRunning, tracker.Report(at(1001), 7, 0, restart.Progress{Done: 0.1}).Reason, "%s: begun", name)
	}
}
