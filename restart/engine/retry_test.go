package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// retrying returns a phase of two tasks and one slot, in which a task rests for a second times the number of its failures.
func retrying(t *testing.T, change func(*engine.Config)) (*engine.Phase, engine.Config) {
	c := engine.Config{
		Tasks: 2, Slots: 1, Interval: time.Second, MaxFailures: 3,
		BackOff: func(task, failures int) time.Duration { return time.Duration(3*failures) * time.Second },
	}
	change(&c)
	p, err := engine.New(c)
	require.NoError(t, err)
	return p, c
}

// ids returns the actions as "submit 0.0" and so on.
func ids(actions []engine.Action) (all []string) {
	for _, a := range actions {
		all = append(all, a.Op.String()+" "+a.ID)
	}
	return all
}

func report(id string, task int, state engine.State, begun, ended float64) engine.Attempt {
	a := engine.Attempt{ID: id, Task: task, State: state, Machine: "n1", Begun: at(begun)}
	if ended > 0 {
		a.Ended = at(ended)
	}
	return a
}

// A failed task rests for its back-off. Meanwhile the other task gets the slot.
func TestAFailedTaskRests(t *testing.T) {
	p, c := retrying(t, func(*engine.Config) {})
	assert.Equal(t, []string{"submit 0.0"}, ids(p.Poll(at(0), nil).Actions))
	assert.Equal(t, []string{"submit 1.0"}, ids(p.Poll(at(1), []engine.Attempt{report("0.0", 0, engine.Failed, 0, 1)}).Actions))
	assert.Equal(t, 0, p.Facts().Waiting, "the task that rests does not wait for the slot")
	assert.Equal(t, []string{"publish 1.0"}, ids(p.Poll(at(2), []engine.Attempt{report("1.0", 1, engine.Succeeded, 1, 2)}).Actions))
	p.Published("1.0")

	data, err := p.MarshalBinary()
	require.NoError(t, err)
	_, err = engine.Restore(engine.Config{}, engine.Saved{Snapshot: data})
	require.ErrorContains(t, err, "restart/engine: Config.BackOff is <nil>, want a function, because the phase had one")
	c.Machines, err = engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "n1"}}})
	require.NoError(t, err)
	restored, err := engine.Restore(c, engine.Saved{Snapshot: data})
	require.NoError(t, err)
	for _, p := range []*engine.Phase{p, restored} {
		assert.Empty(t, p.Poll(at(3), nil).Actions)
		assert.Equal(t, []string{"submit 0.1"}, ids(p.Poll(at(4), nil).Actions), "three seconds after the failure")
		assert.Empty(t, p.Poll(at(5), []engine.Attempt{report("0.1", 0, engine.Failed, 4, 5)}).Actions)
		assert.Empty(t, p.Poll(at(10), nil).Actions, "six seconds after the second failure")
		assert.Equal(t, []string{"submit 0.2"}, ids(p.Poll(at(11), nil).Actions))
		p.Poll(at(12), []engine.Attempt{report("0.2", 0, engine.Failed, 11, 12)})
		assert.Equal(t, []int{0}, p.GivenUp())
		assert.True(t, p.Done())
		assert.Equal(t, 0, p.Ledger().Ignored)
	}
}

// A task that rests may be given up, so that another phase runs it. While an attempt of the task ignores its end, the
// task is not offered.
func TestARestingTaskIsGivenUp(t *testing.T) {
	p, _ := retrying(t, func(c *engine.Config) { c.Timeout = 10 * time.Second })
	p.SetEligible(1, false, false)
	p.Poll(at(0), nil)
	p.Poll(at(1), []engine.Attempt{report("0.0", 0, engine.Failed, 0, 1)})
	assert.Equal(t, []engine.Rest{{Task: 0, Failures: 1, For: 3 * time.Second}}, p.Resting())
	p.GiveUp(1)
	p.GiveUp(-1)
	p.GiveUp(2)
	assert.Empty(t, p.GivenUp(), "task 1 does not rest")
	p.GiveUp(0)
	assert.Equal(t, []int{0}, p.GivenUp())
	assert.Empty(t, p.Resting())
	running := report("1.0", 1, engine.Running, 1, 0)
	for now := 2.; now <= 30; now++ {
		for _, id := range ids(p.Poll(at(now), []engine.Attempt{running}).Actions) {
			require.Contains(t, []string{"cancel 1.0", "submit 1.1"}, id)
		}
		require.Empty(t, p.Resting(), "the attempt still runs")
	}
	p.GiveUp(0)
	assert.Equal(t, []int{0}, p.GivenUp())
	assert.False(t, p.Done())
}

// A task whose machine was lost is submitted again at once.
func TestALostAttemptDoesNotRest(t *testing.T) {
	p, _ := retrying(t, func(*engine.Config) {})
	p.Poll(at(0), nil)
	assert.Equal(t, []string{"submit 0.1"}, ids(p.Poll(at(1), []engine.Attempt{report("0.0", 0, engine.Lost, 0, 1)}).Actions))
}

// While a task rests, the engine shows another attempt of the task. The phase uses it.
func TestARestingTaskIsAdopted(t *testing.T) {
	p, _ := retrying(t, func(c *engine.Config) { c.Tasks = 1 })
	p.Poll(at(0), nil)
	assert.Empty(t, p.Poll(at(1), []engine.Attempt{report("0.0", 0, engine.Failed, 0, 1)}).Actions)
	assert.Empty(t, p.Poll(at(2), []engine.Attempt{report("mine", 0, engine.Running, 2, 0)}).Actions)
	assert.Empty(t, p.Poll(at(5), []engine.Attempt{report("mine", 0, engine.Running, 2, 0)}).Actions, "no copy beside it")
	assert.Equal(t, []string{"publish mine"}, ids(p.Poll(at(6), []engine.Attempt{report("mine", 0, engine.Succeeded, 2, 6)}).Actions))
	assert.Equal(t, 0, p.Ledger().Ignored)
}

// An attempt that runs for longer than the timeout is cancelled, and its task rests like a failed task. If the attempt
// succeeds before it is cancelled, its result is used.
func TestTimeout(t *testing.T) {
	for _, succeeds := range []bool{false, true} {
		p, c := retrying(t, func(c *engine.Config) { c.Tasks, c.Timeout, c.Policy = 1, 10*time.Second, restart.Never{} })
		p.Poll(at(0), nil)
		running := report("0.0", 0, engine.Running, 5, 0)
		for now := 5.0; now < 15; now++ {
			require.Empty(t, p.Poll(at(now), []engine.Attempt{running}).Actions)
		}
		data, err := p.MarshalBinary()
		require.NoError(t, err)
		assert.Equal(t, []string{"cancel 0.0"}, ids(p.Poll(at(15), []engine.Attempt{running}).Actions))
		if succeeds {
			assert.Equal(t, []string{"publish 0.0"}, ids(p.Poll(at(16), []engine.Attempt{report("0.0", 0, engine.Succeeded, 5, 15)}).Actions))
			assert.Equal(t, 0, p.Ledger().Ignored)
			continue
		}
		assert.Empty(t, p.Poll(at(16), []engine.Attempt{report("0.0", 0, engine.Cancelled, 5, 16)}).Actions)
		assert.Empty(t, p.Poll(at(17), nil).Actions)
		assert.Equal(t, []string{"submit 0.1"}, ids(p.Poll(at(18), nil).Actions))
		assert.Equal(t, 1, p.Ledger().Failed)

		machines, err := engine.NewMachines(engine.MachinesConfig{})
		require.NoError(t, err)
		machines.SetDown("n1", false)
		c.Machines = machines
		again, err := engine.Restore(c, engine.Saved{Snapshot: data})
		require.NoError(t, err)
		assert.Equal(t, []string{"cancel 0.0"}, ids(again.Poll(at(15), []engine.Attempt{running}).Actions))
	}
	_, err := engine.New(engine.Config{Tasks: 1, Interval: time.Second, Timeout: -1})
	assert.ErrorContains(t, err, "Config.Timeout is -1ns")
}

// A machine counts as lost and comes back with the result of an attempt. The result is used, unless another attempt of
// the task was faster.
func TestALostAttemptMayStillWin(t *testing.T) {
	for _, faster := range []bool{false, true} {
		p, _ := retrying(t, func(c *engine.Config) { c.Tasks, c.Slots = 1, 2 })
		p.Poll(at(0), nil)
		assert.Equal(t, []string{"submit 0.1"}, ids(p.Poll(at(2), []engine.Attempt{report("0.0", 0, engine.Lost, 0, 0)}).Actions))
		running := report("0.1", 0, engine.Running, 2, 0)
		assert.Empty(t, p.Poll(at(3), []engine.Attempt{report("0.0", 0, engine.Running, 0, 0), running}).Actions, "it is not taken back")
		if faster {
			assert.Equal(t, []string{"publish 0.1"}, ids(p.Poll(at(4), []engine.Attempt{report("0.1", 0, engine.Succeeded, 2, 4)}).Actions))
			p.Published("0.1")
			assert.Empty(t, p.Poll(at(5), []engine.Attempt{report("0.0", 0, engine.Succeeded, 0, 5)}).Actions)
			continue
		}
		list := []engine.Attempt{report("0.0", 0, engine.Succeeded, 0, 4), running}
		assert.Equal(t, []string{"publish 0.0", "cancel 0.1"}, ids(p.Poll(at(4), list).Actions))
		p.Published("0.0")
		assert.True(t, p.Done())
		assert.Equal(t, 1, p.Ledger().Finished)
		assert.Equal(t, 0, p.Ledger().Ignored)
	}
}

// An attempt ignores its end, and its task may not be copied. The task waits for it once more as long as the timeout,
// and then gets another attempt.
func TestAnAttemptIgnoresItsTimeout(t *testing.T) {
	p, _ := retrying(t, func(c *engine.Config) { c.Tasks, c.Slots, c.Timeout = 1, 2, 10*time.Second })
	p.SetEligible(0, false, false)
	p.Poll(at(0), nil)
	running := []engine.Attempt{report("0.0", 0, engine.Running, 0, 0)}
	var got []string
	for now := 1.0; now < 20; now++ {
		for _, id := range ids(p.Poll(at(now), running).Actions) {
			if id != "cancel 0.0" {
				got = append(got, id)
			}
		}
	}
	assert.Empty(t, got, "the attempt may still end")
	assert.Contains(t, ids(p.Poll(at(20), running).Actions), "submit 0.1")
	running = append(running, report("0.1", 0, engine.Running, 20, 0))
	p.Poll(at(21), running)
	running[0] = report("0.0", 0, engine.Succeeded, 0, 22)
	assert.Equal(t, []string{"publish 0.0", "cancel 0.1"}, ids(p.Poll(at(22), running).Actions))
}

// An attempt that was cancelled in the queue of its machine ignores its Cancel, and its task may not be copied. It has not
// begun, so its task waits for it longer than the timeout: it may begin at any moment.
func TestAQueuedAttemptIgnoresItsCancel(t *testing.T) {
	machines, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "n1", Slots: 1}, {Name: "n2", Slots: 1}}})
	require.NoError(t, err)
	p, _ := retrying(t, func(c *engine.Config) { c.Tasks, c.Timeout, c.Machines = 1, 10*time.Second, machines })
	p.SetEligible(0, false, false)
	require.Equal(t, []string{"submit 0.0"}, ids(p.Poll(at(0), nil).Actions))
	machines.SetDown("n1", true)
	queued := []engine.Attempt{{ID: "0.0", State: engine.Queued, Machine: "n1"}}
	require.Equal(t, []string{"cancel 0.0"}, ids(p.Poll(at(1), queued).Actions))
	for now := 2.; now < 30; now++ {
		for _, id := range ids(p.Poll(at(now), queued).Actions) {
			require.Equal(t, "cancel 0.0", id, "after %v s", now)
		}
	}
	queued[0].State = engine.Cancelled
	assert.Equal(t, []string{"submit 0.1"}, ids(p.Poll(at(30), queued).Actions))
}

// Two failed tasks of a growing phase rest, and the first is forgotten. The second goes on resting, and is then submitted.
func TestOneOfTwoRestingTasksIsForgotten(t *testing.T) {
	p, _ := retrying(t, func(c *engine.Config) { c.Tasks, c.Slots, c.Recent = 0, 2, 8 })
	p.Add(1)
	p.Add(1)
	require.Len(t, p.Poll(at(0), nil).Actions, 2)
	failed := []engine.Attempt{report("0.0", 0, engine.Failed, 0, 1), report("1.0", 1, engine.Failed, 0, 1)}
	require.Len(t, p.Poll(at(1), failed).Rests, 2)
	p.Forget(0)
	turn := p.Poll(at(2), nil)
	assert.Empty(t, turn.Actions)
	assert.Equal(t, []engine.Rest{{Task: 1, Failures: 1, For: 2 * time.Second}}, turn.Rests)
	assert.Equal(t, []string{"submit 1.1"}, ids(p.Poll(at(4), nil).Actions))
}
