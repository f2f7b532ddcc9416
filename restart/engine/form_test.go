package engine_test

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// The committed snapshots of the machines and of a phase are restored, and the phase goes on. If this version
// can't read them, the version number in the snapshot must say so.
func TestCommittedSnapshotsAreRestored(t *testing.T) {
	text, err := os.ReadFile("testdata/snapshots.hex")
	require.NoError(t, err)
	var kept [2][]byte
	for i, line := range strings.Fields(string(text)) {
		kept[i], err = hex.DecodeString(line)
		require.NoError(t, err)
	}
	machines, p, list, now := stopped(t)
	want := p.Poll(at(9), list).Actions
	assert.Len(t, want, 3)
	for i := range kept {
		assert.Equal(t, hex.EncodeToString(kept[i]), hex.EncodeToString(now[i]), "a changed form needs a new version number")
	}
	require.NoError(t, machines.UnmarshalBinary(kept[0]))
	restored, err := engine.Restore(engine.Config{Machines: machines}, engine.Saved{Snapshot: kept[1]})
	require.NoError(t, err)
	again := restored.Poll(at(9), list).Actions
	for i := range want {
		assert.Equal(t, want[i].String(), again[i].String())
	}
	_, err = engine.Restore(engine.Config{Machines: machines}, engine.Saved{Snapshot: append([]byte{99}, kept[1][1:]...)})
	assert.EqualError(t, err, "restart/engine: Phase: snapshot: version is 99, want 12; another version of the library "+
		"wrote it: begin without it. Call New: its first Poll takes over the attempts that the engine lists")
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
