package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// potential returns the figures of Dolly's §2: the reduction of the times of all jobs, and of small jobs, if every
// task with a rate below the median of its phase had the median rate. The trace was recorded under a policy. slots,
// if given, has the slots of each job.
func (t *trace) potential(policy restart.Policy, slots []int) (every, few float64) {
	recorded := t.config
	recorded.Restart, recorded.Interval = policy, interval(30)
	was := play(recorded, slots)
	even := t.config
	even.Restart, even.Interval, even.Record, even.Jobs = nil, 0, false, slices.Clone(t.config.Jobs)
	for i, took := range taskTimes(t.config.Jobs, was.Runs) {
		most := 1 / medianRate(took)
		tasks := make([]cluster.Task, len(took))
		for k := range tasks {
			tasks[k].Seconds = min(took[k], most)
		}
		even.Jobs[i].Phases = []cluster.Phase{{Tasks: tasks}}
	}
	could := play(even, slots)
	return t.gain(was, could, all), t.gain(was, could, small)
}

// taskTimes returns the time of each task of each job, from the start of its first attempt to the end of the attempt
// that won.
func taskTimes(jobs []cluster.Job, runs []cluster.Attempt) [][]float64 {
	begin, end := make([][]float64, len(jobs)), make([][]float64, len(jobs))
	for i, j := range jobs {
		n := len(j.Phases[0].Tasks)
		begin[i], end[i] = slices.Repeat([]float64{math.Inf(1)}, n), make([]float64, n)
	}
	for _, run := range runs {
		begin[run.Job][run.Task] = min(begin[run.Job][run.Task], run.Begin.Seconds())
		if run.Won {
			end[run.Job][run.Task] = run.End.Seconds()
		}
	}
	for i := range end {
		for k := range end[i] {
			end[i][k] -= begin[i][k]
		}
	}
	return end
}

// medianRate returns the median rate of equal tasks with these times; for an even number, the mean of the two middle
// rates.
func medianRate(took []float64) float64 {
	sorted := slices.Sorted(slices.Values(took))
	n := len(sorted)
	return (1/sorted[(n-1)/2] + 1/sorted[n/2]) / 2
}

// play runs a trace: all jobs on one cluster, or, if slots are given, each job on its own slots.
func play(c cluster.Config, slots []int) cluster.Result {
	if slots == nil {
		return must(c)
	}
	var whole cluster.Result
	for i, j := range c.Jobs {
		alone := c
		j.At = 0
		alone.Seed, alone.Jobs, alone.Machines = c.Seed<<16+uint64(i), []cluster.Job{j}, nodes(slots[i], 1, 0, 1)
		r := must(alone)
		for _, run := range r.Runs {
			run.Job = i
			whole.Runs = append(whole.Runs, run)
		}
		whole.Jobs = append(whole.Jobs, r.Jobs[0])
	}
	return whole
}

// quotas returns the slots of each job on Bing's cluster. The tasks per slot are as in Mantri's §3.1. Jobs of up to
// ten tasks run all tasks at once, as in Dolly's §1.
func quotas(seed uint64, jobs []cluster.Job) []int {
	r := rand.New(rand.NewPCG(seed, 83))
	slots := make([]int, len(jobs))
	for i, j := range jobs {
		n := len(j.Phases[0].Tasks)
		slots[i] = n
		if waves := tasksPerSlot(r); !small(n) {
			slots[i] = min(n, max(1, int(math.Round(float64(n)/waves))))
		}
	}
	return slots
}
