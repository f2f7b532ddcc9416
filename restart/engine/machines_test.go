package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// A machine that is added while a phase goes on gets attempts at the next call, also after a restore. If it is
// the first machine with slots, the phase places from then on.
func TestAddedMachineGetsAttemptsAtTheNextCall(t *testing.T) {
	for _, first := range [][]engine.Machine{nil, {{Name: "a", Slots: 2}}} {
		machines, err := engine.NewMachines(engine.MachinesConfig{Machines: first})
		require.NoError(t, err)
		p, err := engine.New(engine.Config{Tasks: 9, Interval: time.Second, Machines: machines, Policy: restart.Never{}})
		require.NoError(t, err)
		if first == nil {
			assert.Empty(t, p.Push(at(0), nil).Actions)
			require.NoError(t, machines.Add(engine.Machine{Name: "a", Slots: 2}))
		}
		assert.Equal(t, []string{"submit 0.0 on a", "submit 1.0 on a"}, lines(p.Push(at(1), nil).Actions))
		require.NoError(t, machines.Add(engine.Machine{Name: "b", Slots: 3}))
		assert.Equal(t, []string{"submit 2.0 on b", "submit 3.0 on b", "submit 4.0 on b"}, lines(p.Push(at(2), nil).Actions))
		assert.Equal(t, 5, machines.Slots())

		phase, err := p.MarshalBinary()
		require.NoError(t, err)
		state, err := machines.MarshalBinary()
		require.NoError(t, err)
		restored, err := engine.NewMachines(engine.MachinesConfig{})
		require.NoError(t, err)
		require.NoError(t, restored.UnmarshalBinary(state))
		q, err := engine.Restore(engine.Config{Machines: restored, Policy: restart.Never{}}, engine.Saved{Snapshot: phase})
		require.NoError(t, err)
		require.NoError(t, restored.Add(engine.Machine{Name: "c", Slots: 1}))
		submits := slices.DeleteFunc(lines(q.Push(at(2.5), nil).Actions), func(l string) bool { return l != "submit 5.0 on c" })
		assert.Len(t, submits, 1)

		for _, bad := range []engine.Machine{{Name: "b", Slots: 1}, {Name: "", Slots: 1}, {Name: "d"}} {
			require.ErrorContains(t, machines.Add(bad), "restart/engine: MachinesConfig.Machines[2]")
		}
	}
}

// A machine that loses an attempt rests for a minute. The rest ends early if the machine is reported down and
// then up.
func TestMachineThatIsBackRestsNoLonger(t *testing.T) {
	for _, back := range []bool{false, true} {
		machines, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}}})
		require.NoError(t, err)
		p, err := engine.New(engine.Config{Tasks: 9, Interval: time.Second, Machines: machines, Policy: restart.Never{}})
		require.NoError(t, err)
		assert.Equal(t, []string{"submit 0.0 on a", "submit 1.0 on b"}, lines(p.Push(at(0), nil).Actions))
		machines.SetDown("a", back)
		p.Push(at(1), []engine.Attempt{
			{ID: "0.0", Task: 0, Machine: "a", State: engine.Lost}, {ID: "1.0", Task: 1, Machine: "b", State: engine.Running},
		})
		assert.Equal(t, []string{"a"}, machines.Resting(at(1)))
		machines.SetDown("a", false)
		assert.Equal(t, back, slices.Contains(lines(p.Push(at(2), nil).Actions), "submit 2.0 on a"))
		assert.Equal(t, !back, len(machines.Resting(at(2))) > 0)
	}
}

// A machine that gets more slots gets attempts at the next call. A machine that loses slots gets none until
// enough attempts have ended there.
func TestChangedSlotsCountAtTheNextCall(t *testing.T) {
	machines, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 2}}})
	require.NoError(t, err)
	p, err := engine.New(engine.Config{Tasks: 9, Interval: time.Second, Machines: machines, Policy: restart.Never{}})
	require.NoError(t, err)
	assert.Len(t, p.Push(at(1), nil).Actions, 2)
	machines.SetSlots("a", 4)
	assert.Equal(t, []string{"submit 2.0 on a", "submit 3.0 on a"}, lines(p.Push(at(2), nil).Actions))
	machines.SetSlots("a", 1)
	for _, bad := range []int{0, -1} {
		machines.SetSlots("a", bad)
	}
	machines.SetSlots("unknown", 5)
	assert.Equal(t, 1, machines.Slots())
	ends := func(ids ...string) (all []engine.Attempt) {
		for _, id := range ids {
			all = append(all, engine.Attempt{ID: id, Task: int(id[0] - '0'), Machine: "a", State: engine.Succeeded})
		}
		return all
	}
	submits := func(actions []engine.Action) (n int) {
		for _, a := range actions {
			if a.Op == engine.Submit && a.Task > 3 {
				n++
			}
		}
		return n
	}
	assert.Zero(t, submits(p.Push(at(3), ends("0.0", "1.0", "2.0")).Actions))
	assert.Equal(t, 1, submits(p.Push(at(4), ends("3.0")).Actions))

	placed, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "a"}}})
	require.NoError(t, err)
	placed.SetSlots("a", 5)
	assert.Zero(t, placed.Slots(), "SetSlots changes nothing if the engine places")
}

func TestMachinesAreListedWithTheirSlots(t *testing.T) {
	list := []engine.Machine{{Name: "b", Slots: 2}, {Name: "a", Slots: 3}}
	m, err := engine.NewMachines(engine.MachinesConfig{Machines: list})
	require.NoError(t, err)
	m.SetSlots("b", 5)
	list[0].Slots = 5
	assert.Equal(t, list, m.List())
	assert.Empty(t, (*engine.Machines)(nil).List())
}
