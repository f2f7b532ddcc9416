package restart_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// The Tracker against the oracle, under random events with rubbish among them.
func TestTrackerAgainstOracle(t *testing.T) {
	for name, policy := range policies() {
		t.Run(name, func(t *testing.T) {
			acted := 0
			for seed := range uint64(120) {
				w := newWorld(t, policy, seed)
				for range 250 {
					w.step()
					if got, want := w.tracker.Ledger(), w.oracle.ledger(); got != want || w.whole.Ledger() != want {
						w.fatal("ledger is %+v, want %+v", got, want)
					}
				}
				w.facts()
				for _, line := range w.log {
					if strings.Contains(line, " duplicate ") || strings.Contains(line, " restart fresh") {
						acted++
					}
				}
			}
			if name != "never" {
				assert.Greater(t, acted, 50, "the events must make the policy act, or this shows nothing")
			}
		})
	}
}

// Next of a Tracker is Next over the same facts, when all tasks were judged on them.
func TestTrackerNextIsNext(t *testing.T) {
	for name, policy := range policies() {
		t.Run(name, func(t *testing.T) {
			compared := 0
			for seed := range uint64(200) {
				w := newWorld(t, policy, 1000+seed)
				for range 60 {
					w.step()
				}
				acts := false // a Sweep tells of restarts and kills at once; Next is for what is left
				w.tracker.Sweep(w.now, func(_ int, d restart.Decision) { acts = acts || d.Action != restart.Duplicate })
				if acts || w.tracker.Phase().FreeSlots == 0 {
					continue
				}
				w.oracle.tick(w.now)
				var running []restart.Task
				var works []float64
				var runs, waits []int
				for i := range w.oracle.tasks {
					if w.oracle.runs(i) {
						running = append(running, w.oracle.task(i, w.tracker.Rates()))
						runs = append(runs, i)
					} else if !w.oracle.tasks[i].finished && len(w.oracle.running(i)) == 0 {
						works = append(works, w.oracle.work[i])
						waits = append(waits, i)
					}
				}
				i, want := restart.Next(policy, running, works, w.tracker.Phase())
				task, got := w.tracker.Next(w.now, -1)
				if want.Action == restart.Keep {
					require.Equal(t, -1, task)
					require.Equal(t, restart.Keep, got.Action)
					continue
				}
				if want.Action == restart.Start {
					i = waits[i]
				} else {
					i = runs[i]
				}
				require.Equal(t, i, task, "%v, want %v", got, want)
				require.Equal(t, want, got)
				compared++
			}
			assert.Greater(t, compared, 20)
		})
	}
}

// Prune names what Decide kills one by one, and Decide never kills the last copy.
func TestPruneIsDecideAndKill(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	pruned := 0
	for range 20000 {
		m := restart.Mantri{FastestKept: rng.IntN(4), CopyPause: float64(rng.IntN(4))}
		p := restart.Phase{Interval: time.Duration(rng.IntN(4)-1) * time.Second, Waiting: rng.IntN(2)}
		copies := make([]restart.Copy, rng.IntN(7))
		for i := range copies {
			copies[i] = restart.Copy{
				Machine: i, Elapsed: time.Duration(rng.IntN(8)-1) * time.Second, Remaining: time.Duration(rng.IntN(5)-1) * time.Second,
			}
			if rng.IntN(5) == 0 {
				copies[i].Remaining = estimate.Unknown
			}
		}
		want := m.Prune(nil, copies, p)
		require.True(t, slices.IsSorted(want))
		pruned += len(want)
		task := restart.Task{Copies: slices.Clone(copies), Fresh: fresh(1e9)}
		var got []int
		for {
			d := m.Decide(task, p)
			if d.Action != restart.Kill {
				break
			}
			got = append(got, task.Copies[d.Copy].Machine)
			task.Copies = slices.Delete(task.Copies, d.Copy, d.Copy+1)
		}
		require.True(t, len(task.Copies) > 0 || len(copies) == 0)
		slices.Sort(got)
		require.Equal(t, len(want), len(got), "%+v %+v", m, copies)
		require.True(t, slices.Equal(want, got), "%+v %+v: %v, want %v", m, copies, got, want)
	}
	assert.Greater(t, pruned, 1000)
}

// To raise t_rem of any of a task's copies never turns Restart into Keep, and to raise t_new never turns Keep into Restart.
func TestDecideIsMonotoneInEachCopy(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	restarts := 0
	for range 50000 {
		m := restart.Mantri{FastestKept: rng.IntN(4), CopyPause: float64(rng.IntN(3)), RaisedBar: float64(rng.IntN(2))}
		p := restart.Phase{Interval: time.Duration(rng.IntN(3)) * time.Second, Waiting: rng.IntN(2), FreeSlots: rng.IntN(2)}
		task := restart.Task{Restarts: rng.IntN(4), SinceCopy: time.Duration(rng.IntN(5)) * time.Second}
		for i := range 1 + rng.IntN(3) {
			task.Copies = append(task.Copies, restart.Copy{
				Machine: i, Elapsed: time.Duration(rng.IntN(8)) * time.Second, Remaining: time.Duration(rng.IntN(30)-1) * time.Second,
			})
			if rng.IntN(6) == 0 {
				task.Copies[i].Remaining = estimate.Unknown
			}
		}
		mean := float64(rng.IntN(20))
		task.Fresh = fresh(mean)
		d := m.Decide(task, p)
		switch d.Action {
		case restart.Keep:
			task.Fresh = fresh(mean + float64(rng.IntN(20)))
			require.NotEqual(t, restart.Restart, m.Decide(task, p).Action, "%+v %+v %+v", m, task, p)
		case restart.Restart:
			restarts++
			if c := &task.Copies[rng.IntN(len(task.Copies))]; c.Remaining != estimate.Unknown {
				c.Remaining += time.Duration(rng.IntN(30)) * time.Second
			}
			require.NotEqual(t, restart.Keep, m.Decide(task, p).Action, "%+v %+v %+v", m, task, p)
		}
	}
	assert.Greater(t, restarts, 1000)
}
