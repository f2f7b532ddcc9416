package knn

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

// Each test follows some sentences of DynamicShare §3.1.

// knnOf returns a Regressor with one parameter, which is not scaled. The runs have the parameters in x.
func knnOf(t *testing.T, k int, x, seconds []float64) *Regressor {
	t.Helper()
	knn, err := New(Config{Dimensions: 1, Neighbours: k, Scaling: ScaleNone})
	require.NoError(t, err)
	for i := range x {
		require.NoError(t, knn.Observe(x[i:i+1], seconds[i]))
	}
	return knn
}

func predict(t *testing.T, k *Regressor, x ...float64) *Prediction {
	t.Helper()
	var p Prediction
	require.NoError(t, k.Predict(&p, x))
	return &p
}

// Equations 1 and 2 by hand, at 0, with runs at 1, 2, 3 and 9 and k = 3: R is 3 and the weights are 1-1/9, 1-4/9
// and 0. So m = (8/9*10 + 5/9*20)/(13/9) = 180/13. With the 1/n of equation 1 as printed, m would be 3/4 of
// 180/13.
func TestKNNByHand_3_1(t *testing.T) {
	p := predict(t, knnOf(t, 3, []float64{1, 2, 3, 9}, []float64{10, 20, 30, 90}), 0)
	assert.InDelta(t, 180./13, p.Mean(), 1e-12)
	assert.Equal(t, 3.0, p.Radius())
	assert.Equal(t, 2, p.Len(), "the farthest run has no weight")
	// The prediction is a distribution with these weights.
	assert.InDelta(t, 8./13, p.CDF(10), 1e-12)
	assert.Equal(t, 0.0, p.Below(10))
	assert.InDelta(t, 8./13, p.Below(20), 1e-12)
	assert.Equal(t, 1.0, p.CDF(20))
	assert.Equal(t, 10.0, p.Quantile(.6))
	assert.Equal(t, 20.0, p.Quantile(.62))
	assert.Equal(t, 10_000, Config{}.Effective().Keep)
}

// "increasing k in proportion to n^(4/5)": the least integer k with k^5 >= n^4, without rounding errors.
func TestNeighboursGrowAsThePowerFourFifths_3_1(t *testing.T) {
	reaches := func(k, n int) bool {
		five, four := big.NewInt(5), big.NewInt(4)
		return new(big.Int).Exp(big.NewInt(int64(k)), five, nil).Cmp(new(big.Int).Exp(big.NewInt(int64(n)), four, nil)) >= 0
	}
	check := func(n int) {
		k := neighboursFor(n)
		require.True(t, reaches(k, n) && !reaches(k-1, n), "n=%d k=%d", n, k)
		require.LessOrEqual(t, k, n)
	}
	for n := 1; n <= 20000; n++ {
		check(n)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		check(1 + r.IntN(maxRuns))
	}
	check(maxRuns)
	// For fifth powers, ceil(n^0.8) in floating point is too large by 1.
	for n, want := range map[int]int{32: 16, 243: 81, 1024: 256, 3125: 625, 100000: 10000} {
		assert.Equal(t, want, neighboursFor(n))
	}
}

// Equation 2 divides 0 by 0 if k = 1, if all k runs are equally far, or if all are at x itself.
func TestKNNWithoutWeights_3_1(t *testing.T) {
	x, y := []float64{-1, 1, 5, 1}, []float64{10, 20, 70, 60}
	assert.Equal(t, 70.0, predict(t, knnOf(t, 1, x, y), 4).Mean(), "the nearest run counts")
	assert.Equal(t, 40.0, predict(t, knnOf(t, 1, x, y), 1).Mean(), "both runs at x count")
	assert.Equal(t, 30.0, predict(t, knnOf(t, 2, x, y), 0).Mean(), "all three runs at the distance 1 count, whichever two the search found")
	p := predict(t, knnOf(t, 2, x, y), 0)
	assert.Equal(t, 3, p.Len())
	assert.InDelta(t, 1./3, p.CDF(10), 1e-15)
}

// "initially when we do not have any previous run" there is no estimate. If there are fewer runs than k, the
// prediction uses all of them.
func TestKNNColdStart_Figure4(t *testing.T) {
	p := predict(t, knnOf(t, 0, nil, nil), 3)
	assert.False(t, p.Known())
	assert.True(t, math.IsInf(p.Mean(), 1))
	assert.True(t, math.IsInf(p.Quantile(.5), 1))
	assert.Zero(t, p.CDF(1e9))
	assert.Equal(t, estimate.Unknown, estimate.Fresh{UnitTime: p, Work: 1}.Expected())
	p = predict(t, knnOf(t, 5, []float64{3}, []float64{8}), 7)
	assert.True(t, p.Known())
	assert.Equal(t, 8.0, p.Mean())
}

// Figure 4: the error shrinks as the number of known runs grows. The time is a smooth function of size, CPU and
// memory with a tenth of noise. The error is the mean absolute error of 100 predictions after each of 20 histories,
// because a single short history may be lucky.
func TestKNNErrorShrinks_Figure4(t *testing.T) {
	truth := func(x []float64) float64 { return 1 + x[0]/1e8*(1+x[1]/100) + x[2]/50 } // 1 to 23 s, 9.5 s in the mean
	counts := []int{1, 10, 100, 1000}
	errors := make([]float64, len(counts))
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(4, seed))
		task := func() []float64 { return []float64{1e9 * r.Float64(), 100 * r.Float64(), 100 * r.Float64()} }
		knn, err := New(Config{})
		require.NoError(t, err)
		var p Prediction
		for i, n := range counts {
			for knn.Len() < n {
				x := task()
				require.NoError(t, knn.Observe(x, truth(x)*(1+.1*(2*r.Float64()-1))))
			}
			for range 100 {
				x := task()
				require.NoError(t, knn.Predict(&p, x))
				errors[i] += math.Abs(p.Mean()-truth(x)) / (20 * 100)
			}
		}
	}
	for i := 1; i < len(errors); i++ {
		assert.Less(t, errors[i], .8*errors[i-1], "%d runs: %v", counts[i], errors)
	}
	assert.Less(t, errors[len(errors)-1], errors[0]/5)
}

// The size in bytes must not outweigh the other parameters. Here the CPU decides, and the nearest run by size is
// wrong.
func TestScaling_3_1(t *testing.T) {
	runs := [][]float64{{1e9, 10}, {2e9, 90}, {3e9, 10}, {4e9, 90}}
	for scaling, want := range map[Scaling]float64{ScaleDeviation: 10, ScaleNone: 90} {
		knn, err := New(Config{Dimensions: 2, Neighbours: 1, Scaling: scaling})
		require.NoError(t, err)
		for _, x := range runs {
			require.NoError(t, knn.Observe(x, x[1]))
		}
		assert.Equal(t, want, predict(t, knn, 2.2e9, 10).Mean())
	}
	// A parameter that is equal in all runs is ignored, however different the task is.
	knn, err := New(Config{Dimensions: 2, Neighbours: 1})
	require.NoError(t, err)
	require.NoError(t, knn.Observe([]float64{.1, 1}, 5))
	require.NoError(t, knn.Observe([]float64{.1, 2}, 6))
	require.NoError(t, knn.Observe([]float64{.1, 3}, 7))
	assert.Equal(t, 7.0, predict(t, knn, 900, 2.9).Mean())
	assert.Equal(t, 0.0, knn.Divisors(nil)[0])
	assert.InDelta(t, math.Sqrt(2./3), knn.Divisors(nil)[1], 1e-15)
}

// "utilizes the mean of the most populated bin".
func TestHistogramTakesTheMostPopulatedBin_3_1(t *testing.T) {
	h, err := NewHistogram(HistogramConfig{Low: 0, High: 10, Bins: 5})
	require.NoError(t, err)
	for _, x := range []float64{1, 4, 5, 8.5, 9, 9.5} { // bins [0 2) [2 4) [4 6) [6 8) [8 10]
		require.True(t, h.Observe(x))
	}
	mean, ok := h.Estimate()
	assert.True(t, ok)
	assert.InDelta(t, 9, mean, 1e-15)
	require.True(t, h.Delete(9))
	mean, _ = h.Estimate()
	assert.InDelta(t, 4.5, mean, 1e-15, "of two bins with two values the lower bin counts")

	h, err = NewHistogram(HistogramConfig{Low: 100, High: 110, Bins: 5})
	require.NoError(t, err)
	for _, x := range []float64{101, 104, 105, 108.5, 109, 109.5} {
		require.True(t, h.Observe(x))
	}
	mean, _ = h.Estimate()
	assert.InDelta(t, 109, mean, 1e-12, "bins that do not begin at 0")

	// The lower bound of a bin belongs to the bin, and a value outside of the bounds to the nearest bin.
	h, err = NewHistogram(HistogramConfig{Low: 1, High: 3, Bins: 4})
	require.NoError(t, err)
	for _, x := range []float64{1.5, 1.75, 1.25, -9, 2.25, 99} { // bins [1 1.5) [1.5 2) [2 2.5) [2.5 3)
		require.True(t, h.Observe(x))
	}
	mean, _ = h.Estimate()
	assert.Equal(t, (1.25-9)/2, mean)
	require.True(t, h.Delete(-9))
	mean, _ = h.Estimate()
	assert.Equal(t, (1.5+1.75)/2, mean)
	require.True(t, h.Delete(1.5))
	mean, _ = h.Estimate()
	assert.Equal(t, 1.25, mean)
}
