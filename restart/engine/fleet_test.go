package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart/engine"
)

// Two schedulers see the same hosts in another order, and know them by name.
func TestSchedulersShareARecord(t *testing.T) {
	record := func(origin string) *machines.Record {
		r, err := machines.New(machines.Config{Origin: origin})
		require.NoError(t, err)
		return r
	}
	there, here := record("there"), record("here")
	p, _ := newPhase(t, engine.Config{Tasks: 12}, engine.HostsConfig{Record: there})
	p.Poll(at(0), nil)
	var all []engine.Attempt
	for task := range 12 {
		name, took := string(rune('a'+task%4)), 20.
		if name == "d" {
			took = 200
		}
		all = append(all, engine.Attempt{
			Task: task, ID: fmt.Sprintf("%d.0", task), Host: name, State: engine.Succeeded, Begun: at(1), Ended: at(1 + took),
		})
	}
	p.Poll(at(220), all)
	delta, err := there.AppendDelta(nil, here.AppendVersion(nil))
	require.NoError(t, err)
	require.NoError(t, here.Merge(at(221), delta))

	q, hosts := newPhase(t, engine.Config{Tasks: 8, Interval: time.Second}, engine.HostsConfig{
		Record: here, Hosts: []engine.Host{{Name: "d", Slots: 1}, {Name: "c", Slots: 1}, {Name: "b", Slots: 1}},
	})
	q.Poll(at(222), []engine.Attempt{{Task: 0, ID: "0.0", Host: "c", State: engine.Running, Begun: at(221)}})
	q.Poll(at(223), []engine.Attempt{{Task: 0, ID: "0.0", Host: "c", State: engine.Running, Begun: at(221)}})
	assert.Equal(t, []string{"d"}, hosts.Slow())
}
