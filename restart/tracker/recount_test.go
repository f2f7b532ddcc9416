package tracker_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Each count that the parts keep as events arrive is the same as if it were counted again from the tasks, the attempts
// and the machines, after each of many random events, some of which make no sense.
func TestEveryCountIsRightAfterEachEvent(t *testing.T) {
	t.Parallel()
	for name, policy := range policytest.Policies() {
		t.Run(name, func(t *testing.T) {
			for seed := range cases(2, 60) {
				w := newWorld(t, policy, 2000+seed)
				for range 250 {
					w.step()
					tracker.Recount(t, w.tracker)
					tracker.Recount(t, w.whole)
				}
			}
		})
	}
}

// The same holds with the default policy, which learns more, with clones, with machines that leave, and after a restore.
func TestEveryCountIsRightWithTheDefault(t *testing.T) {
	t.Parallel()
	for seed := range cases(8, 200) {
		rng := rand.New(rand.NewPCG(seed, 71))
		work := make([]float64, 4+rng.IntN(27))
		for i := range work {
			work[i] = 1 + rng.Float64()
		}
		config := tracker.Config{
			Work: work, Slots: 4 + rng.IntN(30), Machines: 1 + rng.IntN(10), Interval: time.Second, Clones: 1 + int(seed%4)/2,
		}
		tr, err := tracker.New(config)
		require.NoError(t, err)
		w := randomEvents{rng: rng, tracker: tr, work: work, machines: config.Machines}
		for i := range 600 {
			if i%150 == 149 {
				w.tracker = restored(t, w.tracker, config)
			}
			w.tracker.Apply(w.next())
			tracker.Recount(t, w.tracker)
		}
		w.tracker.Close(start.Add(w.now))
		tracker.Recount(t, w.tracker)
	}
}

// A machine is suspect by the definition, which a slow oracle follows, after each refit of the curve of run times. Some
// attempts run on machines that nobody names. Half of the phases have one machine, which is never suspect.
func TestSuspectMachinesAreThoseOfTheOracle(t *testing.T) {
	t.Parallel()
	suspects := 0
	for seed := range cases(20, 400) {
		rng := rand.New(rand.NewPCG(seed, 73))
		machines := 1 + int(seed%2)*(1+rng.IntN(5))
		tr, err := tracker.New(tracker.Config{Tasks: 400, Slots: 60, Machines: machines, Interval: time.Second})
		require.NoError(t, err)
		type job struct{ task, attempt, machine int }
		var jobs []job
		now, next := start, 0
		for turn := range 120 {
			now = now.Add(time.Second)
			for len(jobs) < 40 && next < 400 {
				machine := rng.IntN(machines+1) - 1
				if rng.IntN(2) == 0 {
					machine = -1
				}
				jobs = append(jobs, job{next, tr.Start(now, next, machine), machine})
				next++
			}
			kept := jobs[:0]
			for _, one := range jobs {
				takes := 5 + float64(one.task%7)
				if one.machine == 0 && turn > 20 {
					takes *= 8
				}
				for a := range tr.Attempts(one.task) {
					share := a.Age.Seconds() / takes
					if share >= 1 {
						tr.Finish(now, one.task, one.attempt)
					} else {
						kept = append(kept, one)
						if seed%3 > 0 {
							tr.Report(now, one.task, one.attempt, tracker.Report{Done: share})
						}
					}
				}
			}
			jobs = kept
			suspects += tracker.Suspects(t, tr)
		}
	}
	require.Greater(t, suspects, 100, "some machines must be suspect, or the test shows nothing")
}

// The same holds for a growing phase, which forgets tasks, attempts and ends.
func TestEveryCountOfAGrowingPhaseIsRight(t *testing.T) {
	t.Parallel()
	names := []string{"", "late", "hadoop", "dryad", "spark"}
	for seed := range cases(5, 100) {
		config := tracker.Config{
			Recent: time.Duration(5+seed%3*20) * time.Second, Slots: 30, Machines: 6, Interval: time.Second, Clones: 1 + int(seed%5)/4,
		}
		if name := names[seed%5]; name != "" {
			policy, err := rules.Parse(name)
			require.NoError(t, err)
			config.Policy, config.Limits = policy, restart.Limits{LossShare: restart.Off}
		}
		tr, err := tracker.New(config)
		require.NoError(t, err)
		s := stream{t: t, rng: rand.New(rand.NewPCG(seed, 72)), tracker: tr}
		for i := range cases(600, 1200) {
			s.step()
			if i%300 == 299 {
				s.tracker = restored(t, s.tracker, config)
			}
			tracker.Recount(t, s.tracker)
		}
	}
}
