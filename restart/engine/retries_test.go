package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// insists copies, or restarts, whatever runs.
type insists restart.Action

func (a insists) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	if restart.Action(a) == restart.Copy && len(t.Attempts) > 1 {
		return restart.Decision{}
	}
	return restart.Decision{Action: restart.Action(a), Reason: restart.IdleSlot, Gain: 1}
}

func retries(t *testing.T, c engine.Config) *engine.Phase {
	t.Helper()
	c.EngineRetries, c.Interval = true, time.Second
	p, err := engine.New(c)
	require.NoError(t, err)
	return p
}

// A queue of its own starts both tasks and tries one of them fifty times, each time under another name. The phase submits
// nothing, gives up nothing, and takes the attempt that ends the task as its result.
func TestTheEngineTriesAgain(t *testing.T) {
	p := retries(t, engine.Config{Tasks: 2, Slots: 4, Policy: restart.Never{}})
	for k := range 50 {
		states := []engine.State{engine.Failed, engine.Lost, engine.Cancelled}
		turn := p.Push(at(float64(2*k)), []engine.Attempt{{ID: fmt.Sprint("try", k), State: engine.Running, Begun: at(float64(2 * k))}})
		require.Empty(t, turn)
		turn = p.Push(at(float64(2*k+1)), []engine.Attempt{{ID: fmt.Sprint("try", k), State: states[k%3]}})
		require.Empty(t, turn)
		require.Zero(t, p.Facts().FreeSlots-4, "nothing runs")
	}
	turn := p.Push(at(100), []engine.Attempt{{ID: "last", State: engine.Succeeded}, {ID: "other", Task: 1, State: engine.Succeeded}})
	require.Len(t, turn.Actions, 2)
	for i, id := range []string{"last", "other"} {
		assert.Equal(t, engine.Action{Op: engine.Publish, Task: i, Attempt: turn.Actions[i].Attempt, ID: id}, turn.Actions[i])
		p.Published(id)
	}
	assert.True(t, p.Done())
}

// An attempt that hangs is ended, and its reason says why. The phase leaves the next attempt to the engine.
func TestARescueIsAnEnd(t *testing.T) {
	for reason, c := range map[restart.Reason]engine.Config{
		restart.Overdue:  {Policy: restart.Never{}, Timeout: 30 * time.Second},
		restart.IdleSlot: {Policy: insists(restart.Restart)},
	} {
		c.Tasks, c.Slots = 1, 2
		p := retries(t, c)
		running := engine.Attempt{ID: "job7-1", State: engine.Running, Begun: at(0), Machine: "w1"}
		var ends []engine.Action
		for k := 0; k < 40 && len(ends) == 0; k++ {
			ends = p.Poll(at(float64(k)), []engine.Attempt{running}).Actions
		}
		require.Len(t, ends, 1, "%v", reason)
		assert.Equal(t, engine.Cancel, ends[0].Op)
		assert.Equal(t, "job7-1", ends[0].ID)
		assert.Equal(t, reason, ends[0].Decision.Reason)
		turn := p.Poll(at(41), []engine.Attempt{{ID: "job7-1", State: engine.Cancelled, Machine: "w1"}})
		assert.Empty(t, turn.Actions, "%v: the engine tries again by itself", reason)
		turn = p.Poll(at(42), []engine.Attempt{{ID: "job7-2", State: engine.Succeeded, Machine: "w2", Begun: at(41)}})
		require.Len(t, turn.Actions, 1)
		assert.Equal(t, "publish job7-2 on w2", turn.Actions[0].String())
	}
}

// A task whose copy has failed gets no other copy beside the same attempt, also after a restore, and gets one beside the
// next attempt. What the host says about copies is not forgotten.
func TestAFailedCopyIsNotMadeAgain(t *testing.T) {
	for _, host := range []bool{true, false} {
		p := retries(t, engine.Config{Tasks: 1, Slots: 4, Policy: insists(restart.Copy)})
		first := engine.Attempt{ID: "a", State: engine.Running, Begun: at(0)}
		turn := p.Poll(at(1), []engine.Attempt{first})
		require.Len(t, turn.Actions, 1)
		require.Equal(t, engine.Submit, turn.Actions[0].Op)
		require.Equal(t, 1, turn.Actions[0].Attempt)
		turn = p.Poll(at(2), []engine.Attempt{first, {ID: "0.1", State: engine.Failed}})
		require.Empty(t, turn.Actions)
		p.SetEligible(0, host, true)
		data, err := p.MarshalBinary()
		require.NoError(t, err)
		p, err = engine.Restore(engine.Config{Policy: insists(restart.Copy)}, engine.Saved{Snapshot: data})
		require.NoError(t, err)
		for k := range 20 {
			require.Empty(t, p.Poll(at(float64(3+k)), []engine.Attempt{first}).Actions)
		}
		require.Empty(t, p.Poll(at(23), []engine.Attempt{{ID: "a", State: engine.Failed}}).Actions)
		copies := 0
		for k := range 3 {
			copies += len(p.Poll(at(float64(24+k)), []engine.Attempt{{ID: "b", State: engine.Running, Begun: at(24)}}).Actions)
		}
		assert.Equal(t, host, copies > 0)
	}
}

// A copy that is lost with its machine shows nothing about the task, and is made again.
func TestALostCopyIsMadeAgain(t *testing.T) {
	p := retries(t, engine.Config{Tasks: 1, Slots: 4, Policy: insists(restart.Copy)})
	first := engine.Attempt{ID: "a", State: engine.Running, Begun: at(0)}
	require.Len(t, p.Poll(at(1), []engine.Attempt{first}).Actions, 1)
	copies := 0
	for k := range 3 {
		list := []engine.Attempt{first, {ID: "0.1", State: engine.Lost, Machine: "w"}}
		copies += len(p.Poll(at(float64(2+k)), list).Actions)
	}
	assert.Positive(t, copies)
}

// What the engine does by itself, the phase does not count.
func TestNothingBesideTheRetriesOfTheEngine(t *testing.T) {
	for field, c := range map[string]engine.Config{
		"Clones": {Clones: 2}, "MaxFailures": {MaxFailures: 3}, "MaxLost": {MaxLost: 1}, "Failures": {Failures: []int{1}},
		"BackOff": {BackOff: func(int, int) time.Duration { return 0 }},
	} {
		c.Tasks, c.Interval, c.EngineRetries = 1, time.Second, true
		_, err := engine.New(c)
		assert.ErrorContains(t, err, field)
	}
}
