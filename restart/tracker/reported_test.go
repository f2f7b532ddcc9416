package tracker_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/internal/policytest"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// watched is a policy that stores the task that it decides about.
type watched struct {
	restart.Policy
	saw *restart.Task
}

func (w watched) Decide(t restart.Task, p restart.Phase) restart.Decision {
	*w.saw = t
	return w.Policy.Decide(t, p)
}

func (w watched) Describe() rules.Description { return rules.Describe(w.Policy) }

// A policy reads the work that the host has reported, to the bit, and a size that is not known is 0. The host reports
// any numbers, some of them more than the size that the tracker assumes.
func TestAPolicyReadsTheReportedWork(t *testing.T) {
	reports := int(cases(10_000, 100_000))
	policies := policytest.Policies()
	for name, policy := range policies {
		rng := rand.New(rand.NewPCG(6, 1))
		for range reports / len(policies) / 10 {
			sizes := []float64{1000 * rng.ExpFloat64(), 1000 * rng.ExpFloat64(), math.NaN()}
			var saw restart.Task
			tr := newTracker(t, tracker.Config{
				Work: sizes, Slots: 3, Interval: time.Second, Policy: watched{policy, &saw},
			})
			most, now := [3]float64{}, start
			for task := range sizes {
				tr.Start(now, task, task)
			}
			for range 10 {
				now = now.Add(time.Duration(rng.Int64N(int64(5 * time.Second))))
				task := rng.IntN(3)
				done := 3000 * rng.Float64()
				if task < 2 {
					done = sizes[task] * rng.Float64()
				}
				most[task] = max(most[task], done)
				saw = restart.Task{Attempts: []restart.Attempt{{Done: math.NaN()}}}
				tr.Report(now, task, 0, tracker.Report{Done: done})
				if math.IsNaN(saw.Attempts[0].Done) {
					continue // cheap bounds kept the task
				}
				if done := saw.Attempts[0].Done; math.Float64bits(done) != math.Float64bits(most[task]) || saw.Work == 0 != (task == 2) {
					t.Fatalf("%s: task %d has done %v of %v, want %v", name, task, done, saw.Work, most[task])
				}
			}
		}
	}
}

// Spark compares the work that an attempt does each second. Of healthy tasks whose sizes are not known and differ, it
// copies none, however large they are.
func TestSparkCopiesNoHealthyTaskOfUnknownSize(t *testing.T) {
	spark := rules.Spark{Quantile: .75, Multiplier: 1.5, LongRun: 100, MinRuntime: restart.Off}
	rng, asked := rand.New(rand.NewPCG(6, 2)), 0
	for range 100 {
		work := make([]float64, 32)
		for i := range work {
			if work[i] = 10_000; i >= 24 {
				work[i] = math.NaN()
			}
		}
		tr := newTracker(t, tracker.Config{Work: work, Slots: 32, Interval: time.Second, Policy: spark})
		for i := range work {
			tr.Start(start, i, i)
		}
		for i := range 24 {
			tr.Finish(at(20), i, 0)
		}
		for i := 24; i < 32; i++ {
			speed := 500 * (.8 + .4*rng.Float64()) // units a second; the others did 500
			now := float64(31 + i - 24)
			a := tr.Report(at(now), i, 0, tracker.Report{Done: speed * now})
			require.Equal(t, restart.Keep, a.Action, "%v", a)
			require.NotEqual(t, restart.TooFewFinished, a.Reason)
			asked++
		}
	}
	require.Equal(t, 800, asked)
}
