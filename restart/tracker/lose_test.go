package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart/tracker"
)

// The output of task 0 is lost, and then a worker repeats its Finish. The task still waits and runs again, and the end
// of its new attempt counts. A restored phase behaves the same.
func TestARepeatedFinishDoesNotHideALostOutput(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 1, Slots: 1, Interval: time.Second})
	tr.Start(at(0), 0, 0)
	tr.Finish(at(10), 0, 0)
	tr.LoseOutput(at(11), 0)
	data, err := tr.MarshalBinary()
	assert.NoError(t, err)
	restored, err := tracker.Restore(tracker.Config{}, data)
	assert.NoError(t, err)
	for _, tr := range []*tracker.Tracker{tr, restored} {
		a := tr.Apply(tracker.Event{Kind: tracker.Finished, Time: at(12), Task: 0, Attempt: 0})
		assert.True(t, a.Ignored)
		assert.Equal(t, 1, tr.Phase().Waiting)
		assert.Zero(t, tr.Ledger().Late)
		assert.Equal(t, 1, tr.Start(at(13), 0, 0))
		tr.Kill(at(14), 0, 1)
		tr.Finish(at(15), 0, 1)
		assert.Equal(t, 1, tr.Ledger().Late, "a success after the kill counts")
		assert.Zero(t, tr.Phase().Waiting)
	}
}
