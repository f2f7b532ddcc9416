package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A pull queue lists nothing. The queue reports begins, progress and ends as they happen, and there is one empty Push
// an interval. One machine is ten times slower.
func TestPushCopiesStragglersOfAPullQueue(t *testing.T) {
	for _, progress := range []bool{true, false} {
		q := newQueue(40, 4, 4, func(int) time.Duration { return 8 * time.Second })
		q.slow["h3"] = 10
		machines, err := engine.NewMachines(engine.MachinesConfig{Machines: q.machines})
		require.NoError(t, err)
		p, err := engine.New(engine.Config{Tasks: 40, Interval: time.Second, Machines: machines})
		require.NoError(t, err)
		was := map[string]engine.Attempt{}
		for k := 0; !p.Done(); k++ {
			var events []engine.Attempt
			for _, a := range q.list() {
				old, known := was[a.ID]
				if !progress {
					a.Progress, a.AsOf = tracker.Report{}, time.Time{}
				}
				if a.State != engine.Queued && (!known || old != a) {
					events, was[a.ID] = append(events, a), a
				}
			}
			for _, e := range events {
				for _, a := range slices.Clone(p.Push(q.now, []engine.Attempt{e}).Actions) {
					q.carryOut(t, a)
				}
			}
			if k%5 == 0 {
				for _, a := range slices.Clone(p.Push(q.now, nil).Actions) {
					q.carryOut(t, a)
				}
			}
			q.step(200 * time.Millisecond)
			require.Less(t, q.now.Sub(epoch), time.Hour)
		}
		assert.Less(t, q.now.Sub(epoch), 60*time.Second, "the phase takes 80 s or more without copies")
		assert.NotZero(t, p.Ledger().Restarts+p.Ledger().Copies)
		assert.Zero(t, p.Ledger().Ignored)
		for task := range q.took {
			assert.NotEmpty(t, q.published[task])
		}
	}
}

// A pushed event does not ask the policy at once, but a free slot is filled at once.
func TestPushDecidesOnceAnInterval(t *testing.T) {
	sweeps := 0
	p, _ := newPhase(t, engine.Config{Tasks: 4, Slots: 2, OnEvent: func(e tracker.Event, _ tracker.Answer) {
		if e.Kind == tracker.Swept {
			sweeps++
		}
	}}, engine.MachinesConfig{})
	require.Len(t, p.Push(at(0), nil).Actions, 2)
	actions := p.Push(at(0.5), []engine.Attempt{{ID: "0.0", State: engine.Succeeded}}).Actions
	assert.Equal(t, []string{"submit 2.0"}, lines(actions))
	p.Push(at(0.9), nil)
	assert.Equal(t, 1, sweeps)
	p.Push(at(1), nil)
	assert.Equal(t, 2, sweeps)
}

// The published result is the task's, whichever other attempt has succeeded, and whenever.
func TestPublishedResultWins(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 1, Slots: 4}, engine.MachinesConfig{})
	actions := p.Poll(at(10), []engine.Attempt{
		{ID: "0.0", State: engine.Succeeded, Begun: at(0), Ended: at(5)},
		{ID: "0.1", State: engine.Succeeded, Begun: at(0), Ended: at(7), Published: true},
	}).Actions
	assert.Empty(t, actions)
	id, _ := p.Winner(0)
	assert.Equal(t, "0.1", id)
	assert.True(t, p.Done())
	// The published attempt also replaces an attempt that was treated as the winner before.
	p, _ = newPhase(t, engine.Config{Tasks: 1, Slots: 4}, engine.MachinesConfig{})
	p.Poll(at(10), []engine.Attempt{{ID: "0.0", State: engine.Succeeded}, {ID: "0.1", State: engine.Running}})
	p.Poll(at(11), []engine.Attempt{{ID: "0.1", State: engine.Succeeded, Published: true}})
	id, _ = p.Winner(0)
	assert.Equal(t, "0.1", id)
	assert.Empty(t, p.Outstanding())
	_, won := p.Winner(1)
	assert.False(t, won)
}

// An adapter is asked to publish until it says that the result is published.
func TestPublishIsRepeated(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 2, Slots: 2, Policy: restart.Never{}}, engine.MachinesConfig{})
	done := func(task string, n int, published bool) engine.Attempt {
		return engine.Attempt{ID: task + ".0", Task: n, State: engine.Succeeded, Published: published}
	}
	p.Poll(at(0), nil)
	p.Poll(at(1), []engine.Attempt{done("0", 0, false)})
	p.Poll(at(2), []engine.Attempt{done("0", 0, true), done("1", 1, false)})
	asked := 0
	for s := 3; s < 30; s++ {
		for _, a := range p.Poll(at(float64(s)), []engine.Attempt{done("0", 0, true), done("1", 1, false)}).Actions {
			assert.Equal(t, "publish 1.0", a.String())
			asked++
		}
	}
	assert.Equal(t, 2, asked, "the publication is requested after 4 s and 8 s later")
	p.Poll(at(30), []engine.Attempt{done("1", 1, true)})
	assert.Empty(t, p.Outstanding())
}

// An attempt that was seen to run, and is missing from lists that show other attempts, is lost. While the lists
// are empty, no attempt is lost.
func TestAttemptThatWasSeenAndIsMissingIsLost(t *testing.T) {
	p, _ := newPhase(t, engine.Config{Tasks: 2, Slots: 2, Policy: restart.Never{}}, engine.MachinesConfig{})
	p.Poll(at(0), nil)
	both := []engine.Attempt{{ID: "0.0", State: engine.Running}, {ID: "1.0", Task: 1, State: engine.Running}}
	p.Poll(at(1), both)
	var all []string
	for s := 2; s < 60; s++ {
		all = append(all, lines(p.Poll(at(float64(s)), nil).Actions)...)
	}
	assert.Empty(t, all, "an engine that lists nothing is away")
	for s := 60; s < 100; s++ {
		all = append(all, lines(p.Poll(at(float64(s)), both[1:]).Actions)...)
	}
	require.GreaterOrEqual(t, len(all), 2)
	assert.Equal(t, []string{"cancel 0.0", "submit 0.1"}, all[:2])
}
