package skew

import "math"

// halfTick is half of what a limit can tell apart. It keeps rounding from deciding: 3 times 0.1 s is above 0.3 s.
const halfTick = .5e-9

// greedy is a plan in the making.
type greedy struct {
	problem Problem
	plan    Plan
	work    []float64 // by reduce task, in seconds: Ready, and under Problem.Seconds the work that it has
	limit   []float64 // by reduce task, in seconds and with halfTick; +Inf if there is none
}

// assign makes a plan for a problem that is in range.
func (c Policy) assign(p Problem) Plan {
	g := newGreedy(p)
	for _, i := range LargestFirst(make([]int, 0, len(p.Sizes)), p.Sizes) {
		r, fits := 0, false
		switch c.Rule {
		case EarliestEnd:
			r, fits = g.earliest(i, g.limit)
		case LoadBalance:
			r = g.lightest()
			fits = g.endWith(i, r) <= g.limit[r]
		case Hash:
			r = i % len(p.Reducers)
			fits = g.endWith(i, r) <= g.limit[r]
		}
		if !fits {
			g.plan.Unfit = append(g.plan.Unfit, i)
		}
		if fits || c.Rule != EarliestEnd {
			g.put(i, r)
		}
	}
	if c.PlaceAll && c.Rule == EarliestEnd {
		for _, i := range g.plan.Unfit {
			r, _ := g.earliest(i, nil)
			g.put(i, r)
		}
	}
	return g.plan
}

func newGreedy(p Problem) greedy {
	n := len(p.Reducers)
	seconds := make([]float64, 3*n)
	g := greedy{problem: p, work: seconds[:n:n], limit: seconds[n : 2*n : 2*n]}
	g.plan = Plan{Reducer: make([]int, len(p.Sizes)), Load: make([]int64, n), End: seconds[2*n:]}
	for i := range g.plan.Reducer {
		g.plan.Reducer[i] = -1
	}
	for r, reducer := range p.Reducers {
		g.work[r], g.limit[r] = max(reducer.Ready, 0).Seconds(), reducer.Limit.Seconds()+halfTick
		if reducer.Limit == 0 {
			g.limit[r] = math.Inf(1)
		}
	}
	return g
}

// endWith returns when reduce task r would end if it got partition i as well.
func (g *greedy) endWith(i, r int) float64 {
	if g.problem.Seconds != nil {
		return g.work[r] + g.problem.Seconds[r][i]
	}
	// One product of whole sizes, not a sum of products, so that no rounding error grows. The conversion forbids a fused
	// multiply-add: one answer everywhere.
	return g.work[r] + float64(float64(g.plan.Load[r]+g.problem.Sizes[i])*g.problem.Reducers[r].Rate)
}

// earliest returns the reduce task that would end first with partition i, of those that would end within their limit;
// false if there is none. Without limits there always is one.
func (g *greedy) earliest(i int, limit []float64) (best int, ok bool) {
	least := math.Inf(1)
	for r := range g.work {
		if end := g.endWith(i, r); end < least && (limit == nil || end <= limit[r]) {
			best, ok, least = r, true, end
		}
	}
	return best, ok
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

func (g *greedy) put(i, r int) {
	end := g.endWith(i, r)
	g.plan.Reducer[i], g.plan.End[r] = r, end
	g.plan.Load[r] += g.problem.Sizes[i]
	if g.problem.Seconds != nil {
		g.work[r] = end
	}
	g.plan.Seconds = max(g.plan.Seconds, end)
}
