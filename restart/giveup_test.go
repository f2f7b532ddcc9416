package restart_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
)

func TestGiveUp(t *testing.T) {
	tracker, err := restart.NewTracker(restart.Config{Tasks: 3, Slots: 3, Interval: time.Second})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	tracker.Start(now, 0, 0)
	tracker.GiveUp(now, 0) // it runs
	tracker.GiveUp(now, 3) // there is no such task
	assert.Equal(t, 2, tracker.Ledger().Ignored)
	tracker.Fail(now, 0, 0)
	tracker.GiveUp(now, 0)
	assert.Equal(t, 2, tracker.Phase().Waiting)
	assert.Equal(t, -1, tracker.Start(now, 0, 1), "a task that was given up does not start")
	tracker.LoseOutput(now, 0)
	tracker.GiveUp(now, 0)
	assert.Equal(t, 5, tracker.Ledger().Ignored)
	for want := 1; want < 3; want++ {
		task, d := tracker.Next(now, 0)
		require.Equal(t, restart.Start, d.Action)
		assert.Equal(t, want, task)
		tracker.Start(now, task, 0)
	}
	_, d := tracker.Next(now, 0)
	assert.Equal(t, restart.Keep, d.Action)
}
