package requests

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/hedge"

	"github.com/straggler-go/straggler/examples/internal/recent"
)

// Fan is a query that waits for the answers of many servers, and may go on without a few answers.
type Fan struct {
	// Queries is the number of queries; the first Warmup are not counted. Each asks all Servers, and needs the answers
	// of Need.
	Queries, Warmup, Servers, Need int
	// Seconds draws the times of the answers of one query, in seconds, and says which servers are healthy.
	Seconds func(r *rand.Rand, times []float64, healthy []bool)
	Seed    uint64
}

// Complete is the result of a Fan.
type Complete struct {
	// LeftOut is the share of the answers of healthy servers that a query did not wait for, and LeftOutSick the same of
	// the other servers.
	LeftOut, LeftOutSick float64
	// Took is the mean time of a query, as a multiple of the mean time of the last answer of a healthy server. All is
	// the same for a host that waits for all answers.
	Took, All float64
}

const (
	fanGap   = 100 * time.Millisecond // the time between two queries
	fanKeep  = 4000                   // latest queries whose gaps are kept
	fanRefit = 64                     // queries after which the curves are computed anew
)

// Run plays the queries. For each number of missing answers, the gaps of recent queries say how long the next answer
// takes. An answer more is worth as much time as the query has taken so far.
func (f Fan) Run() (c Complete) {
	r := rand.New(rand.NewPCG(f.Seed, 1))
	gaps := make([]recent.Times, f.Servers+1)
	for i := range gaps {
		gaps[i].Keep = fanKeep * fanGap
	}
	curves := make([]*survival.Curve, len(gaps))
	times, healthy, order := make([]float64, f.Servers), make([]bool, f.Servers), make([]int, f.Servers)
	var took, last, all float64
	var left, leftSick, sick int
	for q := range f.Queries {
		now := time.Duration(q) * fanGap
		f.Seconds(r, times, healthy)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(times[a], times[b]) })
		come, at := f.Need, times[order[f.Need-1]]
		for come < f.Servers {
			missing := f.Servers - come
			if q%fanRefit == 0 || curves[missing] == nil {
				curves[missing] = gaps[missing].Curve(now)
			}
			grace := must(hedge.NewGrace(curves[missing], at))
			next := times[order[come]] - at
			if math.IsInf(grace.Wait, 1) { // the next query uses this gap
				curves[missing] = nil
			}
			gaps[missing].Observe(now, min(next, grace.Wait), next <= grace.Wait)
			if next > grace.Wait {
				at += grace.Wait
				break
			}
			at = times[order[come]]
			come++
		}
		if q < f.Warmup {
			continue
		}
		took += at
		healthyLast := 0.0
		for i, server := range order {
			out := 0
			if i >= come {
				out = 1
			}
			if healthy[server] {
				healthyLast = times[server]
				left += out
			} else {
				sick++
				leftSick += out
			}
		}
		last += healthyLast
		all += times[order[f.Servers-1]]
	}
	c.LeftOut = float64(left) / float64((f.Queries-f.Warmup)*f.Servers-sick)
	if sick > 0 {
		c.LeftOutSick = float64(leftSick) / float64(sick)
	}
	c.Took, c.All = took/last, all/last
	return c
}
