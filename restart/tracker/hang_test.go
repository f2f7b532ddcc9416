package tracker_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// farm is a host that knows starts and ends alone. Attempts for which hangs says so never end.
type farm struct {
	tr      *tracker.Tracker
	hangs   func(task, attempt int) bool
	running map[[2]int]time.Time // when it ends; the zero time for never
	slots   int
}

const farmTask = 10 * time.Second // what an attempt takes that does not hang

func newFarm(t *testing.T, c tracker.Config, hangs func(task, attempt int) bool) *farm {
	t.Helper()
	return &farm{tr: newTracker(t, c), hangs: hangs, running: map[[2]int]time.Time{}, slots: c.Slots}
}

// step lets a second pass: what is due ends, the tracker is asked about all that runs and for all slots that are free.
func (f *farm) step(now time.Time) {
	for task := range f.tr.Phase().Tasks {
		for attempt := range 100 {
			end, runs := f.running[[2]int{task, attempt}]
			if !runs || end.IsZero() || now.Before(end) {
				continue
			}
			delete(f.running, [2]int{task, attempt})
			for _, other := range f.tr.Finish(now, task, attempt) {
				delete(f.running, [2]int{task, other})
			}
		}
	}
	f.tr.Sweep(now, func(a tracker.Answer) { f.carryOut(now, a) })
	for len(f.running) < f.slots {
		a := f.tr.Next(now, -1)
		if a.Action == restart.Keep {
			return
		}
		f.carryOut(now, a)
		if a.Action != restart.Start && a.Action != restart.Copy {
			continue
		}
		attempt, end := f.tr.Start(now, a.Task, -1), now.Add(farmTask)
		if f.hangs(a.Task, attempt) {
			end = time.Time{}
		}
		f.running[[2]int{a.Task, attempt}] = end
	}
}

func (f *farm) carryOut(now time.Time, a tracker.Answer) {
	switch a.Action {
	case restart.Restart:
		f.tr.Restart(now, a.Task, a.Attempt)
	case restart.Kill:
		f.tr.Kill(now, a.Task, a.Attempt)
	default:
		return
	}
	delete(f.running, [2]int{a.Task, a.Attempt})
}

func (f *farm) done() bool {
	p := f.tr.Phase()
	return p.Finished == p.Tasks
}

// anyBudget is one at random, the strictest included.
func anyBudget(t *testing.T, rng *rand.Rand) *tracker.Budget {
	one := func(of ...float64) float64 { return of[rng.IntN(len(of))] }
	return newBudget(t, tracker.BudgetConfig{
		Slots: int(one(0, 1, 20, 1000)), Share: one(0, restart.Off, 0.001, 0.3), Rate: one(0, restart.Off, 0.001, 0.5),
		Floor: int(one(0, restart.Off, 1, 7)),
	})
}

// Whatever the budget, phases whose first attempts hang end, as long as there are slots that are free.
func TestNoBudgetKeepsAPhaseFromEnding(t *testing.T) {
	const trials = uint64(60)
	policies := []restart.Policy{restart.Mantri{}, rules.Dryad{}, rules.Spark{Quantile: 0.75, MinRuntime: time.Second}, rules.Flink{}}
	refused := 0
	for seed := range trials {
		rng := rand.New(rand.NewPCG(seed, 21))
		budget, policy := anyBudget(t, rng), policies[rng.IntN(len(policies))]
		farms := make([]*farm, 1+rng.IntN(3))
		for i := range farms {
			slots := 10 + rng.IntN(20)
			tasks := 2*slots + rng.IntN(20)
			hung := tasks - 1 - rng.IntN(slots/4) // the last ones, once all have started
			farms[i] = newFarm(t, tracker.Config{Tasks: tasks, Slots: slots, Interval: time.Second, Policy: policy, Budget: budget},
				func(task, attempt int) bool { return task >= hung && attempt == 0 })
		}
		left := len(farms)
		for s := 0; left > 0; s++ {
			require.Less(t, s, 3600, "seed %d: %v does not end with %+v", seed, rules.Text(policy), budget.Config())
			now := start.Add(time.Duration(s) * time.Second)
			for i, f := range farms {
				if f == nil {
					continue
				}
				if f.step(now); f.done() {
					refused += blockedByBudget(f.tr)
					f.tr.Close(now)
					farms[i] = nil
					left--
				}
			}
		}
		assert.Zero(t, budget.Running())
	}
	assert.Greater(t, refused, 100, "budgets bind")
}

// blockedByBudget counts the answers that the budget took back.
func blockedByBudget(tr *tracker.Tracker) (n int) {
	for d, times := range tr.Decisions() {
		if d.Reason == restart.BudgetSpent {
			n += times
		}
	}
	return n
}

// An instant that was never read ages nothing: neither as the first one, nor between others. Who observes is told none.
func TestZeroTime(t *testing.T) {
	for bad, want := range map[int]time.Duration{-1: 3 * time.Second, 0: 3 * time.Second, 3: 4 * time.Second} {
		var told []tracker.Event
		tr := newTracker(t, tracker.Config{
			Tasks: 4, Slots: 4, Interval: time.Second, OnEvent: func(e tracker.Event, _ tracker.Answer) { told = append(told, e) },
		})
		for i := range 6 {
			now := time.Unix(1e9+int64(i), 0)
			if i == bad {
				now = time.Time{}
			}
			if i < 4 {
				tr.Start(now, i, i)
			}
			tr.Sweep(now, func(a tracker.Answer) { t.Errorf("bad %d, at %d: %v", bad, i, a) })
		}
		tr.Finish(time.Unix(1e9+6, 0), 3, 0)
		assert.Equal(t, want, tr.Ledger().Used, "bad %d", bad)
		assert.Equal(t, bad >= 0, tr.Ledger().ClockSteps > 0)
		assert.Equal(t, bad == 0, told[0].Time.IsZero(), "nothing was known yet")
		assert.False(t, told[6].Time.IsZero())
	}
}

// Phases without progress get on, however many attempts hang, whether all slots are held by them or no second copies may
// run; only what has hung as often as a task may be begun again does not end.
func TestPhasesOfWhichAttemptsHangGetOn(t *testing.T) {
	for name, of := range map[string]struct {
		share  float64
		single bool
		hang   int // of the first wave
	}{"three in ten": {share: .3}, "three in ten, no copies": {share: .3, single: true}, "all but one at first": {hang: 19}} {
		for seed := range uint64(6) {
			rng := rand.New(rand.NewPCG(seed, 5))
			c := tracker.Config{Tasks: 60, Slots: 20, Interval: time.Second, Policy: restart.LeastCost{}}
			f := newFarm(t, c, func(task, attempt int) bool {
				return attempt == 0 && task < of.hang || rng.Float64() < of.share
			})
			for task := range 60 {
				f.tr.SetEligible(task, !of.single, true)
			}
			ended, spent := 0, 0
			for s := 0; s < 4000 && ended+spent < 60; s++ {
				f.step(start.Add(time.Duration(s) * time.Second))
				ended, spent = f.tr.Phase().Finished, 0
				for id, end := range f.running {
					if id[1] == 3 && end.IsZero() {
						spent++ // it was restarted three times
					}
				}
			}
			assert.Equal(t, 60, ended+spent, "%s, seed %d", name, seed)
			assert.Less(t, spent, 4, "%s, seed %d", name, seed)
		}
	}
}

// A task of which all attempts hang gets copy after copy, each at twice the age of the one before it at most.
func TestWhatHangsGetsItsCopies(t *testing.T) {
	c := tracker.Config{Tasks: 20, Slots: 20, Interval: time.Second, Policy: restart.LeastCost{}}
	f := newFarm(t, c, func(task, attempt int) bool { return task == 7 && attempt < 6 })
	for s := 0; s < 2000 && !f.done(); s++ {
		f.step(start.Add(time.Duration(s) * time.Second))
	}
	assert.True(t, f.done())
}
