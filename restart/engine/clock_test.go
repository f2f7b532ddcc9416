package engine_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/rules"
)

// A step of an hour back in the caller's clock costs nothing: the straggler is copied when its rule says so.
func TestClockStepBackDelaysNoCopy(t *testing.T) {
	polls := func(step time.Duration) int {
		p, err := engine.New(engine.Config{
			Tasks: 4, Slots: 8, Interval: time.Second, Policy: rules.Flink{},
		})
		require.NoError(t, err)
		now := epoch
		var attempts []engine.Attempt
		for poll := 1; poll <= 4000; poll++ {
			for _, a := range p.Poll(now, attempts).Actions {
				if a.Decision.Action == restart.Copy {
					return poll
				}
				attempts = append(attempts, engine.Attempt{ID: a.ID, Task: a.Task, Machine: "h" + a.ID, State: engine.Running})
			}
			if poll == 4 {
				for i := range attempts[:3] {
					attempts[i].State = engine.Succeeded
				}
				now = now.Add(step)
			}
			now = now.Add(time.Second)
		}
		return 0
	}
	without := polls(0)
	assert.InDelta(t, 62, without, 2, "Flink's rule waits for a minute")
	assert.InDelta(t, without, polls(-time.Hour), 1, "the step of the clock costs one second")
}

// After a step back of the clock, reports with earlier dates are treated as new, and no machine rests for ever.
func TestReportsAndRestsGoOnAfterAClockStep(t *testing.T) {
	machines, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 2}, {Name: "b", Slots: 2}}})
	require.NoError(t, err)
	p, err := engine.New(engine.Config{Tasks: 2, Interval: time.Second, Machines: machines, Journal: true})
	require.NoError(t, err)
	first := slices.Clone(p.Poll(epoch, nil).Actions)
	require.Len(t, first, 2)
	lost := engine.Attempt{ID: first[0].ID, Task: first[0].Task, Machine: first[0].Machine, State: engine.Lost}
	p.Poll(epoch.Add(time.Second), []engine.Attempt{lost})
	assert.Len(t, machines.Resting(epoch.Add(2*time.Second)), 1)
	back := epoch.Add(-time.Hour)
	p.Poll(back, nil)
	assert.Empty(t, machines.Resting(back))

	running := engine.Attempt{ID: first[1].ID, Task: first[1].Task, Machine: first[1].Machine, State: engine.Running, AsOf: epoch}
	running.Progress.Done = 0.1
	p.Poll(back.Add(time.Second), []engine.Attempt{running})
	running.AsOf, running.Progress.Done = back.Add(2*time.Second), 0.5
	p.Poll(back.Add(2*time.Second), []engine.Attempt{running})
	assert.Equal(t, 2, strings.Count(string(p.Journal()), " progress "), "the second report counts as newer:\n%s", p.Journal())
}
