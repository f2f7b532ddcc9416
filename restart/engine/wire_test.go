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

// What a host may have to store comes back as it was, from JSON and from gob.
func TestActionsReadBack(t *testing.T) {
	q := newQueue(20, 3, 4, func(int) time.Duration { return 8 * time.Second })
	q.slow["h2"] = 20
	hosts, err := engine.NewHosts(engine.HostsConfig{Hosts: q.hosts})
	require.NoError(t, err)
	p, err := engine.New(engine.Config{Tasks: 20, Interval: time.Second, Hosts: hosts})
	require.NoError(t, err)
	var all []engine.Action
	for !p.Done() {
		for _, a := range p.Poll(q.now, q.list()) {
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

func TestFormOfWhatIsLogged(t *testing.T) {
	a := engine.Action{Op: engine.Cancel, Task: 3, ID: "3.0", Host: "n1"}
	text, err := json.Marshal(a)
	require.NoError(t, err)
	assert.Equal(t, `{"op":"cancel","task":3,"id":"3.0","host":"n1"}`, string(text))
	assert.Equal(t, "[op=cancel task=3 id=3.0 host=n1]", slog.AnyValue(a).Resolve().String())
	r := engine.Request{Op: engine.Submit, Task: 3, ID: "3.1", Since: epoch}
	assert.Equal(t, "submit task=3 id=3.1 since=2026-01-01T00:00:00Z", r.String())
	m := engine.Movement{Why: engine.Silent, Still: time.Minute, Usual: 20 * time.Second}
	assert.Equal(t, "silent still=60s usual=20s", m.String())
	for _, v := range []any{&r, &m} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, v))
	}
	assert.Equal(t, engine.Request{Op: engine.Submit, Task: 3, ID: "3.1", Since: epoch}, r)
	assert.Equal(t, engine.Silent, m.Why)
}
