package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

func TestATaskThatIsGivenUpDoesNotStart(t *testing.T) {
	tr, err := tracker.New(tracker.Config{Tasks: 3, Slots: 3, Interval: time.Second})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	tr.Start(now, 0, 0)
	tr.GiveUp(now, 0) // the task runs
	tr.GiveUp(now, 3) // there is no such task
	assert.Equal(t, 2, tr.Ledger().Ignored)
	tr.Fail(now, 0, 0)
	tr.GiveUp(now, 0)
	assert.Equal(t, 2, tr.Phase().Waiting)
	assert.Equal(t, -1, tr.Start(now, 0, 1), "a task that was given up does not start")
	tr.LoseOutput(now, 0)
	tr.GiveUp(now, 0)
	assert.Equal(t, 5, tr.Ledger().Ignored)
	for want := 1; want < 3; want++ {
		d := tr.Next(now, 0)
		require.Equal(t, restart.Start, d.Action)
		assert.Equal(t, want, d.Task)
		tr.Start(now, d.Task, 0)
	}
	d := tr.Next(now, 0)
	assert.Equal(t, restart.Keep, d.Action)
}

// A task that was given up for a while waits again after Retry, and is started like any other task.
func TestATaskThatIsRetriedStarts(t *testing.T) {
	tr, err := tracker.New(tracker.Config{Tasks: 2, Slots: 2, Interval: time.Second})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	tr.Retry(now, 0) // the task waits already
	tr.Start(now, 0, 0)
	tr.Retry(now, 0) // the task runs
	tr.Retry(now, 2) // there is no such task
	assert.Equal(t, 3, tr.Ledger().Ignored)
	tr.Fail(now, 0, 0)
	tr.GiveUp(now, 0)
	assert.Equal(t, 1, tr.Phase().Waiting)
	tr.Retry(now, 0)
	tr.Retry(now, 0)
	assert.Equal(t, 2, tr.Phase().Waiting, "the second call changes nothing")
	assert.Equal(t, 4, tr.Ledger().Ignored)
	assert.Equal(t, 1, tr.Start(now, 0, 1))
	tr.Start(now, 1, 0)
	assert.Equal(t, restart.Keep, tr.Next(now, 0).Action)
}
