package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/straggler-go/straggler/estimate/knn"
)

// shareRuns are the experiments of the rows of DynamicShare [ICAC 2014].
var shareRuns = map[string]func(seed uint64) []float64{
	"S1": nearest,
	"S2": deadlines,
	"S3": lowLaxities,
	"S4": partitions40,
	"S5": func(seed uint64) []float64 {
		hash20, dynamic20 := atSkewness(seed, 0.2)
		hash80, dynamic80 := atSkewness(seed, 0.8)
		return []float64{dynamic80 / dynamic20, hash80 / hash20, dynamic80 / hash80}
	},
	"S6": sketches,
}

// nearest compares predictions with equations 1 and 2 of the paper.
func nearest(seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 31))
	run := func() ([]float64, float64) {
		x := []float64{rng.Float64(), rng.Float64(), rng.Float64()}
		return x, 10 + 50*x[0] + 20*x[1]*x[2] + rng.NormFloat64()
	}
	worst := 0.0
	mean := func(n int) float64 {
		r, err := knn.New(knn.Config{Dimensions: 3, Scaling: knn.ScaleNone})
		check(err)
		var xs [][]float64
		var ys []float64
		for range n {
			x, y := run()
			check(r.Observe(x, y))
			xs, ys = append(xs, x), append(ys, y)
		}
		sum := 0.0
		for range 200 {
			x, y := run()
			var p knn.Prediction
			check(r.Predict(&p, x))
			worst = max(worst, math.Abs(p.Mean()-byFormula(xs, ys, x)))
			sum += math.Abs(p.Mean() - y)
		}
		return sum / 200
	}
	few, many := mean(50), mean(1000)
	neighbours := 0
	for _, n := range []int{32, 243, 1024} {
		r, err := knn.New(knn.Config{Dimensions: 1})
		check(err)
		for i := range n {
			check(r.Observe([]float64{float64(i * i)}, 1))
		}
		var p knn.Prediction
		check(r.Predict(&p, []float64{-1}))
		neighbours += p.Len()
	}
	return []float64{worst, float64(neighbours), many / few}
}

// leastK returns the least k with k^5 >= n^4.
func leastK(n int) int {
	for k := 1; ; k++ {
		if k*k*k*k*k >= n*n*n*n {
			return k
		}
	}
}

// byFormula returns the weighted mean of the k nearest, with the weights 1-(d/R)^2.
func byFormula(xs [][]float64, ys, x []float64) float64 {
	order := make([]int, len(xs))
	far := make([]float64, len(xs))
	for i, o := range xs {
		order[i] = i
		for j := range o {
			far[i] += (o[j] - x[j]) * (o[j] - x[j])
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		if far[a] < far[b] {
			return -1
		}
		return 1
	})
	k := leastK(len(xs))
	radius := far[order[k-1]]
	sum, weights := 0.0, 0.0
	for _, i := range order[:k] {
		w := 1 - far[i]/radius
		sum, weights = sum+w*ys[i], weights+w
	}
	return sum / weights
}
