package tracker_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/tracker"
)

// The Tracker gives the same facts and answers as the oracle under random events, some of which make no sense.
func TestTheTrackerAgreesWithTheOracle(t *testing.T) {
	t.Parallel()
	for name, policy := range policytest.Policies() {
		t.Run(name, func(t *testing.T) {
			acted, tiny := 0, 0
			seeds := cases(72, 120)
			for seed := range seeds {
				w := newWorld(t, policy, seed)
				for range 250 {
					w.step()
					if got, want := w.tracker.Ledger(), w.oracle.ledger(); got != want || w.whole.Ledger() != want {
						w.fatal("ledger is %+v, want %+v", got, want)
					}
				}
				w.facts()
				if w.oracle.tiny {
					tiny++
				}
				acted += w.acted
			}
			assert.Greater(t, tiny, int(seeds)/24, "in some worlds the unit must be too small, or the test shows nothing")
			if name != "never" {
				assert.Greater(t, acted, int(seeds)/2, "the policy must act, or the test shows nothing")
			}
		})
	}
}

// Tracker.Next gives the same answer as restart.Next on the same facts, after a decision about every task.
func TestTrackerNextAgreesWithRestartNext(t *testing.T) {
	for name, policy := range policytest.Policies() {
		t.Run(name, func(t *testing.T) {
			compared := 0
			seeds := cases(60, 200)
			for seed := range seeds {
				w := newWorld(t, policy, 1000+seed)
				for range 60 {
					w.step()
				}
				acts := false // a Sweep carries out restarts and kills; Next decides about the rest
				w.tracker.Sweep(w.now, func(d tracker.Answer) { acts = acts || d.Action != restart.Copy })
				if acts || w.tracker.Phase().FreeSlots == 0 {
					continue
				}
				w.oracle.tick(w.now)
				var running []restart.Task
				var works []float64
				var runs, waits []int
				for i := range w.oracle.tasks {
					if w.oracle.runs(i) {
						running = append(running, w.oracle.task(i))
						runs = append(runs, i)
					} else if !w.oracle.tasks[i].finished && len(w.oracle.running(i)) == 0 {
						works = append(works, w.oracle.work[i])
						waits = append(waits, i)
					}
				}
				i, want := restart.Next(policy, running, works, w.tracker.Phase())
				got := w.tracker.Next(w.now, -1)
				if want.Action == restart.Keep {
					require.Equal(t, -1, got.Task)
					require.Equal(t, restart.Keep, got.Action)
					continue
				}
				if want.Action == restart.Start {
					i = waits[i]
				} else {
					i = runs[i]
				}
				require.Equal(t, i, got.Task, "%v, want %v", got, want)
				want.Avoid = got.Avoid // LATE avoids more machines
				require.Equal(t, want, got.Decision)
				compared++
			}
			assert.Greater(t, compared, int(seeds)/10)
		})
	}
}
