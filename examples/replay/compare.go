package main

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart"

	"straggler-examples/internal/sim"
)

// outcome is what one policy made of the phases, against no action.
type outcome struct {
	Policy string `json:"policy"`
	// Reductions of completion time, in percent; a negative one is a loss. P50 and P75 are over phases, each weighing by
	// its time without action, as in Figure 14 of Mantri's paper; the plain ones weigh all phases alike; All is that of the
	// sum of all phases' times.
	P50      float64 `json:"time_reduction_p50"`
	P75      float64 `json:"time_reduction_p75"`
	All      float64 `json:"time_reduction_all"`
	PlainP50 float64 `json:"time_reduction_plain_p50"`
	PlainP75 float64 `json:"time_reduction_plain_p75"`
	// Resource is the reduction of the slots' time in use, in percent.
	Resource float64 `json:"resource_reduction"`
	// Copies and Restarts per task, and the share of both, in percent, that ended a task before its own attempt would have;
	// nil if there were none.
	Copies   float64  `json:"copies_per_task"`
	Restarts float64  `json:"restarts_per_task"`
	Won      *float64 `json:"won_share"`
	// Wasted is the slots' time, in seconds, of copies that did not end their task.
	Wasted float64 `json:"wasted_seconds"`
	Time   float64 `json:"time_seconds"`
	Used   float64 `json:"used_seconds"`
	// Cloning is there if the policy clones.
	Cloning *cloning `json:"cloning,omitempty"`
}

// comparison is the whole report.
type comparison struct {
	Input       string    `json:"input"`
	Phases      int       `json:"phases"`
	Tasks       int       `json:"tasks"`
	Baseline    baseline  `json:"no_action"`
	Outcomes    []outcome `json:"policies"`
	Events      int       `json:"events"`
	Seconds     float64   `json:"elapsed_seconds"`
	Rate        float64   `json:"events_per_second_per_core"`
	Assumptions []string  `json:"assumptions"`
	Notes       []string  `json:"notes,omitempty"`
}

// baseline is what happens without action.
type baseline struct {
	Time float64 `json:"time_seconds"`
	Used float64 `json:"used_seconds"`
	// Wasted is the slots' time of attempts that failed in the log.
	Wasted float64 `json:"wasted_seconds"`
	// Deviation is by how much the replay without action misses the recorded completion times: the sum over phases of the
	// differences, in percent of the recorded times, and the worst phase's.
	Deviation      float64 `json:"deviation"`
	WorstDeviation float64 `json:"worst_deviation"`
	Recorded       bool    `json:"recorded"` // whether there were recorded times
}

// replayAll replays every phase under a policy, on all processors. The results do not depend on how many there are.
func replayAll(phases []*sim.Phase, e entry, seed uint64, step func()) ([]sim.Result, time.Duration, error) {
	results := make([]sim.Result, len(phases))
	var next, busy atomic.Int64
	var wait sync.WaitGroup
	var once sync.Once
	var failed error
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(phases) {
					return
				}
				begin := time.Now()
				r, err := sim.Run(phases[i], sim.Options{Policy: e.policy, LargestFirst: e.largestFirst, Seed: seed + uint64(i)})
				busy.Add(int64(time.Since(begin)))
				if err != nil {
					once.Do(func() { failed = err })
				}
				results[i] = r
				step()
			}
		})
	}
	wait.Wait()
	return results, time.Duration(busy.Load()), failed
}

// compare replays the phases under each policy and under none.
// A capacity of 0 stands for the largest number of slots that the phases ever had at the same time.
func compare(phases []*sim.Phase, chosen []entry, capacity int, seed uint64, step func()) (c comparison, err error) {
	begin := time.Now()
	none, busy, err := replayAll(phases, entry{name: "never", policy: restart.Never{}}, seed, step)
	if err != nil {
		return c, err
	}
	if capacity == 0 {
		capacity = capacityOf(phases, none)
	}
	c.Phases = len(phases)
	c.Baseline = deviation(phases, none)
	for i := range none {
		c.Tasks += none[i].Tasks
		c.Events += none[i].Events
	}
	for _, e := range chosen {
		var results []sim.Result
		var spent time.Duration
		var clones *cloning
		if e.clones {
			results, clones, spent, err = timeCloned(phases, none, capacity, seed, step)
		} else {
			results, spent, err = replayAll(phases, e, seed, step)
		}
		if err != nil {
			return c, err
		}
		busy += spent
		for i := range results {
			c.Events += results[i].Events
		}
		o := summarise(e.name, none, results)
		o.Cloning = clones
		c.Outcomes = append(c.Outcomes, o)
	}
	c.Seconds = time.Since(begin).Seconds()
	c.Rate = float64(c.Events) / max(busy.Seconds(), 1e-9)
	return c, nil
}

func deviation(phases []*sim.Phase, none []sim.Result) (b baseline) {
	var missed, recorded float64
	for i, r := range none {
		b.Time += r.Time.Seconds()
		b.Used += r.Used.Seconds()
		b.Wasted += r.Wasted.Seconds()
		if known := phases[i].Recorded.Seconds(); known > 0 {
			b.Recorded = true
			miss := max(r.Time.Seconds()-known, known-r.Time.Seconds())
			missed += miss
			recorded += known
			b.WorstDeviation = max(b.WorstDeviation, 100*miss/known)
		}
	}
	if recorded > 0 {
		b.Deviation = 100 * missed / recorded
	}
	return b
}

func summarise(name string, none, results []sim.Result) outcome {
	o := outcome{Policy: name}
	var total sim.Result
	var time0, used0 float64
	reductions := make([]weighted, 0, len(results))
	for i, r := range results {
		before := none[i].Time.Seconds()
		time0 += before
		used0 += none[i].Used.Seconds()
		o.Time += r.Time.Seconds()
		o.Used += r.Used.Seconds()
		o.Wasted += r.Wasted.Seconds()
		total.Tasks += r.Tasks
		total.Copies += r.Copies
		total.Restarts += r.Restarts
		total.Won += r.Won
		if before > 0 {
			reductions = append(reductions, weighted{100 * (before - r.Time.Seconds()) / before, before})
		}
	}
	o.P50, o.P75 = quantile(reductions, 0.5), quantile(reductions, 0.75)
	for i := range reductions {
		reductions[i].weight = 1
	}
	o.PlainP50, o.PlainP75 = quantile(reductions, 0.5), quantile(reductions, 0.75)
	o.All = percent(time0-o.Time, time0)
	o.Resource = percent(used0-o.Used, used0)
	o.Copies = float64(total.Copies) / float64(max(total.Tasks, 1))
	o.Restarts = float64(total.Restarts) / float64(max(total.Tasks, 1))
	if launched := total.Copies + total.Restarts; launched > 0 {
		won := percent(float64(total.Won), float64(launched))
		o.Won = &won
	}
	return o
}

func percent(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}

type weighted struct{ value, weight float64 }

// quantile returns the smallest value up to which at least the share p of the weight lies.
func quantile(values []weighted, p float64) float64 {
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	var all, sum float64
	for _, v := range values {
		all += v.weight
	}
	for _, v := range values {
		if sum += v.weight; sum >= p*all {
			return v.value
		}
	}
	return 0
}
