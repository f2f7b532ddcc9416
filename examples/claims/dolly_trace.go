package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/delay/assign"
	"github.com/straggler-go/straggler/restart/rules"

	"straggler-examples/internal/cluster"
)

const traceNote = "150 nodes of 12 slots; job sizes such that 82 % (Facebook) and 61 % (Bing) of the jobs have ten " +
	"tasks or fewer and " +
	"the smallest 90 % have 6 % and 11 % of all tasks; tasks of 30 s at the median; a tenth of the copies " +
	"straggle, at 2 to 8 " +
	"times their task's time. A quarter of the slots is busy, which is what makes three clones of 6 % of the tasks " +
	"3 % of the " +
	"slots, as §3 says. Jobs have one phase."

// trace is a workload of one seed, and what it came to with LATE alone, with Dolly beside LATE, and without stragglers.
type trace struct {
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
}

var (
	facebook = shape{upToTen: 0.82, most: 3000, jobs: 700, every: 6.4}
	bing     = shape{upToTen: 0.61, most: 4500, jobs: 250, every: 17}
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

const stragglerShare = 0.1

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
	rng := rand.New(rand.NewPCG(seed, 82))
	luck := func(r *rand.Rand, _, _, _ int) float64 {
		if r.Float64() < stragglerShare {
			return 2 + 6*r.Float64()
		}
		return 0.9 + 0.2*r.Float64()
	}
	t := &trace{config: cluster.Config{
		Seed: seed, Machines: nodes(150, 12, 0, 1), Interval: 10 * time.Second, Restart: rules.LATE{}, Record: true,
	}}
	at := 0.0
	for range s.jobs {
		n := s.size(rng)
		length := 30 * math.Exp(0.4*rng.NormFloat64())
		t.config.Jobs = append(t.config.Jobs, cluster.Job{
			At: time.Duration(at * float64(time.Second)), Phases: []cluster.Phase{{Tasks: sameTasks(n, length), Luck: luck}},
		})
		at += s.every * rng.ExpFloat64()
	}
	t.base = must(t.config)
	t.dolly = t.with(&clone.Config{}, false)
	return t
}

// with runs the trace with cloning.
func (t *trace) with(config *clone.Config, preempts bool) cluster.Result {
	c := t.config
	c.Clone, c.Straggler, c.ClonePreempts = config, stragglerShare, preempts
	return must(c)
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

// unevenness is the mean of slowest over median task of the small jobs that Dolly cloned.
func (t *trace) unevenness(r cluster.Result) float64 {
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
	sum, n := 0.0, 0.0
	for i, j := range t.config.Jobs {
		tasks := len(j.Phases[0].Tasks)
		if tasks < 2 || !small(tasks) || copies[i] < 2*tasks {
			continue
		}
		slices.Sort(took[i])
		sum += took[i][tasks-1] / took[i][(tasks-1)/2]
		n++
	}
	return sum / n
}

// assignments runs small jobs whose phases read all of each other's output, with three clones of each task, and
// returns by how much they end sooner than without clones: with delay assignment, CC and CAC. Reading takes as long
// as half a task computes; straggling copies take 2 to 8 times as long.
func assignments(seed uint64, phases int) (da, cc, cac float64) {
	const jobs, clones, computing, reading = 400, 3, 10.0, 5.0
	model := assign.Model{
		Lags: lags(rand.New(rand.NewPCG(seed, 1)), clones, computing), Size: reading, Bandwidth: 1, Contention: 0.7,
		Clones: clones,
	}
	choice, err := assign.Window(model)
	check(err)
	windows := []time.Duration{choice.Window, 0, math.MaxInt64}
	var sum [3]float64
	none := 0.0
	for i := range jobs {
		n := 2 + i%9
		draw := func() [][]float64 {
			return drawPhase(rand.New(rand.NewPCG(seed<<20+uint64(i), 7)), n*phases, clones, computing)
		}
		for k, w := range windows {
			sum[k] += clonedJob(draw(), n, w, reading, model.Contention)
		}
		single := draw()
		for t := range single {
			single[t] = single[t][:1]
		}
		none += clonedJob(single, n, 0, reading, model.Contention)
	}
	return 1 - sum[0]/none, 1 - sum[1]/none, 1 - sum[2]/none
}

// drawPhase draws the computing times of tasks' copies.
func drawPhase(r *rand.Rand, tasks, clones int, computing float64) [][]float64 {
	times := make([][]float64, tasks)
	for t := range times {
		for range clones {
			x := computing * (0.9 + 0.2*r.Float64())
			if r.Float64() < stragglerShare {
				x *= 2 + 6*r.Float64()
			}
			times[t] = append(times[t], x)
		}
	}
	return times
}

// lags are samples of how long the second and third copies end after the first.
func lags(r *rand.Rand, clones int, computing float64) []time.Duration {
	var list []time.Duration
	for _, times := range drawPhase(r, 300, clones, computing) {
		slices.Sort(times)
		for _, x := range times[1:] {
			list = append(list, inSeconds(x-times[0]))
		}
	}
	return list
}

func inSeconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }

// clonedJob returns when a job of phases of n tasks ends whose clones read by the window. A clone reads its inputs
// side by side, and has read when the last is there.
func clonedJob(times [][]float64, n int, window time.Duration, reading, contention float64) float64 {
	ends := make([][]float64, n) // of the copies of the phase before
	for t := range ends {
		ends[t] = slices.Sorted(slices.Values(times[t]))
	}
	for first := n; first < len(times); first += n {
		next := make([][]float64, n)
		read := readTimes(ends, len(times[first]), window, reading, contention)
		for t := range next {
			for k, x := range times[first+t] {
				next[t] = append(next[t], read[k]+x)
			}
			slices.Sort(next[t])
		}
		ends = next
	}
	last := 0.0
	for _, copies := range ends {
		last = max(last, copies[0])
	}
	return last
}

// readTimes returns when each clone of a task has read all inputs, asking package assign about each. The clones go in
// one order for all inputs, so that the same ones get the early copies.
func readTimes(ends [][]float64, clones int, window time.Duration, reading, contention float64) []float64 {
	ready := make([]float64, clones)
	for _, copies := range ends {
		taken := make([]int, len(copies))
		for k := range clones {
			at := copies[0]
			for {
				input := assign.Input{Waited: inSeconds(at - copies[0])}
				next := math.Inf(1)
				for c, end := range copies {
					state := assign.Running
					if end <= at {
						state = assign.Finished
					} else {
						next = min(next, end)
					}
					input.Copies = append(input.Copies, assign.Copy{State: state, Readers: taken[c]})
				}
				d := assign.Decide([]assign.Input{input}, window)
				if d.Action == assign.Wait {
					if d.Wait > 0 {
						next = min(next, at+d.Wait.Seconds())
					}
					at = math.Nextafter(next, math.Inf(1))
					continue
				}
				taken[d.Copy]++
				took := reading
				if d.Action == assign.Share {
					took /= contention
				}
				ready[k] = max(ready[k], at+took)
				break
			}
		}
	}
	return ready
}
