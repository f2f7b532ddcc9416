package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Two schedulers see the same machines in different orders, and know them by name.
func TestSchedulersShareAKnowledge(t *testing.T) {
	of := func(origin string) *tracker.Knowledge {
		know, err := tracker.NewKnowledge(tracker.KnowledgeConfig{Machines: machines.Config{Origin: origin}})
		require.NoError(t, err)
		return know
	}
	there, here := of("there"), of("here")
	p, _ := newPhase(t, engine.Config{Tasks: 12, Kind: "a"}, engine.MachinesConfig{Knowledge: there})
	p.Poll(at(0), nil)
	var all []engine.Attempt
	for task := range 12 {
		name, took := string(rune('a'+task%4)), 20.
		if name == "d" {
			took = 200
		}
		all = append(all, engine.Attempt{
			Task: task, ID: fmt.Sprintf("%d.0", task), Machine: name, State: engine.Succeeded, Begun: at(1), Ended: at(1 + took),
		})
	}
	p.Poll(at(220), all)
	delta, err := there.AppendDelta(nil, here.AppendVersion(nil))
	require.NoError(t, err)
	require.NoError(t, here.Merge(at(221), delta))

	q, machines := newPhase(t, engine.Config{Tasks: 8, Interval: time.Second}, engine.MachinesConfig{
		Knowledge: here, Machines: []engine.Machine{{Name: "d", Slots: 1}, {Name: "c", Slots: 1}, {Name: "b", Slots: 1}},
	})
	q.Poll(at(222), []engine.Attempt{{Task: 0, ID: "0.0", Machine: "c", State: engine.Running, Begun: at(221)}})
	q.Poll(at(223), []engine.Attempt{{Task: 0, ID: "0.0", Machine: "c", State: engine.Running, Begun: at(221)}})
	assert.Equal(t, []string{"d"}, machines.Slow())
	longest, known := here.Longest("a", 0)
	assert.Equal(t, 200., longest, "the other scheduler has seen phases of this kind")
	assert.Equal(t, 12, known)
}

// A Knowledge that was merged before the first Poll is used for the first attempts, whether the machines are known by
// then or are added later.
func TestMergedKnowledgeCountsForTheFirstWave(t *testing.T) {
	for _, late := range []bool{false, true} {
		there, err := tracker.NewKnowledge(tracker.KnowledgeConfig{Machines: machines.Config{Origin: "there"}})
		require.NoError(t, err)
		here, err := tracker.NewKnowledge(tracker.KnowledgeConfig{Machines: machines.Config{Origin: "here"}})
		require.NoError(t, err)
		names := []string{"w0", "w1", "w2", "w3"}
		for i, name := range names {
			there.Machines().SetName(i, name)
			for k := range uint64(6) {
				ran := 10 * time.Second
				if name == "w3" {
					ran *= 8
				}
				there.Machines().End(at(float64(100+k)), i, k, machines.Attempt{Ran: ran, Usual: 10 * time.Second, Done: 1}, machines.Finished)
			}
		}
		merge := func() {
			delta, err := there.AppendDelta(nil, here.AppendVersion(nil))
			require.NoError(t, err)
			require.NoError(t, here.Merge(at(110), delta))
		}
		if !late {
			merge()
		}
		c := engine.MachinesConfig{Knowledge: here}
		for _, name := range names[:2] {
			c.Machines = append(c.Machines, engine.Machine{Name: name, Slots: 4})
		}
		p, machines := newPhase(t, engine.Config{Tasks: 12}, c)
		for _, name := range names[2:] {
			require.NoError(t, machines.Add(engine.Machine{Name: name, Slots: 4}))
		}
		if late {
			merge()
		}
		on := map[string]int{}
		for _, a := range p.Poll(at(111), nil).Actions {
			on[a.Machine]++
		}
		assert.Equal(t, map[string]int{"w0": 4, "w1": 4, "w2": 4}, on)
		assert.Equal(t, []string{"w3"}, machines.Slow())
	}
}
