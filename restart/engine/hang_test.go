package engine_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// hung runs a phase on an engine that places, and that reports only begins and ends. The first attempt of task
// from, and of each task after it, never ends. hung reports whether the phase is done after an hour.
func hung(t *testing.T, c engine.Config, from int) bool {
	t.Helper()
	p, err := engine.New(c)
	require.NoError(t, err)
	first, all := map[int]string{}, map[string]engine.Attempt{}
	for now := epoch; now.Before(epoch.Add(time.Hour)) && !p.Done(); now = now.Add(c.Interval) {
		var shown []engine.Attempt
		for _, id := range slices.Sorted(maps.Keys(all)) {
			a := all[id]
			switch stuck := a.Task >= from && first[a.Task] == id; {
			case a.State == engine.Cancelled:
				a.Ended = now
				delete(all, id)
			case !stuck && now.Sub(a.Begun) >= 10*time.Second:
				a.State, a.Ended = engine.Succeeded, now
				delete(all, id)
			}
			shown = append(shown, a)
		}
		for _, a := range p.Poll(now, shown).Actions {
			switch a.Op {
			case engine.Cancel:
				dying := all[a.ID]
				dying.State = engine.Cancelled
				all[a.ID] = dying
				continue
			case engine.Publish:
				p.Published(a.ID)
				continue
			}
			if first[a.Task] == "" {
				first[a.Task] = a.ID
			}
			all[a.ID] = engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Running, Machine: "h", Begun: now}
		}
	}
	done := p.Done()
	p.Close(epoch.Add(2 * time.Hour))
	return done
}

// Hung attempts get their copies one after another although the budget is spent: 40 tasks, 20 slots, and the
// last 5 tasks hang.
func TestSpentBudgetKeepsNoPhaseFromEnding(t *testing.T) {
	for _, policy := range []restart.Policy{restart.Mantri{}, rules.Dryad{}, rules.Flink{}} {
		for _, b := range []tracker.BudgetConfig{{}, {Floor: restart.Off}, {Slots: 1000, Rate: 0.001, Floor: 1}} {
			budget, err := tracker.NewBudget(b)
			require.NoError(t, err)
			c := engine.Config{Tasks: 40, Slots: 20, Interval: time.Second, Policy: policy, Budget: budget}
			assert.True(t, hung(t, c, 35), "%s with %+v", rules.Text(policy), b)
			assert.Zero(t, budget.Running())
		}
	}
}

// A poll with the zero time is treated as a poll at the time of the poll before it.
func TestZeroTimeCountsAsTheLastPoll(t *testing.T) {
	p, err := engine.New(engine.Config{Tasks: 4, Slots: 4, Interval: time.Second})
	require.NoError(t, err)
	var running []engine.Attempt
	for _, a := range p.Poll(epoch, nil).Actions {
		running = append(running, engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Running, Machine: "h"})
	}
	for i, now := range []time.Time{epoch.Add(time.Second), {}, epoch.Add(2 * time.Second), {}} {
		assert.Empty(t, p.Poll(now, running).Actions, "poll %d", i)
	}
	running[0].State = engine.Succeeded
	p.Poll(epoch.Add(3*time.Second), running[:1])
	assert.Equal(t, 2*time.Second, p.Ledger().Used)
	assert.Equal(t, 2, p.Ledger().ClockSteps)
}

// Knowledge returns what is known about the machines, to keep it beside a journal: the caller's own, or that which is
// created in place of nil.
func TestKnowledgeReturnsTheGivenOrTheOwnKnowledge(t *testing.T) {
	know := new(tracker.Knowledge)
	shared, err := engine.NewMachines(engine.MachinesConfig{Knowledge: know})
	require.NoError(t, err)
	assert.Same(t, know, shared.Knowledge())
	zero := new(engine.Machines)
	p, err := engine.New(engine.Config{Tasks: 1, Slots: 1, Interval: time.Second, Machines: zero})
	require.NoError(t, err)
	a := p.Poll(epoch, nil).Actions[0]
	p.Poll(epoch.Add(time.Second), []engine.Attempt{{ID: a.ID, State: engine.Succeeded, Machine: "h", Begun: epoch}})
	assert.Equal(t, 1, zero.Knowledge().Machines().Len())
}

// The engine places attempts by machines, so it refuses a Knowledge that remembers none.
func TestAKnowledgeWithoutMachinesIsRefused(t *testing.T) {
	know, err := tracker.NewKnowledge(tracker.KnowledgeConfig{Machines: machines.Config{MaxMachines: restart.Off}})
	require.NoError(t, err)
	_, err = engine.NewMachines(engine.MachinesConfig{Knowledge: know})
	assert.ErrorContains(t, err, "MachinesConfig.Knowledge is \"one without machines\", want a Knowledge that remembers machines")
}
