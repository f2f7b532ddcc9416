package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

const period = 200 * time.Millisecond

func phase(t *testing.T, c *cluster, policy restart.Policy) *engine.Phase {
	t.Helper()
	p, err := engine.New(engine.Config{
		Work: c.work, Interval: period, Policy: policy, Machines: c.known(t, engine.MachinesConfig{}),
		Journal: true,
	})
	require.NoError(t, err)
	return p
}

// One machine of four is ten times slower than the others, and runs a quarter of the tasks.
func TestTasksOfASlowMachineAreRestartedElsewhere(t *testing.T) {
	none, _ := drive(t, fourMachines(64, 16, 10), phase(t, fourMachines(64, 16, 10), restart.Never{}), period, nil)
	c := fourMachines(64, 16, 10)
	p := phase(t, c, restart.Mantri{})
	took, log := drive(t, c, p, period, nil)
	assert.Greater(t, none, 20*time.Second)
	assert.Less(t, took, 6*time.Second, "two rounds of 2 s, and the time to notice the slow machine")
	assert.Equal(t, 64, p.Ledger().Finished)
	assert.Zero(t, p.Ledger().Ignored)
	for _, a := range log {
		if a.Op == engine.Submit && a.Decision.Action == restart.Restart {
			assert.NotEqual(t, "n3", a.Machine, "a restarted task must not return to the machine of its killed attempt")
			assert.Contains(t, a.Avoid, "n3")
		}
	}
}

// A second phase on the same machines knows which machine is slow.
func TestMachinesAreRememberedFromPhaseToPhase(t *testing.T) {
	c := fourMachines(64, 16, 10)
	machines := c.known(t, engine.MachinesConfig{})
	config := engine.Config{Work: c.work, Interval: period, Machines: machines}
	first, err := engine.New(config)
	require.NoError(t, err)
	drive(t, c, first, period, nil)
	assert.Equal(t, []string{"n3"}, machines.Slow())
	first.Release() // cancelled attempts still hold slots there
	c.attempts, c.work = nil, c.work[:48]
	config.Work = c.work
	second, err := engine.New(config)
	require.NoError(t, err)
	took, log := drive(t, c, second, period, nil)
	assert.Zero(t, second.Ledger().Restarts)
	assert.Less(t, took, 3*time.Second)
	for _, a := range log {
		assert.NotEqual(t, "n3", a.Machine)
	}
}

// If only the sizes of the tasks differ, nothing is copied.
func TestSkewedTasksAreLeftAlone(t *testing.T) {
	c := fourMachines(64, 16, 1)
	for i := range c.work {
		if i%8 == 0 {
			c.work[i] *= 5
		}
	}
	p := phase(t, c, restart.Mantri{})
	_, log := drive(t, c, p, period, nil)
	assert.Len(t, log, 64, "every task is submitted once")
}

// While a copy waits in the engine's queue, no second copy is made, and the copy is not a straggler.
func TestQueuedCopiesAreNotJudged(t *testing.T) {
	c := fourMachines(16, 16, 10)
	c.dispatch = 20 * time.Second // ten times what a task takes
	p := phase(t, c, nil)
	_, log := drive(t, c, p, period, nil)
	submitted := map[int]int{}
	for _, a := range log {
		if a.Op == engine.Submit {
			submitted[a.Task]++
		}
	}
	for task, n := range submitted {
		assert.LessOrEqual(t, n, 2, "task %d", task)
	}
	assert.Less(t, p.UnitTimes().Mean(), 10.0, "the time in the queue does not count as run time")
}

// The engine receives a job array, runs it in its own order, and chooses the machines by itself.
func TestJobArrayIsSubmittedAgainOnlyWithAReason(t *testing.T) {
	c := fourMachines(64, 4, 10)
	c.places = true
	for i := range c.work {
		c.submit(i, fmt.Sprintf("job_%d", i), "", nil)
	}
	p, err := engine.New(engine.Config{
		Work: c.work, Slots: 16, Interval: period, Machines: c.known(t, engine.MachinesConfig{}), Preloaded: true,
	})
	require.NoError(t, err)
	took, log := drive(t, c, p, period, nil)
	assert.Less(t, took, 18*time.Second)
	require.NotEmpty(t, log)
	for _, a := range log {
		assert.NotZero(t, a.Decision.Action, "an array's tasks are not submitted again without a reason: %+v", a)
		if a.Op == engine.Submit {
			assert.Contains(t, a.Avoid, "n3")
		}
	}
}

func TestClones(t *testing.T) {
	c := fourMachines(4, 4, 10)
	offers := 0
	p, err := engine.New(engine.Config{
		Work: c.work, Interval: period, Policy: restart.Never{}, Clones: 2,
		Machines: c.known(t, engine.MachinesConfig{}),
		OnEvent: func(e tracker.Event, _ tracker.Answer) {
			if e.Kind == tracker.Offered {
				offers++
			}
		},
	})
	require.NoError(t, err)
	took, _ := drive(t, c, p, period, nil)
	assert.Less(t, took, 3*time.Second)
	assert.Equal(t, 4, p.Ledger().Clones)
	assert.Zero(t, p.Ledger().Ignored)
	assert.LessOrEqual(t, offers, 20, "once each task has its clone, no slot is offered for a clone")
}

func TestOrder(t *testing.T) {
	c := fourMachines(8, 1, 1)
	deadline := []int{3, 1, 7, 2, 0, 6, 5, 4}
	p, err := engine.New(engine.Config{
		Tasks: 8, Interval: period, Policy: restart.Never{}, Machines: c.known(t, engine.MachinesConfig{}),
		Order: func(_ time.Time, waiting []int) {
			for i := range waiting {
				for j := i; j > 0 && deadline[waiting[j]] < deadline[waiting[j-1]]; j-- {
					waiting[j], waiting[j-1] = waiting[j-1], waiting[j]
				}
			}
		},
	})
	require.NoError(t, err)
	_, log := drive(t, c, p, period, nil)
	var order []int
	for _, a := range log {
		order = append(order, a.Task)
	}
	assert.Equal(t, []int{4, 1, 3, 0, 7, 6, 5, 2}, order)
}

// An order that loses or invents a task has no effect on the tasks.
func TestOrderThatLosesATaskHasNoEffect(t *testing.T) {
	for _, order := range []func(time.Time, []int){
		func(_ time.Time, w []int) { w[0] = w[1] },
		func(_ time.Time, w []int) { w[0] = -1 },
		func(_ time.Time, w []int) { w[len(w)-1] = 1 << 30 },
	} {
		c := fourMachines(8, 1, 1)
		p, err := engine.New(engine.Config{
			Tasks: 8, Interval: period, Machines: c.known(t, engine.MachinesConfig{}), Order: order,
		})
		require.NoError(t, err)
		drive(t, c, p, period, nil)
		assert.Equal(t, 8, p.Ledger().Finished)
		assert.NotZero(t, p.Ledger().Ignored)
	}
}

// A task that fails again and again is given up. A task whose attempt is lost with its machine is not to blame.
func TestTaskIsGivenUpForFailuresAndNotForLosses(t *testing.T) {
	c := fourMachines(16, 4, 1)
	c.fail = func(task int) bool { return task == 5 }
	p := phase(t, c, nil)
	var killed bool
	_, log := drive(t, c, p, period, func() {
		if c.now.Sub(epoch) > time.Second && !killed {
			killed, c.machines[1].dead = true, true
		}
	})
	assert.Equal(t, []int{5}, p.GivenUp())
	assert.Equal(t, 15, p.Ledger().Finished)
	attempts := map[int]int{}
	for _, a := range log {
		if a.Op == engine.Submit {
			attempts[a.Task]++
		}
	}
	assert.Equal(t, 4, attempts[5]-boolInt(attempts[5] > 4), "four failures, and perhaps one loss")
	replayed, err := journal.Replay(p.Journal(), journal.Options{})
	require.NoError(t, err)
	assert.Equal(t, string(p.Journal()), string(replayed))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A cancelled attempt may still be the first to succeed.
func TestCancelledCopySucceeds(t *testing.T) {
	p, err := engine.New(engine.Config{Tasks: 2, Slots: 3, Interval: time.Second, Policy: after(2 * time.Second)})
	require.NoError(t, err)
	p.Poll(epoch, nil)
	actions := p.Poll(epoch.Add(3*time.Second), []engine.Attempt{
		{ID: "0.0", State: engine.Running, Begun: epoch, Machine: "a"},
		{ID: "1.0", Task: 1, State: engine.Running, Begun: epoch.Add(2 * time.Second), Machine: "b"},
	}).Actions
	require.Len(t, actions, 2)
	assert.Equal(t, "cancel 0.0 on a: restart beyond-peers attempt=0", actions[0].String())
	assert.Equal(t, "submit 0.1 not on a: restart beyond-peers attempt=0", actions[1].String())
	actions = p.Poll(epoch.Add(4*time.Second), []engine.Attempt{{ID: "0.0", State: engine.Succeeded}}).Actions
	require.Len(t, actions, 2, "%v", actions)
	assert.Equal(t, "publish 0.0 on a", actions[0].String())
	assert.Equal(t, "0.1", actions[1].ID)
	assert.Equal(t, restart.Overtaken, actions[1].Decision.Reason)
	assert.Equal(t, 1, p.Ledger().Finished)
	assert.False(t, p.Done())
}

// after restarts an attempt that has run for some time: a custom policy.
type after time.Duration

func (a after) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	if t.Attempts[0].Elapsed > time.Duration(a) {
		return restart.Decision{Action: restart.Restart, Reason: restart.BeyondPeers}
	}
	return restart.Decision{}
}

func TestRubbishIsCountedAndChangesNothing(t *testing.T) {
	p, err := engine.New(engine.Config{Tasks: 2, Slots: 2, Interval: time.Second})
	require.NoError(t, err)
	p.Poll(epoch, nil)
	actions := p.Poll(epoch, []engine.Attempt{
		{ID: "", State: engine.Running}, {ID: "x", Task: -1}, {ID: "y", Task: 2, State: engine.Succeeded},
		{ID: "0.0", Task: 1, State: engine.Running}, {ID: "z", State: 77},
	}).Actions
	assert.Empty(t, actions)
	assert.Equal(t, 5, p.Ledger().Ignored)
}

func TestConfigIsChecked(t *testing.T) {
	machine := engine.Machine{Name: "a", Slots: 1}
	for want, c := range map[string]engine.MachinesConfig{
		`restart/engine: MachinesConfig.Rest is -1ns, want a positive duration, or 0 for the default`:   {Rest: -1},
		`restart/engine: MachinesConfig.Machines[0].Name is "", want a name`:                            {Machines: []engine.Machine{{}}},
		`restart/engine: MachinesConfig.Machines[1].Name is "a", want a name that no other machine has`: {Machines: []engine.Machine{machine, machine}},
		`restart/engine: MachinesConfig.Machines[1].Slots is 0, want 1 or more, or 0 for all machines`:  {Machines: []engine.Machine{machine, {Name: "b"}}},
		`restart/engine: MachinesConfig.Machines[1].Slots is 3, want 0, as the first machine has`:       {Machines: []engine.Machine{{Name: "b"}, {Name: "a", Slots: 3}}},
	} {
		_, err := engine.NewMachines(c)
		assert.EqualError(t, err, want)
	}
	for want, c := range map[string]engine.Config{
		`restart/engine: Config.MaxFailures is -1, want a positive number, or 0 for the default`:              {Interval: 1e9, MaxFailures: -1},
		`restart/engine: Config.MaxLost is -1, want a positive number, or 0 for the default`:                  {Interval: 1e9, MaxLost: -1},
		`restart/engine: Config.Interval is 0s, want a positive duration, the time between two calls of Poll`: {},
	} {
		_, err := engine.New(c)
		assert.EqualError(t, err, want)
	}
}

// After an outage of the engine all attempts look silent. No attempt is killed because of that.
func TestOutageKillsNothing(t *testing.T) {
	p, err := engine.New(engine.Config{Tasks: 4, Slots: 8, Interval: time.Second})
	require.NoError(t, err)
	at := func(s float64) time.Time { return epoch.Add(time.Duration(s * float64(time.Second))) }
	list := func(s float64) (all []engine.Attempt) {
		for task := range 4 {
			all = append(all, engine.Attempt{
				ID: fmt.Sprint(task, ".0"), Task: task, State: engine.Running, Begun: epoch, AsOf: at(s), Machine: fmt.Sprint("h", task),
				Progress: tracker.Report{Score: s / 60},
			})
		}
		return all
	}
	require.Len(t, p.Poll(epoch, nil).Actions, 4)
	for s := 1.0; s < 10; s++ {
		require.Empty(t, p.Poll(at(s), list(s)).Actions)
	}
	for s := 40.0; s < 42; s++ {
		require.Empty(t, p.Poll(at(s), list(9)).Actions, "after the outage the reports are still old")
	}
	for s := 42.0; s < 60; s++ {
		p.Poll(at(s), list(9))
	}
	assert.NotZero(t, p.Ledger().Restarts+p.Ledger().Copies, "the attempts are silent for three intervals while the engine is polled")
}

// An attempt that waits in the queue of a machine that just lost an attempt is submitted elsewhere.
func TestQueueOfALostMachineIsSubmittedElsewhere(t *testing.T) {
	machines, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 2}, {Name: "b", Slots: 2}}})
	require.NoError(t, err)
	p, err := engine.New(engine.Config{Tasks: 3, Interval: time.Second, Machines: machines})
	require.NoError(t, err)
	p.Poll(epoch, nil) // 0.0 and 2.0 on a, 1.0 on b
	actions := lines(p.Poll(at(1), []engine.Attempt{{ID: "0.0", State: engine.Lost, Begun: epoch}}).Actions)
	assert.Equal(t, []string{"cancel 2.0 on a", "submit 0.1 on b not on a"}, actions, "the other task waits until b has a free slot")
	actions = lines(p.Poll(at(2), []engine.Attempt{{ID: "1.0", Task: 1, State: engine.Succeeded, Begun: epoch}}).Actions)
	assert.Equal(t, []string{"submit 2.1 on b not on a"}, actions)
}

// The first poll allocates one object for each task, its name, and one for 64 attempts: 1.05 a task here.
func TestFirstPollMakesFewObjects(t *testing.T) {
	const machines, slots = 50, 100
	list := make([]engine.Machine, machines)
	for i := range list {
		list[i] = engine.Machine{Name: fmt.Sprint("h", i), Slots: slots}
	}
	objects := testing.AllocsPerRun(1, func() {
		set, err := engine.NewMachines(engine.MachinesConfig{Machines: list})
		require.NoError(t, err)
		p, err := engine.New(engine.Config{Tasks: machines * slots, Interval: time.Second, Machines: set})
		require.NoError(t, err)
		require.Len(t, p.Poll(epoch, nil).Actions, machines*slots)
	})
	assert.Less(t, objects/(machines*slots), 1.2)
}

// If an adopted attempt has a name that the phase would give, the phase does not give it again, also after a
// restore.
func TestNameOfAnAdoptedAttemptIsNotGivenAgain(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 2, Slots: 1}, engine.MachinesConfig{})
	adopted := engine.Attempt{ID: "0.0", Task: 1, State: engine.Running}
	require.Empty(t, p.Poll(epoch, []engine.Attempt{adopted}).Actions)
	snapshot, err := p.MarshalBinary()
	require.NoError(t, err)
	restored, err := engine.Restore(engine.Config{Machines: new(engine.Machines)}, engine.Saved{Snapshot: snapshot})
	require.NoError(t, err)
	adopted.State = engine.Succeeded
	for _, p := range []*engine.Phase{p, restored} {
		assert.Equal(t, []string{"submit 0.0+"}, lines(p.Poll(epoch.Add(time.Second), []engine.Attempt{adopted}).Actions))
	}
}
