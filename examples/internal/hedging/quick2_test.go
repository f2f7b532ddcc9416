package hedging

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestGraceQuick(t *testing.T) {
	healthyAll := func(r *rand.Rand, times []float64, healthy []bool) {
		for i := range times {
			times[i], healthy[i] = lognormal(r, .005, .002), true
		}
	}
	median := .00464
	for name, f := range map[string]func(r *rand.Rand, times []float64, healthy []bool){
		"healthy": healthyAll,
		"pause": func(r *rand.Rand, times []float64, healthy []bool) {
			healthyAll(r, times, healthy)
			if r.IntN(100) == 0 {
				i := r.IntN(len(times))
				times[i], healthy[i] = times[i]+20*median, false
			}
		},
		"slow": func(r *rand.Rand, times []float64, healthy []bool) {
			healthyAll(r, times, healthy)
			times[7], healthy[7] = times[7]*20, false
		},
	} {
		for _, need := range []int{40, 45, 49} {
			for seed := range 2 {
				c, err := Fan{Queries: 22000, Warmup: 2000, Servers: 50, Need: need, Seed: uint64(seed), Seconds: f}.Run()
				fmt.Println(name, need, fmt.Sprintf("%.6f %+v", c.LeftOut, c), err)
			}
		}
	}
}
