package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// trace is a workload of one seed, and what it came to with LATE alone, with Dolly beside LATE, and without stragglers.
type trace struct {
	shape       shape
	config      cluster.Config
	base, dolly cluster.Result
}

// shape is what differs between the two companies' traces. Job sizes follow a power law by which so many jobs have up
// to ten tasks; the largest tenth is spread evenly over the orders of magnitude up to most, which is such that the
// smallest 90 % of the jobs have 6 % (Facebook) and 11 % (Bing) of all tasks.
type shape struct {
	upToTen float64
	most    float64
	jobs    int
	every   float64 // mean seconds between jobs, which keeps a quarter of the slots busy
	// stragglers is the share of copies that take 2 to 8 times their task's time. The paper gives it for neither company.
	// Facebook's is a choice, Bing's what makes its small jobs lose what §2 says (D10).
	stragglers float64
}

var (
	facebook = shape{upToTen: 0.82, most: 3000, jobs: 700, every: 6.4, stragglers: 0.10}
	bing     = shape{upToTen: 0.61, most: 4500, jobs: 250, every: 17, stragglers: 0.15}
)

// size draws a job's number of tasks.
func (s shape) size(rng *rand.Rand) int {
	alpha := -math.Log10(1 - s.upToTen)
	tail := math.Pow(0.1, -1/alpha)
	u := 1 - rng.Float64()
	if u < 0.1 {
		return int(tail * math.Pow(s.most/tail, u/0.1))
	}
	return int(math.Ceil(math.Pow(u, -1/alpha) - 1e-9))
}

// traceOf runs a trace once, whichever rows ask.
func traceOf(s shape, seed uint64) *trace {
	if s == facebook {
		return facebookTrace(seed)
	}
	return bingTrace(seed)
}

var (
	facebookTrace = oncePerSeed(func(seed uint64) *trace { return newTrace(facebook, seed) })
	bingTrace     = oncePerSeed(func(seed uint64) *trace { return newTrace(bing, seed) })
)

func newTrace(s shape, seed uint64) *trace {
	t := &trace{shape: s, config: s.config(seed, s.jobs, 1)}
	t.base = must(t.config)
	t.dolly = t.with(&clone.Config{}, false)
	return t
}

// config is a cluster of 150 nodes of 12 slots with LATE, and so many jobs on it of so many phases, each of which reads
// all of the one before.
func (s shape) config(seed uint64, jobs, phases int) cluster.Config {
	rng := rand.New(rand.NewPCG(seed, 82))
	luck := func(r *rand.Rand, _, _, _ int) float64 {
		if r.Float64() < s.stragglers {
			return 2 + 6*r.Float64()
		}
		return 0.9 + 0.2*r.Float64()
	}
	c := cluster.Config{
		Seed: seed, Machines: nodes(150, 12, 0, 1), Interval: 10 * time.Second, Restart: rules.LATE{}, Record: true,
	}
	at := 0.0
	for range jobs {
		n := s.size(rng)
		length := 30 * math.Exp(0.4*rng.NormFloat64())
		job := cluster.Job{
			At: time.Duration(at * float64(time.Second)), Phases: []cluster.Phase{{Tasks: sameTasks(n, length), Luck: luck}},
		}
		for p := range phases - 1 {
			next := cluster.Phase{Tasks: sameTasks(n, length), Luck: luck, After: []int{p}, Fetch: 1}
			for i := range next.Tasks {
				next.Tasks[i].Bytes = reading * length
			}
			job.Phases = append(job.Phases, next)
		}
		c.Jobs = append(c.Jobs, job)
		at += s.every * float64(phases) * rng.ExpFloat64()
	}
	return c
}

// with runs the trace with cloning.
func (t *trace) with(config *clone.Config, preempts bool) cluster.Result {
	c := t.config
	c.Clone, c.Straggler, c.ClonePreempts = config, t.shape.stragglers, preempts
	return must(c)
}

// overMantri is what the small jobs and all gain by Dolly beside Mantri.
func (t *trace) overMantri() (few, every float64) {
	c := t.config
	c.Restart, c.Record = restart.Mantri{}, false
	base := must(c)
	c.Clone, c.Straggler = &clone.Config{}, t.shape.stragglers
	dolly := must(c)
	return t.gain(base, dolly, small), t.gain(base, dolly, all)
}

// preempted is the share of the tasks of which a clone was killed for another job's.
func (t *trace) preempted(r cluster.Result) float64 {
	tasks := 0
	for _, j := range t.config.Jobs {
		tasks += len(j.Phases[0].Tasks)
	}
	return float64(r.Preempted) / float64(tasks)
}

func small(tasks int) bool { return tasks <= 10 }
func all(int) bool         { return true }

// sooner is by how much the jobs of some sizes end sooner than with LATE alone, at the mean.
func (t *trace) sooner(r cluster.Result, size func(tasks int) bool) float64 {
	return t.gain(t.base, r, size)
}

func (t *trace) gain(base, r cluster.Result, size func(tasks int) bool) float64 {
	before, after := 0.0, 0.0
	for i, j := range t.config.Jobs {
		if size(len(j.Phases[0].Tasks)) {
			before += base.Jobs[i].Took().Seconds()
			after += r.Jobs[i].Took().Seconds()
		}
	}
	return 1 - after/before
}

func (t *trace) extra(r cluster.Result) float64 {
	return ratio(r.Used[cluster.Map], t.base.Used[cluster.Map]) - 1
}

// unevenness is the slowest over the median task's time of each small job that Dolly cloned.
func (t *trace) unevenness(r cluster.Result) []float64 {
	copies := make([]int, len(t.config.Jobs))
	for _, run := range t.dolly.Runs {
		copies[run.Job]++
	}
	took := make([][]float64, len(t.config.Jobs))
	for _, run := range r.Runs {
		if run.Won {
			took[run.Job] = append(took[run.Job], (run.End - run.Begin).Seconds())
		}
	}
	var ratios []float64
	for i, j := range t.config.Jobs {
		tasks := len(j.Phases[0].Tasks)
		if tasks < 2 || !small(tasks) || copies[i] < 2*tasks {
			continue
		}
		slices.Sort(took[i])
		ratios = append(ratios, took[i][tasks-1]/took[i][(tasks-1)/2])
	}
	slices.Sort(ratios)
	return ratios
}
