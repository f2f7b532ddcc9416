package skew

import (
	"fmt"
	"math"
	"slices"

	"github.com/straggler-go/straggler/internal/check"
)

// halfTick is half of what a deadline can tell apart. It keeps rounding from deciding: 3 times 0.1 s is above 0.3 s.
const halfTick = .5e-9

// greedy is a plan in the making.
type greedy struct {
	sizes []int64
	team  *team
	plan  Plan
	err   error // the first estimate that is out of range
}

// team is what is known of the reduce tasks, in seconds, by reduce task.
type team struct {
	reducers []Reducer
	ready    []float64
	perUnit  []float64 // 0 of one that has an estimate
	deadline []float64 // with halfTick; +Inf of one that has none
}

func newTeam(reducers []Reducer) team {
	n := len(reducers)
	seconds := make([]float64, 3*n)
	t := team{reducers, seconds[:n:n], seconds[n : 2*n : 2*n], seconds[2*n:]}
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

// assign makes a plan for sizes that are in range. It fails only if an estimate is not.
func (c Policy) assign(sizes []int64, t *team) (Plan, error) {
	n := len(t.reducers)
	g := greedy{sizes: sizes, team: t}
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
	g.plan.Seconds = slices.Max(g.plan.End) // only now: an estimate that falls with the size moves an end forward
	return g.plan, g.err
}

// choose returns the reduce task of partition i, when it would end with it, and whether that is within its deadline.
func (g *greedy) choose(rule Rule, i int) (r int, end float64, fits bool) {
	switch rule {
	case LoadBalance:
		r = g.lightest()
	case ByHash:
		r = i % len(g.team.reducers)
	default:
		return g.earliest(i, g.team.deadline)
	}
	end = g.endWith(i, r)
	return r, end, end <= g.team.deadline[r]
}

// endWith returns when reduce task r would end if it got partition i as well.
func (g *greedy) endWith(i, r int) float64 {
	return g.endAt(r, g.plan.Load[r]+g.sizes[i])
}

// endAt returns when reduce task r would end if it got the given size in all.
func (g *greedy) endAt(r int, size int64) float64 {
	if g.team.perUnit[r] == 0 {
		return g.team.ready[r] + g.estimate(r, size)
	}
	return proportional(g.team.ready[r], size, g.team.perUnit[r])
}

// proportional is one product of whole sizes, not a sum of products, so that no rounding error grows. The conversion
// forbids a fused multiply-add: one answer everywhere.
func proportional(ready float64, size int64, perUnit float64) float64 {
	return ready + float64(float64(size)*perUnit)
}

// estimate returns what the reduce task takes by its own account for a size in all, and keeps the first fault.
func (g *greedy) estimate(r int, size int64) float64 {
	if size == 0 {
		return 0 // empty partitions are no work
	}
	reducer := &g.team.reducers[r]
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

// earliest returns the reduce task that would end first with partition i, of those that would end within their
// deadline, and when; false if there is none. Without deadlines there always is one. The loop is the cost of an
// assignment.
func (g *greedy) earliest(i int, deadline []float64) (best int, least float64, ok bool) {
	least = math.Inf(1)
	load, perUnit, added := g.plan.Load, g.team.perUnit, g.sizes[i]
	for r, ready := range g.team.ready {
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

// lightest returns the reduce task with the least size so far.
func (g *greedy) lightest() (best int) {
	for r, load := range g.plan.Load {
		if load < g.plan.Load[best] {
			best = r
		}
	}
	return best
}

func (g *greedy) put(i, r int, end float64) {
	g.plan.Reducer[i], g.plan.End[r] = r, end
	g.plan.Load[r] += g.sizes[i]
}
