package knn

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

// knnRun is a run in the slow implementation by definition.
type knnRun struct {
	x       []float64
	seconds float64
}

// slowKNN follows the definition: it sorts all runs by distance and returns the weighted times, sorted by time.
func slowKNN(runs []knnRun, k int, divisors, x []float64) (mean float64, weights map[float64]float64) {
	distance := func(r knnRun) (sum float64) {
		for i := range x {
			if divisors[i] > 0 {
				sum += (x[i] - r.x[i]) / divisors[i] * ((x[i] - r.x[i]) / divisors[i])
			}
		}
		return sum
	}
	type far struct {
		knnRun
		squared float64
	}
	sorted := make([]far, len(runs))
	for i, r := range runs {
		sorted[i] = far{r, distance(r)}
	}
	slices.SortFunc(sorted, func(a, b far) int { return cmp.Compare(a.squared, b.squared) })
	k = min(k, len(sorted))
	squared := sorted[k-1].squared
	weights = map[float64]float64{}
	var total, seconds float64
	take := func(r knnRun, weight float64) {
		weights[r.seconds] += weight
		total += weight
		seconds += weight * r.seconds
	}
	for _, r := range sorted[:k] {
		if squared > 0 && r.squared < squared {
			take(r.knnRun, 1-r.squared/squared)
		}
	}
	if total <= 1e-12*float64(k) {
		total, seconds, weights = 0, 0, map[float64]float64{}
		for _, r := range runs {
			if math.Abs(distance(r)-squared) <= 1e-11*squared {
				take(r, 1)
			}
		}
	}
	for y := range weights {
		weights[y] /= total
	}
	return seconds / total, weights
}

// A prediction equals the result of sorting all remembered runs. This holds for any number of runs, with replaced
// runs, ties and equal parameters.
func TestKNNAgreesWithAScanOfAllRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for trial := range 60 {
		c := Config{Dimensions: 1 + r.IntN(4), Neighbours: r.IntN(30), Keep: 1 + r.IntN(200), Scaling: Scaling(r.IntN(2))}
		n := 1 + r.IntN(400)
		if trial%10 == 0 {
			c.Keep, n = 3000, 2000+r.IntN(3000)
		}
		grid := []float64{2, 30, 1e6}[r.IntN(3)]
		knn, err := New(c)
		require.NoError(t, err)
		draw := func() []float64 {
			x := make([]float64, c.Dimensions)
			for i := range x {
				x[i] = math.Floor(grid * r.Float64())
			}
			return x
		}
		var runs []knnRun
		var p Prediction
		for i := range n {
			x := draw()
			runs = append(runs, knnRun{x, float64(r.IntN(50))})
			if err := knn.Observe(x, runs[len(runs)-1].seconds); err != nil {
				require.NoError(t, err)
			}
			runs = runs[max(0, len(runs)-c.Keep):]
			if knn.Len() != len(runs) {
				require.Equal(t, len(runs), knn.Len())
			}
			if i%(1+n/20) != 0 && i != n-1 {
				continue
			}
			k := c.Neighbours
			if k == 0 {
				k = neighboursFor(len(runs))
			}
			query := draw()
			require.NoError(t, knn.Predict(&p, query))
			mean, weights := slowKNN(runs, k, knn.Divisors(nil), query)
			require.InDelta(t, mean, p.Mean(), 1e-7*(1+mean), "%+v, %d runs", c, len(runs))
			for y, weight := range weights {
				if !(math.Abs(weight-(p.CDF(y)-p.Below(y))) <= 1e-7) {
					require.InDelta(t, weight, p.CDF(y)-p.Below(y), 1e-7)
				}
			}
		}
	}
}

// Several goroutines may predict at the same time; the race detector checks this.
func TestKNNPredictsConcurrently(t *testing.T) {
	knn, queries := benchKNN(t, 2000)
	means := make([]float64, 4)
	var done sync.WaitGroup
	for i := range means {
		done.Add(1)
		go func() {
			defer done.Done()
			var p Prediction
			for _, x := range queries[:100] {
				_ = knn.Predict(&p, x)
				means[i] += p.Mean()
			}
		}()
	}
	done.Wait()
	for _, mean := range means {
		assert.Equal(t, means[0], mean)
	}
}

// The order of the runs does not change a prediction, as long as all runs are remembered.
func TestKNNIsIndependentOfSequence(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var runs []knnRun
	for range 300 {
		runs = append(runs, knnRun{[]float64{float64(r.IntN(20)), float64(r.IntN(20))}, r.Float64()})
	}
	var means []float64
	for range 3 {
		knn, err := New(Config{Dimensions: 2, Scaling: ScaleNone})
		require.NoError(t, err)
		for _, run := range runs {
			require.NoError(t, knn.Observe(run.x, run.seconds))
		}
		means = append(means, predict(t, knn, 7, 7).Mean())
		r.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	}
	assert.Equal(t, means[0], means[1])
	assert.Equal(t, means[0], means[2])
}

// A prediction is a distribution: it is monotone from 0 to 1, its quantiles fit, and its mean is between its
// smallest and its largest time.
func TestPredictionIsADistribution(t *testing.T) {
	var _ estimate.Distribution = new(Prediction)
	r := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		n := 1 + r.IntN(40)
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = r.Float64(), float64(r.IntN(9))
		}
		p := predict(t, knnOf(t, 0, x, y), r.Float64())
		checkPrediction(t, p)
	}
}

func checkPrediction(t *testing.T, p *Prediction) {
	t.Helper()
	require.True(t, p.Known())
	first, last := p.runs[0].seconds, p.runs[len(p.runs)-1].seconds
	require.GreaterOrEqual(t, p.Mean(), first*(1-1e-9))
	require.LessOrEqual(t, p.Mean(), last*(1+1e-9))
	require.Equal(t, 1.0, p.CDF(last))
	require.Equal(t, 0.0, p.Below(first))
	require.Equal(t, first, p.Quantile(0))
	require.Equal(t, last, p.Quantile(1))
	require.Equal(t, first, p.Quantile(math.NaN()))
	before := 0.0
	for q := 0.05; q < 1; q += .05 {
		x := p.Quantile(q)
		require.GreaterOrEqual(t, p.CDF(x), q)
		require.Less(t, p.Below(x), q)
		require.GreaterOrEqual(t, x, before)
		require.Equal(t, p.Below(x), estimate.Below(p, x))
		before = x
	}
}
