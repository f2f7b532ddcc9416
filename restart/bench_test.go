package restart_test

import (
	"math/rand/v2"
	"testing"
	"time"

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
			Fresh: estimate.Fresh{UnitTime: rate, Work: 1 + rng.Float64(), Lag: time.Second},
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
