package skew

import (
	"fmt"
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/check"
)

// halfTick is half a nanosecond, in seconds. It is added to deadlines, so that rounding errors cannot make a task
// miss its deadline: 3 times 0.1 s is above 0.3 s in floating point.
const halfTick = .5e-9

// greedy contains the state of an assignment.
type greedy struct {
	sizes  []int64
	timing *timing
	plan   Plan
	err    error // the error of the first result of Reducer.Seconds that is out of range
}

// timing contains the times of the reduce tasks in seconds. Each slice has one entry for each reduce task.
type timing struct {
	reducers []Reducer
	ready    []float64
	perUnit  []float64 // seconds for a unit of size; 0 for a reduce task with an estimate, Reducer.Seconds
	deadline []float64 // deadline plus halfTick; +Inf for a reduce task without a deadline
}

func newTiming(reducers []Reducer) timing {
	n := len(reducers)
	seconds := make([]float64, 3*n)
	t := timing{reducers, seconds[:n:n], seconds[n : 2*n : 2*n], seconds[2*n:]}
	for r := range reducers {
		reducer := &reducers[r]
		t.ready[r], t.deadline[r] = max(reducer.Ready, 0).Seconds(), reducer.Deadline.Seconds()+halfTick
		if reducer.Deadline == 0 {
			t.deadline[r] = math.Inf(1)
		}
		if reducer.Seconds == nil {
			t.perUnit[r] = reducer.SecondsPerUnit
		}
	}
	return t
}

// assign makes a plan for valid sizes. It returns an error only if a result of Reducer.Seconds is out of range.
func (c Policy) assign(sizes []int64, t *timing) (Plan, error) {
	n := len(t.reducers)
	g := greedy{sizes: sizes, timing: t}
	g.plan = Plan{Reducer: make([]int, len(sizes)), Load: make([]int64, n), End: make([]float64, n)}
	for i := range g.plan.Reducer {
		g.plan.Reducer[i] = -1
	}
	for _, i := range LargestFirst(make([]int, 0, len(sizes)), sizes) {
		r, end, fits := g.choose(c.Rule, i)
		if g.err != nil {
			return Plan{}, g.err
		}
		if !fits {
			g.plan.Unfit = append(g.plan.Unfit, i)
		}
		if fits || c.Rule != EarliestEnd {
			g.put(i, r, end)
		}
	}
	if c.Refine && c.Rule == EarliestEnd {
		g.refine()
		g.search()
	}
	if c.PlaceAll && c.Rule == EarliestEnd {
		for _, i := range g.plan.Unfit {
			r, end, _ := g.earliest(i, nil)
			g.put(i, r, end)
		}
	}
	// The largest end is computed after all changes of the plan: if an estimate falls with the size, a further
	// partition makes an end earlier.
	g.plan.Seconds = slices.Max(g.plan.End)
	return g.plan, g.err
}

// choose returns the reduce task r that gets partition i by the rule, the end of r with partition i, and whether
// this end is within the deadline of r.
func (g *greedy) choose(rule Rule, i int) (r int, end float64, fits bool) {
	switch rule {
	case LoadBalance:
		r = g.lightest()
	case ByHash:
		r = i % len(g.timing.reducers)
	default:
		return g.earliest(i, g.timing.deadline)
	}
	end = g.endWith(i, r)
	return r, end, end <= g.timing.deadline[r]
}

// endWith returns the time at which reduce task r ends if it gets partition i in addition to its present
// partitions.
func (g *greedy) endWith(i, r int) float64 {
	return g.endAt(r, g.plan.Load[r]+g.sizes[i])
}

// endAt returns the time at which reduce task r ends if its partitions have this total size.
func (g *greedy) endAt(r int, size int64) float64 {
	if g.timing.perUnit[r] == 0 {
		return g.timing.ready[r] + g.estimate(r, size)
	}
	return proportional(g.timing.ready[r], size, g.timing.perUnit[r])
}

// proportional returns ready + size*perUnit. It multiplies the total size and not the size of each partition, so
// rounding errors do not add up. The conversion to float64 prevents a fused multiply-add, so the result is the same
// on every processor.
func proportional(ready float64, size int64, perUnit float64) float64 {
	return ready + float64(float64(size)*perUnit)
}

// estimate returns the time that Reducer.Seconds gives for a total size. If the time is out of range, estimate
// stores an error in g.err, unless there is one already.
func (g *greedy) estimate(r int, size int64) float64 {
	if size == 0 {
		return 0 // empty partitions take no time
	}
	reducer := &g.timing.reducers[r]
	asked, factor := size, 1.0
	if reducer.KnownTo > 0 && size > reducer.KnownTo {
		asked, factor = reducer.KnownTo, float64(size)/float64(reducer.KnownTo)
	}
	seconds := reducer.Seconds(asked)
	if !(seconds >= 0 && seconds <= maxSeconds) && g.err == nil {
		g.err = check.Badf("skew", fmt.Sprintf("Reducers[%d].Seconds(%d)", r, asked), seconds, "0 to %g", maxSeconds)
	}
	return float64(seconds * factor)
}

// earliest returns the reduce task that would end first with partition i, and the time at which it would end.
// Reduce tasks that would end after their deadlines are not considered. If no other reduce task exists, ok is
// false. If deadline is nil, deadlines are ignored. This loop is the main cost of an assignment.
func (g *greedy) earliest(i int, deadline []float64) (best int, least float64, ok bool) {
	least = math.Inf(1)
	load, perUnit, added := g.plan.Load, g.timing.perUnit, g.sizes[i]
	for r, ready := range g.timing.ready {
		var end float64
		if unit := perUnit[r]; unit != 0 {
			end = proportional(ready, load[r]+added, unit)
		} else {
			end = g.endWith(i, r)
		}
		if end < least && (deadline == nil || end <= deadline[r]) {
			best, ok, least = r, true, end
		}
	}
	return best, least, ok
}

// lightest returns the reduce task with the smallest load, which is the total size of its partitions.
func (g *greedy) lightest() (best int) {
	for r, load := range g.plan.Load {
		if load < g.plan.Load[best] {
			best = r
		}
	}
	return best
}

// put assigns partition i to reduce task r. end is the time at which r then ends.
func (g *greedy) put(i, r int, end float64) {
	g.plan.Reducer[i], g.plan.End[r] = r, end
	g.plan.Load[r] += g.sizes[i]
}
