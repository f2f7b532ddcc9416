package engine_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine"
)

// An action that was stored as JSON or gob reads back equal.
func TestActionsReadBack(t *testing.T) {
	q := newQueue(20, 3, 4, func(int) time.Duration { return 8 * time.Second })
	q.slow["h2"] = 20
	machines, err := engine.NewMachines(engine.MachinesConfig{Machines: q.machines})
	require.NoError(t, err)
	p, err := engine.New(engine.Config{Tasks: 20, Interval: time.Second, Machines: machines})
	require.NoError(t, err)
	var all []engine.Action
	for !p.Done() {
		for _, a := range p.Poll(q.now, q.list()).Actions {
			all = append(all, a)
			q.carryOut(t, a)
		}
		q.step(time.Second)
	}
	ops := map[engine.Op]int{}
	for _, a := range all {
		ops[a.Op]++
		text, err := json.Marshal(a)
		require.NoError(t, err)
		var back engine.Action
		require.NoError(t, json.Unmarshal(text, &back), "%s", text)
		assert.Equal(t, a, back, "%s", text)
		var b bytes.Buffer
		require.NoError(t, gob.NewEncoder(&b).Encode(a))
		back = engine.Action{}
		require.NoError(t, gob.NewDecoder(&b).Decode(&back))
		assert.Equal(t, a, back)
	}
	assert.Len(t, ops, 3, "%v", ops)
}

func TestFormOfALoggedAction(t *testing.T) {
	a := engine.Action{Op: engine.Cancel, Task: 3, ID: "3.0", Machine: "n1"}
	text, err := json.Marshal(a)
	require.NoError(t, err)
	assert.Equal(t, `{"op":"cancel","task":3,"attempt":0,"id":"3.0","machine":"n1"}`, string(text))
	assert.Equal(t, "[op=cancel task=3 attempt=0 id=3.0 machine=n1]", slog.AnyValue(a).Resolve().String())
}
