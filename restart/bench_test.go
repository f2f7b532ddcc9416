package restart_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// ring returns running tasks of mixed fortunes, most of them with nothing to do about, and a phase whose tasks wait.
func ring(n int, rate estimate.Distribution) ([]restart.Task, restart.Phase) {
	rng := rand.New(rand.NewPCG(1, 2))
	tasks := make([]restart.Task, n)
	for i := range tasks {
		left := rng.ExpFloat64() * 30
		tasks[i] = restart.Task{
			Copies: []restart.Copy{{
				Machine: i % 40, Elapsed: seconds(10 + rng.Float64()*60), Remaining: seconds(left), Score: 0.5, Done: 0.5,
			}},
			Fresh: estimate.Fresh{Rate: rate, Work: 1 + rng.Float64(), Lag: time.Second},
		}
	}
	return tasks, restart.Phase{Interval: 5 * time.Second, Tasks: 2 * n, Waiting: n / 2, Slots: n, Machines: 40}
}

func empirical(n int) *estimate.Empirical {
	rng := rand.New(rand.NewPCG(3, 4))
	e := new(estimate.Empirical)
	for range n {
		e.Insert(10 + rng.ExpFloat64()*20)
	}
	return e
}

func BenchmarkDecide(b *testing.B) {
	for _, c := range []struct {
		name string
		rate estimate.Distribution
	}{
		{"rate=empirical", empirical(1000)},
		{"rate=lognormal", distuv.LogNormal{Mu: 3, Sigma: 0.5}},
	} {
		b.Run("running=1000/"+c.name, func(b *testing.B) {
			tasks, phase := ring(1000, c.rate)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				sink = restart.Decide(tasks[i], phase)
				if i++; i == len(tasks) {
					i = 0
				}
			}
		})
	}
}

var sink restart.Decision

// steady is a phase whose tasks all run and report for ever: each report replaces the task's sample of the rates.
type steady struct {
	tracker *restart.Tracker
	now     time.Time
	step    time.Duration
	rng     *rand.Rand
	next    int
}

func newSteady(tb testing.TB, tasks int, policy restart.Policy) *steady {
	tb.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	work := make([]float64, tasks)
	for i := range work {
		work[i] = 1 + rng.Float64()
	}
	s := &steady{now: start, step: 10 * time.Second / time.Duration(tasks), rng: rng}
	tracker, err := restart.NewTracker(restart.Config{
		Work: work, Slots: tasks, Machines: 100, Interval: 10 * time.Second, Policy: policy,
	})
	require.NoError(tb, err)
	s.tracker = tracker
	for i := range work {
		tracker.Start(s.now, i, i%100)
	}
	for range 2 * tasks {
		s.report()
	}
	return s
}

// report makes the next task report. Done is about a thousandth of the work a report, so that no task ends.
func (s *steady) report() restart.Decision {
	s.now = s.now.Add(s.step)
	task := s.next
	if s.next++; s.next == s.tracker.Phase().Tasks {
		s.next = 0
	}
	progress := s.now.Sub(start).Seconds() / 1e4 * (0.5 + s.rng.Float64())
	return s.tracker.Report(s.now, task, 0, restart.Progress{Done: 0.2 + min(progress, 0.7)})
}

func BenchmarkTrackerReport(b *testing.B) {
	for _, tasks := range []int{1000, 100000, 1000000} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			s := newSteady(b, tasks, nil)
			b.ReportAllocs()
			for b.Loop() {
				sink = s.report()
			}
		})
	}
}
