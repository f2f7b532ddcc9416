package tracker_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// harmOf runs a phase in which the attempts of task 0 report by the plan, and all other attempts report honestly. It
// checks the bounds. It returns how often task 0 was launched and how long it took.
func harmOf(t *testing.T, name string, policy restart.Policy, plan []byte, slots int) (launches int, took time.Duration) {
	const tasks = 5
	if policy == nil {
		policy = rash{rand.New(rand.NewPCG(7, 8))}
	}
	limits := rules.Describe(policy).Limits.Effective()
	tr := newTracker(t, tracker.Config{
		Tasks: tasks, Slots: slots * tasks, Machines: siegeMachines, Interval: whole / 10, Policy: policy,
	})
	s := &siege{
		t: t, rng: rand.New(rand.NewPCG(9, 10)), tr: tr, attempts: make([][]siegeAttempt, tasks), launched: make([]int, tasks),
		lost: make([]int, tasks), relaunched: make([]int, tasks), restarts: limits.Restarts, plan: plan,
		ended: make([]time.Duration, tasks),
	}
	s.run(tasks)
	require.LessOrEqual(t, s.launched[0], 1+limits.Restarts+limits.Copies, "%s, %v", name, plan)
	return s.launched[0], s.ended[0]
}

// A search looks for reports that launch a task most often, or delay it most. It starts from a few random plans, and
// changes some reports at a time. Even the worst plan stays within the bounds.
func TestWorstReportsKeepToTheLimits(t *testing.T) {
	t.Parallel()
	policies := policytest.Policies()
	policies["rash"] = nil // the same answers for each plan
	climbed, steps := 0, cases(15, 60)
	for _, name := range slices.Sorted(maps.Keys(policies)) {
		most, longest := 0, time.Duration(0)
		for seed := range uint64(4) {
			rng := rand.New(rand.NewPCG(seed, 12))
			score := func(plan []byte) int {
				launches, took := harmOf(t, name, policies[name], plan, 1+9*int(seed%2))
				most, longest = max(most, launches), max(longest, took)
				if seed < 2 {
					return 100*launches + int(took/(whole/10))
				}
				return launches + 100*int(took/(whole/10))
			}
			best := make([]byte, planned*planTicks)
			for i := range best {
				best[i] = byte(rng.IntN(256))
			}
			reached := score(best)
			for range steps {
				plan := slices.Clone(best)
				for range 1 + rng.IntN(6) {
					plan[rng.IntN(len(plan))] = byte(rng.IntN(256))
				}
				if got := score(plan); got >= reached {
					if got > reached {
						climbed++
					}
					best, reached = plan, got
				}
			}
		}
		t.Logf("%s: at most %d launches, at most %v", name, most, longest)
	}
	assert.Greater(t, climbed, 10, "the search must find worse plans than chance")
}
