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

// trace is a workload of one seed, with its results under LATE, under Dolly with LATE, and without stragglers.
type trace struct {
	shape       shape
	config      cluster.Config
	base, dolly cluster.Result
}

// shape has the differences between the traces of the two companies. The sizes of jobs follow a power law up to the
// largest tenth of the jobs. The largest tenth is spread evenly over the orders of magnitude up to most. most is
// chosen so that the smallest 90 % of the jobs have 6 % (Facebook) or 11 % (Bing) of all tasks.
type shape struct {
	upToTen float64
	most    float64
	jobs    int
	every   float64 // mean seconds between jobs; a quarter of the slots is busy then
	// stragglers is the share of attempts that take 2 to 8 times the time of their task, and become slow at a random
	// point of their work: some are well into it then [Dolly §1]. The paper gives the share for neither company. For
	// Facebook it is a choice. For Bing it is calibrated to the loss of small jobs in §2 (D10).
	stragglers float64
}

var (
	facebook = shape{upToTen: 0.82, most: 3000, jobs: 700, every: 6.4, stragglers: 0.10}
	bing     = shape{upToTen: 0.61, most: 4500, jobs: 250, every: 17, stragglers: 0.10}
)

// size draws the number of tasks of a job.
func (s shape) size(rng *rand.Rand) int {
	alpha := -math.Log10(1 - s.upToTen)
	tail := math.Pow(0.1, -1/alpha)
	u := 1 - rng.Float64()
	if u < 0.1 {
		return int(tail * math.Pow(s.most/tail, u/0.1))
	}
	return int(math.Ceil(math.Pow(u, -1/alpha) - 1e-9))
}

// The traces of a seed are computed only once for all rows.
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

// config returns a cluster of 150 nodes of 12 slots with LATE, and a number of jobs. Each phase of a job reads all
// output of the phase before.
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
			At: time.Duration(at * float64(time.Second)), Phases: []cluster.Phase{{Tasks: sameTasks(n, length), Luck: luck, Late: true}},
		}
		for p := range phases - 1 {
			next := cluster.Phase{Tasks: sameTasks(n, length), Luck: luck, Late: true, After: []int{p}, Fetch: 1}
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

// with runs the trace with clones.
func (t *trace) with(config *clone.Config, preempts bool) cluster.Result {
	c := t.config
	c.Clone, c.Straggler, c.ClonePreempts = config, t.shape.stragglers, preempts
	return must(c)
}

// overMantri returns the reductions of the times of small jobs and of all jobs by Dolly with Mantri, compared with
// Mantri alone.
func (t *trace) overMantri() (few, every float64) {
	by := trace{shape: t.shape, config: t.config}
	by.config.Restart, by.config.Record = restart.Mantri{}, false
	by.base = must(by.config)
	dolly := by.with(&clone.Config{}, false)
	return by.sooner(dolly, small), by.sooner(dolly, all)
}

// preempted returns the share of the tasks with a clone that was killed for another job. Without clones, each task has one
// attempt that is no copy.
func (t *trace) preempted(r cluster.Result) float64 {
	return float64(r.Preempted) / float64(t.base.Launched-t.base.Speculative)
}

func small(tasks int) bool { return tasks <= 10 }
func all(int) bool         { return true }

// sooner returns the mean reduction of the times of jobs of some sizes, compared with LATE alone.
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

// gainsOfSmall returns the reduction of the time of each small job by Dolly, sorted.
func (t *trace) gainsOfSmall() []float64 {
	var gains []float64
	for i, j := range t.config.Jobs {
		if small(len(j.Phases[0].Tasks)) {
			gains = append(gains, 1-ratio(t.dolly.Jobs[i].Took(), t.base.Jobs[i].Took()))
		}
	}
	slices.Sort(gains)
	return gains
}

func (t *trace) extra(r cluster.Result) float64 {
	return ratio(r.Used[cluster.Map], t.base.Used[cluster.Map]) - 1
}

// unevenness returns, for each small job that Dolly cloned, the slowest task's time divided by the median.
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
