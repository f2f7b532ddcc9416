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

// Machine 3 of four machines is known to be slow. Attempts of task 0 have failed on machines 0 and 1, and the third
// attempt hangs on machine 2. Machines 0 and 1 are idle. Each of them may get a copy, although it failed there
// before. Machine 3 gets no copy.
func TestHungTaskIsCopiedToATriedMachine(t *testing.T) {
	know, err := tracker.NewKnowledge(tracker.KnowledgeConfig{})
	require.NoError(t, err)
	for machine := range 4 {
		for k := range uint64(8) {
			ran := 10 * time.Second
			if machine == 3 {
				ran *= 8
			}
			know.Machines().End(at(float64(k)), machine, k, machines.Attempt{Ran: ran, Usual: 10 * time.Second, Done: 1}, machines.Finished)
		}
	}
	require.Equal(t, machines.Slow, know.Machines().Judge(3).Standing)
	for idle := range 4 {
		tr := newTracker(t, tracker.Config{
			Tasks: 12, Slots: 4, Machines: 4, Interval: time.Second, Policy: restart.Mantri{}, Knowledge: know,
		})
		now := 100.
		for task := 1; task < 12; task++ {
			tr.Start(at(now), task, task%3)
			tr.Finish(at(now+10), task, 0)
			now += 10
		}
		for machine := range 2 {
			tr.Start(at(now), 0, machine)
			tr.Fail(at(now+1), 0, machine)
			now++
		}
		require.Equal(t, 2, tr.Start(at(now), 0, 2))
		tr.Sweep(at(now+100), func(tracker.Answer) {})
		a := tr.Next(at(now+100), idle)
		if idle < 2 {
			assert.Equal(t, restart.Copy, a.Action, "machine %d: %v", idle, a)
			assert.True(t, a.Avoid.Has(2) && a.Avoid.Has(3) && a.Avoid.Len() == 2, "%v", a)
			continue
		}
		assert.Equal(t, restart.Keep, a.Action, "machine %d: %v", idle, a)
	}
}

// The host knows the way from the data of a task to each machine. A policy reads the factor of an attempt's machine. If
// the machine of an attempt is not known, the policy reads 0, and not the factor of the best machine.
func TestAnAttemptOnAnUnknownMachineHasNoLocation(t *testing.T) {
	var saw restart.Task
	tr := newTracker(t, tracker.Config{
		Tasks: 2, Slots: 4, Interval: time.Second, Policy: watched{restart.LeastCost{}, &saw},
		Path: func(_, machine int) float64 {
			if machine == 3 {
				return 4
			}
			return .5
		},
	})
	tr.Start(at(0), 0, 3)
	tr.Start(at(0), 0, -1)
	tr.Decide(at(10), 0)
	require.Len(t, saw.Attempts, 2)
	for _, a := range saw.Attempts {
		assert.Equal(t, map[int]float64{3: 4, -1: 0}[a.Machine], a.Location, "machine %d", a.Machine)
	}
}

// A task that has had one attempt has no time since a copy, also if this attempt was restarted.
func TestATaskWithoutACopyHasNoTimeSinceOne(t *testing.T) {
	var saw restart.Task
	tr := newTracker(t, tracker.Config{
		Tasks: 1, Slots: 4, Interval: time.Second, Policy: watched{restart.LeastCost{}, &saw},
	})
	tr.Start(at(0), 0, 0)
	tr.Kill(at(5), 0, 0)
	tr.Start(at(6), 0, 1)
	tr.Decide(at(10), 0)
	assert.Zero(t, saw.SinceCopy)
	tr.Start(at(11), 0, 2)
	tr.Decide(at(14), 0)
	assert.Equal(t, 3*time.Second, saw.SinceCopy)
}
