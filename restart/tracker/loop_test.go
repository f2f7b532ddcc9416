package tracker_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/tracker"
)

// loop runs a random phase with slow attempts: a tenth of the attempts take 3 to 20 times as long as their work
// needs.
func loop(t *testing.T, seed uint64, c tracker.Config, exact bool, watch func(s *sim, now time.Duration, a tracker.Answer)) *sim {
	rng := rand.New(rand.NewPCG(seed, 11))
	c.Work = make([]float64, 20+rng.IntN(100))
	for i := range c.Work {
		c.Work[i] = 20 + rng.ExpFloat64()*40
	}
	c.Machines, c.Interval = 4+rng.IntN(20), 5*time.Second
	if c.Budget != nil {
		var err error
		config := c.Budget.(*tracker.Budget).Config()
		config.Slots = c.Machines
		c.Budget, err = tracker.NewBudget(config)
		require.NoError(t, err)
	}
	work := c.Work
	s := newSim(t, c, func(task, _, _ int) time.Duration {
		factor := 0.8 + 0.4*rng.Float64()
		if rng.IntN(10) == 0 {
			factor = 3 + 17*rng.Float64()
		}
		return seconds(work[task] * factor)
	})
	s.exact = exact
	s.watch = func(now time.Duration, a tracker.Answer) { watch(s, now, a) }
	s.run(t)
	return s
}

// The rules of Mantri §5.1, with exact and with extrapolated estimates, in phases that carry out the decisions. A
// task is restarted at most γ times, never has more than three attempts, and gets no copy soon after a launch or a
// kill.
func TestMantriKeepsItsBoundsInAClosedLoop(t *testing.T) {
	var all tracker.Ledger
	for seed := range cases(75, 150) {
		restarts, changed := map[int]int{}, map[int]time.Duration{}
		config := tracker.Config{Policy: restart.Mantri{}, Limits: restart.Limits{LossShare: restart.Off}}
		if seed%3 == 0 {
			config.Policy = restart.Mantri{MaxRestarts: restart.Off} // so that only copies are left
		}
		s := loop(t, seed, config, seed%2 == 0, func(s *sim, now time.Duration, d tracker.Answer) {
			running, task := 0, d.Task
			for attempt := range 40 {
				if _, ok := s.running[[2]int{task, attempt}]; ok {
					running++
				}
			}
			switch d.Action {
			case restart.Copy:
				require.Less(t, running, 3, "a task has at most three attempts")
				if last, ok := changed[task]; ok {
					require.GreaterOrEqual(t, now-last, 2*s.interval, "task %d at %v", task, now)
				}
				changed[task] = now
				if d.Reason == restart.SavesResources && running == 1 {
					require.Greater(t, d.Value, 0.25)
				}
			case restart.Restart:
				restarts[task]++
				require.LessOrEqual(t, restarts[task], 3)
				require.Greater(t, d.Remaining, d.Fresh+s.interval)
				if running > 1 {
					changed[task] = now
				}
			case restart.Kill:
				changed[task] = now
				require.Greater(t, running, 2)
			}
		})
		l := s.tracker.Ledger()
		require.Equal(t, len(s.work), l.Finished)
		require.Equal(t, 0, l.Ignored)
		require.Equal(t, s.tracker.Phase().Slots, s.tracker.Phase().FreeSlots)
		require.LessOrEqual(t, l.Wasted, l.Used)
		all.Copies += l.Copies
		all.Won += l.Won
		all.Restarts += l.Restarts
		all.Pruned += l.Pruned
	}
	assert.Greater(t, all.Copies, 100)
	assert.Greater(t, all.Restarts, 100)
}

// Every policy ends the phase. Two runs of the same phase give exactly the same numbers.
func TestClosedLoopsAreDeterministic(t *testing.T) {
	for name, policy := range policytest.Policies() {
		t.Run(name, func(t *testing.T) {
			for seed := range cases(2, 8) {
				run := func() (log []string, l tracker.Ledger) {
					s := loop(t, seed, tracker.Config{Policy: policy}, false, func(_ *sim, now time.Duration, d tracker.Answer) {
						log = append(log, fmt.Sprintf("%v %d %v %d", now, d.Task, d, d.Attempt))
					})
					return log, s.tracker.Ledger()
				}
				log, ledger := run()
				again, second := run()
				require.Equal(t, log, again)
				require.Equal(t, ledger, second)
			}
		})
	}
}

// A host that asks before it launches a copy never exceeds a budget. The budget never requests the end of a running
// copy.
func TestAHostThatAsksExceedsNoBudget(t *testing.T) {
	refused, launched := 0, 0
	for seed := range uint64(60) {
		budget, err := tracker.NewBudget(tracker.BudgetConfig{Slots: 10, Share: 0.15, Rate: 0.05, Floor: 1})
		require.NoError(t, err)
		copies, beside, first := 0, 0, map[int]bool{}
		config := tracker.Config{Budget: budget, Policy: restart.Mantri{MaxRestarts: restart.Off}}
		s := loop(t, seed, config, true, func(s *sim, _ time.Duration, d tracker.Answer) {
			switch d.Action {
			case restart.Start:
				first[d.Task] = true
			case restart.Copy:
				copies++
				running := s.tracker.Phase().Copies + 1
				require.True(t, running <= 1 || float64(running)/float64(s.tracker.Phase().Slots) <= 0.15)
				if running > 1 {
					beside++
				}
				require.LessOrEqual(t, float64(beside), 1+0.05*float64(len(first))+1e-9, "at most the floor and the earned copies may run")
			}
		})
		b := s.tracker.Config().Budget.(*tracker.Budget)
		require.Zero(t, b.Running(), "the budget must get all copies back")
		launched += copies
		for d, n := range s.tracker.Decisions() {
			if d.Reason == restart.BudgetSpent && n > 0 {
				refused++
			}
		}
	}
	assert.Greater(t, launched, 50)
	assert.Greater(t, refused, 10)
}
