package hedging

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"
)

func lognormal(r *rand.Rand, mean, sd float64) float64 {
	v := math.Log(1 + sd*sd/mean/mean)
	return math.Exp(math.Log(mean) - v/2 + math.Sqrt(v)*r.NormFloat64())
}

func quantile(calls []Call, p float64) float64 {
	var l []float64
	for _, c := range calls {
		l = append(l, c.Took.Seconds())
	}
	slices.Sort(l)
	return l[int(math.Ceil(p*float64(len(l))))-1]
}

func TestQuick(t *testing.T) {
	for _, k := range []struct{ k, b float64 }{{.99, .07}, {.99, .072}, {.999, .022}, {.999, .025}, {.99,.05},{.999,.05}} {
		for seed := range 3 {
			h, _ := hedge.New(hedge.Config{Percentile: k.k, Budget: k.b})
			w := World{Requests: 220_000, Rate: 1000, Seed: uint64(seed), Seconds: func(r *rand.Rand, _ float64, _ time.Duration) float64 {
				x := lognormal(r, .005, .002)
				if r.IntN(20) == 0 {
					x *= 10
				}
				return x
			}}
			calls := Run(w, h)[20000:]
			n := 0
			for _, c := range calls {
				if c.Sent > 0 {
					n++
				}
			}
			fmt.Printf("%v: %.2f ms, %.2f %%  %v\n   %v\n", k, 1000*quantile(calls, k.k), 100*float64(n)/float64(len(calls)), h.Plan(0, 0), h.Ledger())
		}
	}
}
