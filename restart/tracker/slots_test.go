package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A phase without slots starts and copies nothing, until SetSlots gives it slots.
func TestAPhaseWithoutSlotsStartsNothing(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 1, Interval: time.Second})
	a := tr.Next(start, 0)
	assert.Equal(t, restart.Keep, a.Action)
	assert.Equal(t, restart.NoFreeSlot, a.Reason)
	assert.Equal(t, -1, a.Task)
	tr.SetSlots(1)
	assert.Equal(t, restart.Start, tr.Next(start, 0).Action)
	tr.Start(start, 0, 0)
	tr.SetSlots(0)
	assert.Equal(t, restart.NothingToDo, tr.Next(start, 0).Reason)
	tr.Finish(at(1), 0, 0)
	tr.Close(at(2))
	assert.Equal(t, restart.NothingToDo, tr.Next(at(2), 0).Reason)
	tr.LoseOutput(at(3), 0)
	assert.Equal(t, restart.NoFreeSlot, tr.Next(at(3), 0).Reason)
	tr.SetSlots(1)
	assert.Equal(t, restart.Start, tr.Next(at(3), 0).Action)
}

// A phase remembers the machines that ran its attempts, and not the machines that only asked.
func TestMachinesThatOnlyAskAreForgotten(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 4, Slots: 8, Machines: 2, Interval: time.Second})
	for task := range 4 {
		tr.Start(start, task, task%2)
	}
	before, _ := tr.MarshalBinary()
	for machine := range 1000 {
		tr.Next(at(1), machine)
		tr.Leave(at(1), machine, time.Time{})
	}
	after, _ := tr.MarshalBinary()
	assert.Less(t, len(after), len(before)+50)
	assert.Equal(t, 2, tr.Phase().Machines)
}
