package tracker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
)

// A snapshot holds a trial with its attempts, or no trial and no attempt on trial. Its stake is not negative, and 0
// without an attempt on trial. Every other snapshot is rejected.
func TestRestoreRejectsATrialWithoutAttempts(t *testing.T) {
	tr, err := New(Config{Tasks: 4, Slots: 4, Interval: time.Second})
	require.NoError(t, err)
	tr.Start(time.Unix(0, 0), 0, 0)
	b := &tr.phase.book
	trial := &b.history(&b.tasks[0]).trial
	for x, right := range map[restart.Trial]bool{
		{}: true,
		{State: restart.CopyOnTrial, Copies: 2, Stake: time.Second}: true,
		{State: restart.RestartOnTrial, Copies: 1}:                  true,
		{State: restart.CopyOnTrial}:                                false,
		{State: restart.CopyOnTrial, Stake: time.Second}:            false,
		{Copies: 1}:                     false,
		{Copies: 1, Stake: time.Second}: false,
		{Stake: time.Second}:            false,
		{State: restart.CopyOnTrial, Copies: 1, Stake: -1}: false,
	} {
		*trial = x
		data, err := tr.MarshalBinary()
		require.NoError(t, err)
		if _, err = Restore(Config{}, data); right {
			assert.NoError(t, err, "%+v", x)
		} else {
			assert.ErrorContains(t, err, "holds an open trial without an attempt, or an attempt without a trial", "%+v", x)
		}
	}
}

// A growing phase has learnt from no more attempts on a machine than have ended there. Every other snapshot is rejected.
func TestRestoreRejectsMoreLearntThanEnded(t *testing.T) {
	tr, err := New(Config{Recent: time.Minute, Slots: 4, Interval: time.Second})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	for range 3 {
		task := tr.Add(1)
		tr.Start(now, task, 7)
		now = now.Add(time.Second)
		tr.Finish(now, task, 0)
	}
	ended := &tr.phase.fleet.machines[0].suspicion.ended
	for *ended = 4; *ended >= 0; *ended-- {
		data, err := tr.MarshalBinary()
		require.NoError(t, err)
		if _, err = Restore(Config{}, data); *ended >= 3 {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, "has learnt from more attempts than have ended")
		}
	}
}
