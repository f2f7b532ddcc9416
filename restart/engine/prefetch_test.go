package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// fetching returns a phase on two machines of one slot each, where one attempt more may wait.
func fetching(t *testing.T, tasks int, policy restart.Policy) (*engine.Machines, *engine.Phase) {
	machines, err := engine.NewMachines(engine.MachinesConfig{
		Machines: []engine.Machine{{Name: "n1", Slots: 1}, {Name: "n2", Slots: 1}}, Prefetch: 1,
	})
	require.NoError(t, err)
	p, err := engine.New(engine.Config{Tasks: tasks, Interval: time.Second, Machines: machines, Policy: policy})
	require.NoError(t, err)
	return machines, p
}

// places returns the actions with their machines.
func places(actions []engine.Action) (all []string) {
	for _, a := range actions {
		all = append(all, a.Op.String()+" "+a.ID+" "+a.Machine)
	}
	return all
}

func on(machine, id string, task int, state engine.State, begun float64) engine.Attempt {
	a := engine.Attempt{ID: id, Task: task, State: state, Machine: machine}
	if state != engine.Queued {
		a.Begun = at(begun)
	}
	return a
}

// One attempt more than a machine has slots waits there. If another machine has a free slot and no task waits for it,
// the attempt is withdrawn and submitted there.
func TestPrefetchedAttemptMovesToAFreeSlot(t *testing.T) {
	_, p := fetching(t, 4, restart.Never{})
	assert.Equal(t, []string{"submit 0.0 n1", "submit 1.0 n2", "submit 2.0 n1", "submit 3.0 n2"}, places(p.Poll(at(0), nil).Actions))
	list := []engine.Attempt{
		on("n1", "0.0", 0, engine.Running, 0), on("n2", "1.0", 1, engine.Succeeded, 0),
		on("n1", "2.0", 2, engine.Queued, 0), on("n2", "3.0", 3, engine.Running, 1),
	}
	assert.Equal(t, []string{"publish 1.0 n2"}, places(p.Poll(at(1), list).Actions), "both machines are busy")
	list[1], list[3] = on("n1", "2.0", 2, engine.Queued, 0), on("n2", "3.0", 3, engine.Succeeded, 1)
	p.Published("1.0")
	assert.Equal(t, []string{"publish 3.0 n2", "cancel 2.0 n1", "submit 2.1 n2"}, places(p.Poll(at(2), list).Actions))
	p.Published("3.0")
	assert.Empty(t, p.Poll(at(3), list[:1]).Actions, "one withdrawal is enough")
	assert.Equal(t, 0, p.Ledger().Copies+p.Ledger().Restarts)
}

// A copy takes a free slot, and does not wait on a machine that is busy.
func TestNoCopyIsPrefetched(t *testing.T) {
	_, p := fetching(t, 2, always{})
	assert.Equal(t, []string{"submit 0.0 n1", "submit 1.0 n2"}, places(p.Poll(at(0), nil).Actions))
	list := []engine.Attempt{on("n1", "0.0", 0, engine.Running, 0), on("n2", "1.0", 1, engine.Running, 0)}
	for now := 1.0; now < 5; now++ {
		assert.Empty(t, p.Poll(at(now), list).Actions)
	}
	list[1] = on("n2", "1.0", 1, engine.Succeeded, 0)
	assert.Equal(t, []string{"publish 1.0 n2", "submit 0.1 n2"}, places(p.Poll(at(5), list).Actions))
}

// always is a policy that wants a copy of every task.
type always struct{}

func (always) Decide(restart.Task, restart.Phase) restart.Decision {
	return restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot, Gain: time.Second}
}

// An attempt that waits on a machine is withdrawn when the machine turns out to be slow.
func TestPrefetchedAttemptLeavesASlowMachine(t *testing.T) {
	workers, err := engine.NewMachines(engine.MachinesConfig{
		Machines: []engine.Machine{{Name: "n1", Slots: 1}, {Name: "n2", Slots: 1}}, Prefetch: 1,
	})
	require.NoError(t, err)
	p, err := engine.New(engine.Config{Tasks: 6, Interval: time.Second, Machines: workers, Policy: restart.Never{}})
	require.NoError(t, err)
	require.Len(t, p.Poll(at(0), nil).Actions, 4)
	list := []engine.Attempt{
		on("n1", "0.0", 0, engine.Running, 0), on("n2", "1.0", 1, engine.Succeeded, 0),
		on("n1", "2.0", 2, engine.Queued, 0), on("n2", "3.0", 3, engine.Running, 1),
	}
	assert.Equal(t, []string{"publish 1.0 n2", "submit 4.0 n2"}, places(p.Poll(at(1), list).Actions))
	p.Published("1.0")
	list[1] = on("n2", "4.0", 4, engine.Queued, 0)
	for k := range uint64(8) {
		for machine, ran := range []time.Duration{80 * time.Second, 10 * time.Second} {
			workers.Knowledge().Machines().End(at(2), machine, 1e9+k, machines.Attempt{Ran: ran, Usual: 10 * time.Second}, machines.Finished)
		}
	}
	assert.Equal(t, []string{"cancel 2.0 n1"}, places(p.Poll(at(2), list).Actions))
	list[2], list[3] = on("n2", "4.0", 4, engine.Running, 3), on("n2", "3.0", 3, engine.Succeeded, 1)
	assert.Equal(t, []string{"publish 3.0 n2", "submit 2.1 n2"}, places(p.Poll(at(3), list).Actions))
}

func TestPrefetchIsChecked(t *testing.T) {
	_, err := engine.NewMachines(engine.MachinesConfig{Prefetch: -1})
	assert.EqualError(t, err, "restart/engine: MachinesConfig.Prefetch is -1, want a positive number, or 0 for the default")
}

// Of two attempts that wait on busy machines, as many are withdrawn as slots are free: one.
func TestAsManyAttemptsMoveAsSlotsAreFree(t *testing.T) {
	machines, err := engine.NewMachines(engine.MachinesConfig{
		Machines: []engine.Machine{{Name: "n1", Slots: 1}, {Name: "n2", Slots: 1}, {Name: "n3", Slots: 1}}, Prefetch: 1,
	})
	require.NoError(t, err)
	p, err := engine.New(engine.Config{Tasks: 5, Interval: time.Second, Machines: machines, Policy: restart.Never{}})
	require.NoError(t, err)
	require.Equal(t, []string{"submit 0.0 n1", "submit 1.0 n2", "submit 2.0 n3", "submit 3.0 n1", "submit 4.0 n2"},
		places(p.Poll(at(0), nil).Actions))
	assert.Equal(t, []string{"publish 2.0 n3", "cancel 3.0 n1", "submit 3.1 n3"}, places(p.Poll(at(1), []engine.Attempt{
		on("n1", "0.0", 0, engine.Running, 0), on("n2", "1.0", 1, engine.Running, 0), on("n3", "2.0", 2, engine.Succeeded, 0),
		on("n1", "3.0", 3, engine.Queued, 0), on("n2", "4.0", 4, engine.Queued, 0),
	}).Actions))
}
