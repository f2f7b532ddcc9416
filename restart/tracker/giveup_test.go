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
