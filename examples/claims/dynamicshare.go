package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/straggler-go/straggler/estimate/knn"
)

// DynamicShare [ICAC 2014].

func shareRows() []row {
	return []row{
		{
			id: "S1", name: "k-NN run times", where: "§3.1, eq. 1-2", tier: exact, seeds: 1, quick: true,
			claim: "k-NN with Epanechnikov weights, k as n^(4/5); the error shrinks with n",
			measures: []measure{
				is("largest difference from the formula, s", "0", 0, 1e-9),
				is("runs with a weight, k-1, at 32, 243 and 1024 in all", "15, 80, 255", 350, 0),
				below("error at 1000 runs over that at 50", "< 1", 1),
			},
			run: nearest,
		},
		{
			id: "S2", name: "missed deadlines", where: "Fig. 5", tier: experiment, quick: true,
			claim: "least laxity misses fewest deadlines; the gap opens at 6 concurrent jobs",
			measures: []measure{
				below("LLF less EDF, 6 jobs", "< 0", 0), below("8 jobs", "< 0", 0), below("10 jobs", "< 0", 0),
				below("LLF less FIFO, 6 jobs", "< 0", 0), below("8 jobs", "< 0", 0), below("10 jobs", "< 0", 0),
				below("LLF less FAIR, 6 jobs", "< 0", 0), below("8 jobs", "< 0", 0), below("10 jobs", "< 0", 0),
				besides("LLF misses at 6 jobs"), besides("8 jobs"), besides("10 jobs"),
			},
			run: deadlines,
		},
		{
			id: "S3", name: "overloaded workers", where: "Fig. 6", tier: exact, seeds: 1, quick: true,
			claim: "the workers of the five tasks far below a laxity of 1650 ms are flagged",
			measures: []measure{
				is("workers flagged and right, of 5", "5", 5, 0), is("flagged and wrong", "0", 0, 0),
			},
			run: lowLaxities,
		},
		{
			id: "S4", name: "40 partitions", where: "Fig. 9-10", tier: experiment, seeds: manySeeds, quick: true,
			claim: "with 40 partitions Balance is 90 % for load balance and 64 % for dynamic partitioning, which " +
				"takes 1900 against 2800 ms",
			measures: []measure{
				input("Balance of load balance", "90 %"), input("of dynamic partitioning", "64 %"),
				faster("time, load balance / dynamic", "1.47", 2800.0/1900),
			},
			run: partitions40,
		},
		{
			id: "S5", name: "skewness", where: "Fig. 8", tier: experiment, seeds: manySeeds,
			claim: "dynamic partitioning stays flat up to 80 % skewness, hashing grows",
			measures: []measure{
				flat("dynamic partitioning, 80 % over 20 %", "flat"), above("hashing, 80 % over 20 %", "> 1", 1),
				below("dynamic partitioning over hashing, at 80 %", "< 1", 1),
			},
			run: func(seed uint64) []float64 {
				hash20, dynamic20 := atSkewness(seed, 0.2)
				hash80, dynamic80 := atSkewness(seed, 0.8)
				return []float64{dynamic80 / dynamic20, hash80 / hash20, dynamic80 / hash80}
			},
		},
		{
			id: "S6", name: "sketches", where: "Fig. 11-12", tier: experiment, seeds: manySeeds, quick: true,
			claim: "with sketches the reduce phase takes less the more partitions there are, and less by dynamic partitioning " +
				"than by load balance",
			measures: []measure{
				below("time at 45 partitions over that at 23", "< 1", 1),
				above("load balance over dynamic partitioning, at 45", "> 1", 1),
				besides("what four rows save over one, at 45"), besides("at 23"),
			},
			run: sketches,
		},
	}
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
