package tracker_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/tracker"
)

// A phase gets random events, and is then closed. After Close it uses no copy and no slot of its Budget, has no
// running attempt in its record of machines, asks for nothing, and does not change.
func TestCloseReleasesSharedParts(t *testing.T) {
	held, ran := 0, 0
	for name, policy := range policytest.Policies() {
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 19))
			d := &driver{t: t, rng: rng, now: time.Unix(1e9, 5), n: 1 + rng.IntN(20)}
			c := d.config(policy)
			c.Slots = 1 + rng.IntN(12)
			know := new(tracker.Knowledge)
			budget := newBudget(t, tracker.BudgetConfig{Share: 0.5, Floor: restart.Off, Rate: restart.Off})
			c.Knowledge, c.Budget = know, budget
			tr := newTracker(t, c)
			for range rng.IntN(150) {
				if e := d.event(); e.Kind != tracker.Closed {
					tr.Apply(e)
				}
			}
			held += budget.Running()
			ran += len(running(know))
			before := tr.Ledger()

			tr.Close(d.now)
			p, l := tr.Phase(), tr.Ledger()
			require.Zero(t, budget.Running(), "%s, seed %d", name, seed)
			require.Empty(t, running(know), "%s, seed %d", name, seed)
			require.Equal(t, [4]int{}, [4]int{p.Slots, p.FreeSlots, p.Waiting, p.Copies})
			require.Equal(t, before.Finished, l.Finished)
			budget.SlotsChanged(2)
			require.True(t, budget.Allows(), "half of the two slots that are left may run a copy")
			budget.CopyLaunched()
			require.False(t, budget.Allows(), "the budget no longer counts the slots of the phase")

			first, err := tr.MarshalBinary()
			require.NoError(t, err)
			tr.Close(d.now)
			second, err := tr.MarshalBinary()
			require.NoError(t, err)
			require.Equal(t, first, second, "a second Close changes nothing")
			ignored := tr.Ledger().Ignored
			require.Equal(t, -1, tr.Start(d.now, rng.IntN(d.n), 0))
			require.Equal(t, ignored+1, tr.Ledger().Ignored)
			a := tr.Next(d.now, 0)
			require.Equal(t, restart.Keep, a.Action)
			require.Equal(t, restart.NothingToDo, a.Reason)
		}
	}
	assert.Greater(t, held, 50, "phases must hold copies, or the test shows nothing")
	assert.Greater(t, ran, 50)
}

// A success that comes after Close still ends its task. If the output of a task is lost after Close, the task can run
// again.
func TestAClosedPhaseTakesALateResult(t *testing.T) {
	tr := newTracker(t, tracker.Config{Tasks: 2, Slots: 2, Interval: time.Second})
	tr.Start(at(0), 0, 0)
	tr.Start(at(0), 1, 1)
	tr.Finish(at(5), 0, 0)
	tr.Close(at(6))
	tr.Finish(at(7), 1, 0)
	assert.Equal(t, 2, tr.Ledger().Finished)
	assert.Equal(t, 1, tr.Ledger().Late)
	tr.LoseOutput(at(8), 0)
	tr.SetSlots(1)
	a := tr.Next(at(9), 0)
	assert.Equal(t, restart.Start, a.Action)
	assert.Equal(t, 1, tr.Start(at(9), a.Task, 0))
	tr.Finish(at(10), 0, 1)
	assert.Equal(t, 2, tr.Phase().Finished)
	assert.Zero(t, tr.Ledger().Ignored)
}
