package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A job is cancelled. Its running attempts are cancelled, and no attempt is submitted. The budget is free at
// once, and the machines are free when the engine has seen the ends. A phase that is restored after Close does
// the same.
func TestCloseCancelsAttemptsAndFreesTheBudget(t *testing.T) {
	budget, err := tracker.NewBudget(tracker.BudgetConfig{Rate: restart.Off, Floor: restart.Off, Share: 1})
	require.NoError(t, err)
	machines, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 2}, {Name: "b", Slots: 2}}})
	require.NoError(t, err)
	config := engine.Config{Tasks: 8, Interval: time.Second, Budget: budget, Machines: machines}
	p, err := engine.New(config)
	require.NoError(t, err)
	submitted := p.Poll(epoch, nil).Actions
	require.Len(t, submitted, 4)
	require.True(t, budget.Allows())

	actions := p.Close(epoch.Add(time.Second)).Actions
	require.Len(t, actions, 4)
	for i, a := range actions {
		assert.Equal(t, engine.Cancel, a.Op)
		assert.Equal(t, restart.Decision{}, a.Decision)
		assert.Equal(t, submitted[i].ID, a.ID)
	}
	assert.True(t, p.Done())
	assert.Empty(t, p.GivenUp())
	budget.SlotsChanged(1)
	budget.CopyLaunched()
	assert.False(t, budget.Allows(), "the closed phase has given its slots back")
	assert.Empty(t, p.Close(epoch.Add(2*time.Second)).Actions, "a second Close does nothing")

	data, err := p.MarshalBinary()
	require.NoError(t, err)
	twin, err := engine.Restore(engine.Config{Budget: budget, Machines: fresh(t, machines)}, engine.Saved{Snapshot: data})
	require.NoError(t, err)
	other, err := engine.New(config)
	require.NoError(t, err)
	assert.Empty(t, other.Poll(epoch.Add(2*time.Second), nil).Actions, "cancelled attempts hold their slots until their ends are seen")
	seen := []engine.Attempt{
		{ID: "0.0", Task: 0, State: engine.Cancelled, Machine: "a"}, {ID: "1.0", Task: 1, State: engine.Succeeded, Machine: "b"},
		{ID: "7.5", Task: 7, State: engine.Running, Machine: "b"}, // of another program
	}
	for _, p := range []*engine.Phase{p, twin} {
		actions = p.Poll(epoch.Add(3*time.Second), seen).Actions
		require.Len(t, actions, 1, "%v", actions)
		assert.Equal(t, "cancel 7.5 on b", actions[0].String())
	}
	assert.Len(t, other.Poll(epoch.Add(4*time.Second), nil).Actions, 1, "attempt 7.5 holds one of two slots")
}

// fresh returns a copy of machines that is restored from a snapshot.
func fresh(t *testing.T, machines *engine.Machines) *engine.Machines {
	t.Helper()
	data, err := machines.MarshalBinary()
	require.NoError(t, err)
	var back engine.Machines
	require.NoError(t, back.UnmarshalBinary(data))
	return &back
}
