package engine_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A repeated SetLeaving costs nothing: a phase reports only changes to the tracker.
func TestRepeatedSetLeavingChangesNothing(t *testing.T) {
	heard := 0
	p, h := newPhase(t, engine.Config{Tasks: 1, OnEvent: func(e tracker.Event, _ tracker.Answer) {
		if e.Kind == tracker.MachineLeaves {
			heard++
		}
	}}, engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}}})
	one, err := h.MarshalBinary()
	require.NoError(t, err)
	for range 1000 {
		h.SetLeaving("a", at(3600))
	}
	p.Poll(at(0), nil)
	h.SetLeaving("a", at(3600))
	p.Poll(at(1), nil)
	assert.Equal(t, 1, heard)
	many, err := h.MarshalBinary()
	require.NoError(t, err)
	assert.Less(t, len(many), len(one)+10)
	h.SetLeaving("a", time.Time{})
	p.Poll(at(2), nil)
	assert.Equal(t, 2, heard, "the tracker hears that the machine stays")
}

// counting is the policy Mantri, and records how many decisions it makes.
type counting struct {
	restart.Mantri
	n *int
}

func (c counting) Decide(t restart.Task, p restart.Phase) restart.Decision {
	*c.n++
	return c.Mantri.Decide(t, p)
}

// Describe asks for a plain t_rem, so that a straggler is certain to be a straggler.
func (counting) Describe() rules.Description { return rules.Description{Facts: rules.Fresh} }

// The tail of a phase: half of the machines are idle, the budget is spent, and half of the tasks are
// stragglers, with or without waiting tasks. A poll asks a few times about each straggler, not once for each
// idle machine.
func TestPollAsksFewTimesWithASpentBudget(t *testing.T) {
	const n = 80
	for _, waiting := range []int{0, n} {
		asked, c, budget := 0, &cluster{now: epoch}, &tracker.Budget{}
		for i := range 2 * n {
			c.machines = append(c.machines, simMachine{Machine: engine.Machine{Name: fmt.Sprint("h", i), Slots: 1}, speed: 1})
		}
		p, err := engine.New(engine.Config{
			Tasks: 2*n + waiting, Interval: time.Second, Policy: counting{n: &asked}, Budget: budget, Machines: c.known(t, engine.MachinesConfig{})})
		require.NoError(t, err)
		for i := range 2*n + waiting {
			c.work = append(c.work, 10)
			if i >= n {
				c.work[i] = 200 // long on every machine
			}
		}
		most := 0
		for s := range 17 {
			list := c.poll()
			for i := range list {
				list[i].Progress.Done /= c.work[list[i].Task]
			}
			asked = 0
			for _, a := range p.Poll(c.now, list).Actions {
				if a.Op == engine.Submit {
					c.submit(a.Task, a.ID, a.Machine, a.Avoid)
				} else {
					c.cancel(a.ID)
				}
			}
			if s > 8 {
				most = max(most, asked)
			}
			for range int(time.Second / simStep) {
				c.step()
			}
		}
		assert.True(t, waiting > 0 || !budget.Allows(), "the budget is spent: %v", p.Ledger())
		assert.Less(t, most, 24*n, "with %d waiting tasks, all tasks are asked only for each of the 16 copies", waiting)
	}
}

// If no task is worth a copy, only one idle machine is asked.
func TestPollAsksOneMachineWithoutStragglers(t *testing.T) {
	offers := 0
	p, _ := newPhase(t, engine.Config{Tasks: 1, OnEvent: func(e tracker.Event, _ tracker.Answer) {
		if e.Kind == tracker.Offered {
			offers++
		}
	}}, engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 8}, {Name: "b", Slots: 8}, {Name: "c", Slots: 8}}})
	p.Poll(at(0), nil)
	offers = 0
	p.Poll(at(1), []engine.Attempt{{ID: "0.0", State: engine.Running, Machine: "a"}})
	assert.Equal(t, 1, offers)
}

// Data that are no snapshot are an error and leave the machines as they were, and also a Knowledge that the caller
// gave.
func TestBadSnapshotLeavesTheKnowledgeAsItWas(t *testing.T) {
	known := func(ran time.Duration) *tracker.Knowledge {
		know := new(tracker.Knowledge)
		for m := range 4 {
			for k := range 6 {
				took := 10 * time.Second
				if m == 1 {
					took = ran
				}
				know.Machines().End(epoch, m, uint64(k), machines.Attempt{Ran: took, Usual: 10 * time.Second}, machines.Finished)
			}
		}
		return know
	}
	two := []engine.Machine{{Name: "aa"}, {Name: "bb"}}
	written, err := engine.NewMachines(engine.MachinesConfig{Machines: two, Knowledge: known(80 * time.Second)})
	require.NoError(t, err)
	text, err := written.MarshalBinary()
	require.NoError(t, err)
	own := known(10 * time.Second)
	before := own.Machines().Factor(1)
	h, err := engine.NewMachines(engine.MachinesConfig{Machines: two, Knowledge: own})
	require.NoError(t, err)
	body := snapshottest.Body(text)
	for _, bad := range [][]byte{bytes.Replace(body, []byte("bb"), []byte("aa"), 1), append(bytes.Clone(body), 0)} {
		require.Error(t, h.UnmarshalBinary(snapshot.Seal(bad, 0)))
		assert.Equal(t, before, own.Machines().Factor(1))
	}
	require.NoError(t, h.UnmarshalBinary(text))
	assert.Greater(t, own.Machines().Factor(1), before)
}
