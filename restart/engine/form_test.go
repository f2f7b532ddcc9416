package engine_test

import (
	"encoding"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
	"github.com/straggler-go/straggler/internal/wire/wiretest"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// An action has this form as text and as JSON. Later versions must read it.
func TestFormOfAnAction(t *testing.T) {
	wiretest.Same(t, engine.Action{
		Op: engine.Submit, Task: 17, Attempt: 2, ID: "17.2", Machine: "n1", Avoid: []string{"n3", "n4"},
		Decision: restart.Decision{Action: restart.Restart, Reason: restart.FreshSooner, Remaining: time.Minute},
	}, "submit 17.2 on n1 not on n3,n4: restart fresh-sooner attempt=0 remaining=60s",
		`{"op":"submit","task":17,"attempt":2,"id":"17.2","machine":"n1","avoid":["n3","n4"],`+
			`"decision":{"action":"restart","reason":"fresh-sooner","attempt":0,"remaining":60}}`)
}

// Every release reads the snapshots of the releases before it, and the phase goes on with the same actions.
func TestCommittedSnapshotsAreRestored(t *testing.T) {
	machines, p, list, now := stopped(t)
	want := p.Poll(at(9), list).Actions
	assert.Len(t, want, 3)
	restore := func(saved [2][]byte) (*engine.Machines, *engine.Phase, error) {
		machines := new(engine.Machines)
		if err := machines.UnmarshalBinary(saved[0]); err != nil {
			return nil, nil, err
		}
		p, err := engine.Restore(engine.Config{Machines: machines}, engine.Saved{Snapshot: saved[1]})
		return machines, p, err
	}
	for i, name := range []string{"machines", "phase"} {
		snapshottest.KeptBy(t, name, now[i], func(data []byte) ([]byte, error) {
			saved := now
			saved[i] = data
			machines, p, err := restore(saved)
			if err != nil {
				return nil, err
			}
			return [...]encoding.BinaryMarshaler{machines, p}[i].MarshalBinary()
		})
	}
	old := snapshottest.Files(t, "machines", now[0])
	for i, phase := range snapshottest.Files(t, "phase", now[1]) {
		_, restored, err := restore([2][]byte{old[min(i, len(old)-1)], phase})
		require.NoError(t, err)
		again := restored.Poll(at(9), list).Actions
		require.Len(t, again, len(want))
		for i := range want {
			assert.Equal(t, want[i].String(), again[i].String())
		}
	}
	_, err := engine.Restore(engine.Config{Machines: machines}, engine.Saved{Snapshot: []byte{12, 1, 2, 3}})
	assert.EqualError(t, err, "restart/engine: Phase: snapshot: version is 12, want 129; another version of the library "+
		"wrote it: begin without it. Call New: its first Poll takes over the attempts that the engine lists")
}

// 400 damaged snapshots, or 40,000 with STRAGGLER_LIVES, are refused, or give phases that work: the phase goes on, and a
// restored copy of it does the same.
func TestDamagedPhasesKeepTheLaws(t *testing.T) {
	_, _, list, now := stopped(t)
	random := rand.New(rand.NewPCG(47, 6))
	machines := func() *engine.Machines {
		m := new(engine.Machines)
		require.NoError(t, m.UnmarshalBinary(now[0]))
		return m
	}
	times := int(cases(400, 40_000))
	accepted := snapshottest.Damage(t, random, times, now[1], func(bad []byte) error {
		shared := machines()
		p, err := engine.Restore(engine.Config{Machines: shared}, engine.Saved{Snapshot: bad})
		if err != nil {
			return err
		}
		data, err := p.MarshalBinary()
		require.NoError(t, err)
		state, err := shared.MarshalBinary()
		require.NoError(t, err)
		copied := new(engine.Machines)
		require.NoError(t, copied.UnmarshalBinary(state))
		again, err := engine.Restore(engine.Config{Machines: copied}, engine.Saved{Snapshot: data})
		require.NoError(t, err, "a phase that was restored is saved and restored")
		one, two := p.Poll(at(9), list), again.Poll(at(9), list)
		require.Equal(t, len(one.Actions), len(two.Actions), "%x", bad)
		for i := range one.Actions {
			require.Equal(t, one.Actions[i].String(), two.Actions[i].String())
		}
		for second := range 3 {
			p.Poll(at(10+float64(second)), list)
		}
		return nil
	})
	assert.Greater(t, accepted, times/20, "some damages are accepted, or the test shows nothing")
}

// stopped returns a phase that was saved, its machines, the later reports about its attempts, and the two
// snapshots.
func stopped(t *testing.T) (*engine.Machines, *engine.Phase, []engine.Attempt, [2][]byte) {
	machines, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "n1", Slots: 2}, {Name: "n2", Slots: 2}}})
	require.NoError(t, err)
	p, err := engine.New(engine.Config{Tasks: 6, Work: []float64{1, 2, 3, 1, 2, 3}, Interval: time.Second, Machines: machines})
	require.NoError(t, err)
	var list []engine.Attempt
	for _, a := range p.Poll(at(0), nil).Actions {
		list = append(list, engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Running, Machine: a.Machine, Begun: at(0)})
	}
	p.Poll(at(1), list)
	var saved [2][]byte
	saved[0], err = machines.MarshalBinary()
	require.NoError(t, err)
	saved[1], err = p.MarshalBinary()
	require.NoError(t, err)
	list[0].State, list[0].Ended = engine.Succeeded, at(4)
	list[1].State, list[1].Ended = engine.Failed, at(5)
	return machines, p, list, saved
}
