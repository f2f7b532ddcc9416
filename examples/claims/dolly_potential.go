package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// potential is Dolly's §2: by how much the jobs of a trace, all and the small ones, would end sooner if every task whose
// rate is below its phase's median had that rate. The trace is one that was recorded with a policy at work. Slots, if
// they are given, are each job's quota.
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

// taskTimes are how long each task of each job took, from the begin of its first copy to the end of the one that won.
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

// medianRate is the middle rate of equal tasks that took so long, and of an even number the mean of the two in the middle.
func medianRate(took []float64) float64 {
	sorted := slices.Sorted(slices.Values(took))
	n := len(sorted)
	return (1/sorted[(n-1)/2] + 1/sorted[n/2]) / 2
}

// play runs a trace: its jobs on one cluster or, where each has a quota of slots, each on as many.
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

// quotas are the jobs' slots on Bing's cluster, where the tasks a slot are as Mantri's §3.1 says. Jobs of up to ten tasks
// run them all at once, as Dolly's §1 says.
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
