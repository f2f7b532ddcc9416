package tracker_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// farm is a host that knows only when attempts start and end. If the function hangs returns true for an attempt, the
// attempt never ends.
type farm struct {
	tr      *tracker.Tracker
	hangs   func(task, attempt int) bool
	running map[[2]int]time.Time // when each attempt ends; the zero time for never
	slots   int
}

const farmTask = 10 * time.Second // the time of an attempt that does not hang

func newFarm(t *testing.T, c tracker.Config, hangs func(task, attempt int) bool) *farm {
	t.Helper()
	return &farm{tr: newTracker(t, c), hangs: hangs, running: map[[2]int]time.Time{}, slots: c.Slots}
}

// step advances the time by a second. It ends the attempts whose time is over. Then the tracker decides about all
// running tasks and all free slots.
func (f *farm) step(now time.Time) {
	var over [][2]int
	for id, end := range f.running {
		if !end.IsZero() && !now.Before(end) {
			over = append(over, id)
		}
	}
	slices.SortFunc(over, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, id := range over {
		if _, runs := f.running[id]; !runs { // another attempt of the task has finished
			continue
		}
		delete(f.running, id)
		for _, other := range f.tr.Finish(now, id[0], id[1]) {
			delete(f.running, [2]int{id[0], other})
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

// anyBudget returns a random budget. The strictest possible budget may be the result.
func anyBudget(t *testing.T, rng *rand.Rand) *tracker.Budget {
	one := func(of ...float64) float64 { return of[rng.IntN(len(of))] }
	return newBudget(t, tracker.BudgetConfig{
		Slots: int(one(0, 1, 20, 1000)), Share: one(0, restart.Off, 0.001, 0.3), Rate: one(0, restart.Off, 0.001, 0.5),
		Floor: int(one(0, restart.Off, 1, 7)),
	})
}

// Phases whose first attempts hang end under every budget, as long as slots are free.
func TestNoBudgetKeepsAPhaseFromEnding(t *testing.T) {
	trials := cases(20, 60)
	policies := []restart.Policy{restart.Mantri{}, rules.Dryad{}, rules.Spark{Quantile: 0.75, MinRuntime: time.Second}, rules.Flink{}}
	refused := 0
	for seed := range trials {
		rng := rand.New(rand.NewPCG(seed, 21))
		budget, policy := anyBudget(t, rng), policies[rng.IntN(len(policies))]
		farms := make([]*farm, 1+rng.IntN(3))
		for i := range farms {
			slots := 10 + rng.IntN(20)
			tasks := 2*slots + rng.IntN(20)
			hung := tasks - 1 - rng.IntN(slots/4) // the last attempts hang, after all tasks have started
			farms[i] = newFarm(t, tracker.Config{Tasks: tasks, Slots: slots, Interval: time.Second, Policy: policy, Budget: budget},
				func(task, attempt int) bool { return task >= hung && attempt == 0 })
		}
		left := len(farms)
		for s := 0; left > 0; s++ {
			require.Less(t, s, 3600, "seed %d: the phase of %v does not end under %+v", seed, rules.Text(policy), budget.Config())
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
	assert.Greater(t, refused, int(trials), "budgets must refuse copies, or the test shows nothing")
}

// blockedByBudget returns how many copies the budget refused.
func blockedByBudget(tr *tracker.Tracker) (n int) {
	for d, times := range tr.Decisions() {
		if d.Reason == restart.BudgetSpent {
			n += times
		}
	}
	return n
}

// An event with a zero time never makes an attempt older, whether it is the first event or a later event. If a time
// is known, an observer never gets a zero time.
func TestAZeroTimeAgesNothing(t *testing.T) {
	for bad, want := range map[int]time.Duration{-1: 3 * time.Second, 0: 3 * time.Second, 3: 4 * time.Second} {
		var seen []tracker.Event
		tr := newTracker(t, tracker.Config{
			Tasks: 4, Slots: 4, Interval: time.Second, OnEvent: func(e tracker.Event, _ tracker.Answer) { seen = append(seen, e) },
		})
		for i := range 6 {
			now := time.Unix(1e9+int64(i), 0)
			if i == bad {
				now = time.Time{}
			}
			if i < 4 {
				tr.Start(now, i, i)
			}
			tr.Sweep(now, func(a tracker.Answer) { t.Errorf("zero time at %d: the sweep at %d acts: %v", bad, i, a) })
		}
		tr.Finish(time.Unix(1e9+6, 0), 3, 0)
		assert.Equal(t, want, tr.Ledger().Used, "zero time at %d: the time must not count", bad)
		assert.Equal(t, bad >= 0, tr.Ledger().ClockSteps > 0)
		assert.Equal(t, bad == 0, seen[0].Time.IsZero(), "only the first event may have a zero time")
		assert.False(t, seen[6].Time.IsZero())
	}
}

// Phases without progress end, however many attempts hang, even if hung attempts occupy all slots or no copies are
// allowed. There is an exception: a task whose attempts hang as often as it may be restarted.
func TestPhasesWithHungAttemptsEnd(t *testing.T) {
	for name, of := range map[string]struct {
		share  float64
		single bool
		hang   int // attempts of the first wave that hang
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
						spent++ // restarted three times
					}
				}
			}
			assert.Equal(t, 60, ended+spent, "%s, seed %d", name, seed)
			assert.Less(t, spent, 4, "%s, seed %d", name, seed)
		}
	}
}

// The first six attempts of a task hang. The task gets a copy again and again, until an attempt ends. Each copy comes
// before the task is twice as old as it was at the copy before.
func TestAHungTaskGetsCopyAfterCopy(t *testing.T) {
	c := tracker.Config{Tasks: 20, Slots: 20, Interval: time.Second, Policy: restart.LeastCost{}}
	f := newFarm(t, c, func(task, attempt int) bool { return task == 7 && attempt < 6 })
	for s := 0; s < 2000 && !f.done(); s++ {
		f.step(start.Add(time.Duration(s) * time.Second))
	}
	assert.True(t, f.done())
}
