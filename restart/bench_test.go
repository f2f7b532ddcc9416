package restart_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
)

// runningTasks returns n running tasks, and their phase, in which tasks wait. Most of the tasks are kept.
func runningTasks(n int, rate estimate.Distribution) ([]restart.Task, restart.Phase) {
	rng := rand.New(rand.NewPCG(1, 2))
	tasks := make([]restart.Task, n)
	for i := range tasks {
		left := rng.ExpFloat64() * 30
		tasks[i] = restart.Task{
			Attempts: []restart.Attempt{{
				Machine: i % 40, Elapsed: seconds(10 + rng.Float64()*60), Remaining: seconds(left), Score: 0.5, Done: 0.5,
			}},
			Fresh: estimate.Fresh{UnitTime: rate, Work: 1 + rng.Float64(), Lag: time.Second},
		}
	}
	return tasks, restart.Phase{Interval: 5 * time.Second, Tasks: 2 * n, Waiting: n / 2, Slots: n, Machines: 40}
}

// empirical returns a distribution of n random times.
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
			tasks, phase := runningTasks(1000, c.rate)
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

// BenchmarkDecideUncertain decides about tasks with an uncertain t_rem: by the progress of the attempts, or by their
// ages.
func BenchmarkDecideUncertain(b *testing.B) {
	for _, basis := range []restart.Basis{restart.ByProgress, restart.ByAge} {
		for _, attempts := range []int{1, 2} {
			for _, idle := range []int{0, 1} {
				b.Run(fmt.Sprintf("by=%v/attempts=%d/idle=%d", basis, attempts, idle), func(b *testing.B) {
					tasks, phase := uncertain(1000, basis, attempts)
					if idle > 0 {
						phase.Waiting, phase.FreeSlots = 0, idle
					}
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
	}
}

// uncertain gives the attempts of n running tasks a distribution of t_rem: from a curve of a thousand times, or from
// sixteen errors.
func uncertain(n int, basis restart.Basis, attempts int) ([]restart.Task, restart.Phase) {
	rng := rand.New(rand.NewPCG(7, 8))
	tasks, phase := runningTasks(n, empirical(1000))
	curve, shape := new(survival.Curve), new(survival.Shape)
	for i := range 1000 {
		curve.Observe(20+rng.ExpFloat64()*10, i%10 > 0)
	}
	curve.Fit()
	for range 20 {
		var trail survival.Trail
		took := 20 + rng.ExpFloat64()*10
		for share := 0.05; share < 1; share += 0.05 {
			trail.Report(seconds(took*share*(0.8+0.4*rng.Float64())), share)
		}
		shape.Finish(&trail, seconds(took), estimate.Linear{})
	}
	for i := range tasks {
		t := &tasks[i]
		for len(t.Attempts) < attempts {
			t.Attempts = append(t.Attempts, restart.Attempt{
				Machine: rng.IntN(40), Elapsed: t.Attempts[0].Elapsed / 2, Remaining: seconds(rng.ExpFloat64() * 30), Score: 0.4, Done: 0.4,
			})
		}
		for k := range t.Attempts {
			c := &t.Attempts[k]
			age := c.Elapsed.Seconds()
			residual, outlook := new(survival.Residual), new(survival.Outlook)
			residual.Set(curve, age, 1)
			p := survival.Prediction{Age: age, Total: age + c.Remaining.Seconds(), Stage: 6}
			if c.Basis, c.Left = restart.ByAge, residual; basis == restart.ByProgress && shape.Outlook(outlook, p, curve) {
				c.Basis, c.Left = restart.ByProgress, outlook
			}
			c.Remaining = seconds(c.Left.Mean())
		}
	}
	return tasks, phase
}
