package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/skew"

	"github.com/straggler-go/straggler/examples/internal/cluster"
)

// figure9 runs all variants of Figure 9's phase: seven tasks of t or 2t in any order on two slots, and one of them is
// an outlier of 5t. The outlier is detected after t, and a new attempt of it takes t.
func figure9(uint64) []float64 {
	worst, duplicates, restarts, all, better := -9, 99, 0, 0, 0
	for mix := range 1 << 6 {
		for outlier := range 7 {
			var lengths [7]int
			for i, normal := 0, 0; i < 7; i++ {
				if i == outlier {
					lengths[i] = 5
					continue
				}
				lengths[i] = 1 + mix>>normal&1
				normal++
			}
			if end, _ := twoSlots(lengths, outlier, nil); end != 7 {
				continue
			}
			all++
			restarted, cost := twoSlots(lengths, outlier, restart.Mantri{})
			restarts = max(restarts, cost)
			duplicated, cost := twoSlots(lengths, outlier, restart.Mantri{MaxRestarts: restart.Off})
			duplicates = min(duplicates, cost)
			worst = max(worst, restarted-duplicated)
			if restarted < 7 {
				better++
			}
		}
	}
	return []float64{float64(worst), float64(duplicates), float64(restarts), float64(better) / float64(all)}
}

// pseudocode1 applies Mantri's rule to a grid of values of t_new, t_rem, and the numbers of copies and restarts.
func pseudocode1(uint64) []float64 {
	early, most, copies := 0.0, 0.0, 0.0
	phase := restart.Phase{Interval: 10 * time.Second, Tasks: 100, Waiting: 50, Slots: 50}
	for fresh := 1; fresh <= 200; fresh++ {
		for n := 1; n <= 5; n++ {
			task := restart.Task{Fresh: certain(float64(fresh))}
			for range n {
				task.Attempts = append(task.Attempts, restart.Attempt{Elapsed: time.Hour, Remaining: 100 * time.Second})
			}
			for task.Restarts = 0; task.Restarts < 6; task.Restarts++ {
				switch d := (restart.Mantri{}).Decide(task, phase); d.Action {
				case restart.Copy:
					copies = max(copies, float64(n+1))
					if n == 1 && 2*fresh >= 100 {
						early++
					}
				case restart.Restart:
					most = max(most, float64(task.Restarts+1))
				}
			}
		}
	}
	return []float64{early, most, copies}
}

// grahamsOrder compares the order longest first with the best of all orders, by trying every order.
func grahamsOrder(seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	beyond := 0.0
	for range 300 {
		slots := 2 + rng.IntN(3)
		sizes := make([]int64, 2+rng.IntN(7))
		for i := range sizes {
			sizes[i] = 1 + rng.Int64N(30)
		}
		got := listTime(sizes, skew.LargestFirst(nil, sizes), slots)
		best := int64(math.MaxInt64)
		bestAssignment(sizes, make([]int64, slots), 0, &best)
		if float64(got) > float64(best)*(4.0/3-1/(3*float64(slots)))+1e-9 {
			beyond++
		}
	}
	return []float64{beyond}
}

// listTime returns the time of tasks in an order, each on the slot that is free first.
func listTime(sizes []int64, order []int, slots int) int64 {
	free := make([]int64, slots)
	for _, i := range order {
		k := slices.Index(free, slices.Min(free))
		free[k] += sizes[i]
	}
	return slices.Max(free)
}

func bestAssignment(sizes, loads []int64, i int, best *int64) {
	if slices.Max(loads) >= *best {
		return
	}
	if i == len(sizes) {
		*best = slices.Max(loads)
		return
	}
	for k := range loads {
		loads[k] += sizes[i]
		bestAssignment(sizes, loads, i+1, best)
		loads[k] -= sizes[i]
	}
}

func grahamsBound(seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 4))
	beyond := 0.0
	for range 300 {
		slots := 1 + rng.IntN(8)
		sum, longest := 0.0, 0.0
		var tasks []cluster.Task
		for range 1 + rng.IntN(40) {
			d := rng.ExpFloat64() * 10
			sum, longest = sum+d, max(longest, d)
			tasks = append(tasks, cluster.Task{Seconds: d})
		}
		c := cluster.Config{Seed: seed, Machines: nodes(slots, 1, 0, 1), Jobs: []cluster.Job{{Phases: []cluster.Phase{{Tasks: tasks}}}}}
		if must(c).End.Seconds() > sum/float64(slots)+longest+1e-6 {
			beyond++
		}
	}
	return []float64{beyond}
}

// weighted is a set of values with weights.
type weighted struct{ values, weights []float64 }

func (w *weighted) add(value, weight float64) {
	w.values, w.weights = append(w.values, value), append(w.weights, weight)
}

// quantile returns the least value for which the values up to it have at least the share p of the weight.
func (w weighted) quantile(p float64) float64 {
	values, weights := slices.Clone(w.values), slices.Clone(w.weights)
	stat.SortWeighted(values, weights)
	return stat.Quantile(p, stat.Empirical, values, weights)
}

func (w weighted) mean() float64 { return stat.Mean(w.values, w.weights) }

// twoSlots runs Figure 9's phase under a policy (nil: none) in steps of t. It returns the time of the phase and the
// slot time of the outlier's attempts.
func twoSlots(lengths [7]int, outlier int, policy restart.Policy) (end, cost int) {
	type attempt struct{ task, start, end int }
	var running []attempt
	next, again, restarts, done := 0, false, 0, 0
	for now := 0; ; now++ {
		for i := 0; i < len(running); i++ { // attempts that end
			if a := running[i]; a.end == now {
				running = slices.DeleteFunc(running, func(b attempt) bool {
					if b.task == a.task && b.task == outlier {
						cost += now - b.start
					}
					return b.task == a.task
				})
				done, i = done+1, -1
			}
		}
		if done == len(lengths) {
			return now, cost
		}
		var copies []restart.Attempt
		first := -1
		for i, a := range running {
			if a.task == outlier {
				first = i
				copies = append(copies, restart.Attempt{
					Elapsed: inSeconds(float64(now - a.start)), Remaining: inSeconds(float64(a.end - now)),
				})
			}
		}
		duplicate := false
		original := first >= 0 && running[first].end-running[first].start == lengths[outlier]
		if policy != nil && original && len(copies) == 1 && now > running[first].start {
			task := restart.Task{Attempts: copies, Restarts: restarts, Fresh: certain(1)}
			waiting := len(lengths) - next
			phase := restart.Phase{Tasks: len(lengths), Waiting: waiting, Slots: 2, FreeSlots: 2 - len(running)}
			switch policy.Decide(task, phase).Action {
			case restart.Restart:
				cost += now - running[first].start
				running = slices.Delete(running, first, first+1)
				restarts, again = restarts+1, true
			case restart.Copy:
				duplicate = true
			}
		}
		for len(running) < 2 { // attempts that begin
			switch {
			case again || duplicate:
				running = append(running, attempt{outlier, now, now + 1})
				again, duplicate = false, false
			case next < len(lengths):
				running = append(running, attempt{next, now, now + lengths[next]})
				next++
			default:
				goto step
			}
		}
	step:
	}
}

// certain returns the fresh time of an attempt that takes exactly this number of seconds.
func certain(seconds float64) estimate.Fresh {
	e := new(estimate.Empirical)
	e.Insert(seconds)
	return estimate.Fresh{UnitTime: e, Work: 1}
}
