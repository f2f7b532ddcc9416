package tracker_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/tracker"
)

// noted is a record of machines that notes which attempts run, as trackers report them.
type noted struct {
	*machines.Record
	runs map[uint64]bool
}

func (n noted) Running(now time.Time, machine int, key uint64, a machines.Attempt) bool {
	n.runs[key] = true
	return n.Record.Running(now, machine, key, a)
}

func (n noted) End(now time.Time, machine int, key uint64, a machines.Attempt, how machines.Outcome) bool {
	delete(n.runs, key)
	return n.Record.End(now, machine, key, a, how)
}

// A phase goes through random events and is closed. After the Close it holds nothing of its Budget and its Record,
// does nothing, and does not change.
func TestCloseReleasesSharedParts(t *testing.T) {
	held, ran := 0, 0
	for name, policy := range policytest.Policies() {
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 19))
			d := &driver{t: t, rng: rng, now: time.Unix(1e9, 5), n: 1 + rng.IntN(20)}
			c := d.config(policy)
			c.Slots = 1 + rng.IntN(12)
			record, err := machines.New(machines.Config{})
			require.NoError(t, err)
			runs := noted{record, map[uint64]bool{}}
			budget := newBudget(t, tracker.BudgetConfig{Share: 0.5, Floor: restart.Off, Rate: restart.Off})
			c.Record, c.Budget = runs, budget
			tr := newTracker(t, c)
			for range rng.IntN(150) {
				if e := d.event(); e.Kind != tracker.Closed {
					tr.Apply(e)
				}
			}
			held += budget.Running()
			ran += len(runs.runs)
			before := tr.Ledger()

			tr.Close(d.now)
			p, l := tr.Phase(), tr.Ledger()
			require.Zero(t, budget.Running(), "%s, seed %d", name, seed)
			require.Empty(t, runs.runs, "%s, seed %d", name, seed)
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

// A closed phase takes a late success. If an output is lost after the Close, the task can run again.
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
