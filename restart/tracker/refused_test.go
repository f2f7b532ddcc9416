package tracker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// oneSlow knows ten machines; the last takes ten times as long.
func oneSlow(t *testing.T) *tracker.Knowledge {
	t.Helper()
	know := new(tracker.Knowledge)
	for i := range 60 {
		ran := 10 * time.Second
		if i%10 == 9 {
			ran *= 10
		}
		know.Machines().End(start, i%10, uint64(1e9+i), machines.Attempt{Ran: ran, Usual: 10 * time.Second, Done: 1}, machines.Finished)
	}
	return know
}

// A slow machine was refused for waiting tasks. Then its slots are no longer included in the free slots, whether the
// number of machines is known or not. After the machine is lost, no slots are subtracted.
func TestARefusedMachineHasNoFreeSlots(t *testing.T) {
	// If the number of machines is unknown, events mention four machines, and the slow machine has a fourth of the slots.
	for known, free := range map[int]int{10: 87, 0: 97 - 100/4} {
		tr := newTracker(t, tracker.Config{Tasks: 3, Slots: 100, Machines: known, Interval: time.Second, Knowledge: oneSlow(t)})
		tr.Start(start, tr.Next(start, 0).Task, 0)
		require.Equal(t, restart.SlowMachine, tr.Next(start, 9).Reason)
		for machine := 1; machine < 3; machine++ {
			tr.Start(start, tr.Next(start, machine).Task, machine)
		}
		assert.Equal(t, free, tr.Phase().FreeSlots, "%d machines", known)
		tr.LoseMachine(start, 9)
		tr.SetSlots(90)
		assert.Equal(t, 87, tr.Phase().FreeSlots, "%d machines, one lost", known)
	}
}

// There are 92 idle slots, and one machine was refused. A slow task is copied. Its attempt is not killed.
func TestARefusedMachineDoesNotMakeSlotsScarce(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 8, Slots: 100, Interval: time.Second, Knowledge: oneSlow(t)})
	for machine := range 8 {
		tr.Start(start, tr.Next(start, machine).Task, machine)
		if machine == 0 {
			require.Equal(t, restart.SlowMachine, tr.Next(start, 9).Reason)
		}
	}
	for second := 1.; second <= 10; second++ {
		for task := range 7 {
			tr.Report(at(second), task, 0, tracker.Report{Done: second / 10})
		}
		tr.Report(at(second), 7, 0, tracker.Report{Done: second / 400})
	}
	for task := range 7 {
		tr.Finish(at(10), task, 0)
	}
	a := tr.Decide(at(11), 7)
	assert.Equal(t, restart.Copy, a.Action, "%v", a)
}
