package knn

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each prediction with the tree equals, bit for bit, the prediction of a scan of all runs. Many runs are at equal
// distances, some runs were replaced since the tree was built, and some Regressors were restored from a snapshot. The
// test has 20 random Regressors, or 40 with STRAGGLER_LIVES.
func TestTheTreeChangesNoPrediction(t *testing.T) {
	r, trials := rand.New(rand.NewPCG(2, 2)), 20
	if os.Getenv("STRAGGLER_LIVES") != "" {
		trials = 40
	}
	for trial := range trials {
		c := Config{
			Dimensions: 1 + r.IntN(4),
			Neighbours: []int{0, 1, 40}[r.IntN(3)],
			Keep:       treeRuns + r.IntN(2*treeRuns),
			Scaling:    Scaling(r.IntN(2)),
		}
		with, err := New(c)
		require.NoError(t, err)
		grid := []float64{2, 30, 1e6}[r.IntN(3)]
		draw := func() []float64 {
			x := make([]float64, c.Dimensions)
			for i := range x {
				x[i] = math.Floor(grid*r.Float64()) * math.Pow(1000, float64(i))
			}
			return x
		}
		for range treeRuns + r.IntN(4*treeRuns) {
			require.NoError(t, with.Observe(draw(), math.Floor(9*r.Float64())))
		}
		if trial%4 == 0 {
			snapshot, err := with.MarshalBinary()
			require.NoError(t, err)
			require.NoError(t, with.UnmarshalBinary(snapshot))
		}
		var a, b Prediction
		for range 60 {
			require.NoError(t, with.Observe(draw(), math.Floor(9*r.Float64())))
			require.NotEmpty(t, with.tree.at)
			without := *with
			without.tree = tree{}
			x := draw()
			require.NoError(t, with.Predict(&a, x))
			require.NoError(t, without.Predict(&b, x))
			require.Equal(t, b.runs, a.runs, "trial %d", trial)
			require.Equal(t, b.mean, a.mean)
			require.Equal(t, b.radius, a.radius)
		}
	}
}

// A search visits few of the runs: the tree is split where the runs are far apart.
func TestTheTreeVisitsFewRuns(t *testing.T) {
	knn, queries := benchKNN(t, 20000)
	var h nearest
	for _, x := range queries[:50] {
		h.reset(20)
		knn.search(&h, x)
		limit, boxes := h.limit, 0
		for leaf := range len(knn.tree.boxes) / (2 * len(x)) {
			if 2*leaf+1 >= len(knn.tree.boxes)/(2*len(x)) && knn.tree.toBox(leaf, x, knn.inverse) < limit {
				boxes++
			}
		}
		require.Less(t, boxes, 200, "of some 2048 leaves")
	}
}

// halve is neither wrong nor quadratic for keys whose median of three is a bad pivot.
func TestHalveWithBadPivots(t *testing.T) {
	const n = 5000
	for name, value := range map[string]func(i int) float64{
		"ascending":  func(i int) float64 { return float64(i) },
		"descending": func(i int) float64 { return float64(-i) },
		"equal":      func(int) float64 { return 4 },
		"two values": func(i int) float64 { return float64(i % 2) },
		"organ pipe": func(i int) float64 { return math.Abs(float64(i - n/2)) },
		"sawtooth":   func(i int) float64 { return float64(i % 97) },
		"killer":     killer(n),
	} {
		runs := make([]int32, n)
		for i := range runs {
			runs[i] = int32(i)
		}
		compared := 0
		middle := n / 2
		halve(runs, middle, func(run int32) float64 { compared++; return value(int(run)) })
		require.Less(t, compared, 100*n, name)
		var keys []float64
		for _, run := range runs {
			keys = append(keys, value(int(run)))
		}
		require.LessOrEqual(t, slices.Max(keys[:middle]), slices.Min(keys[middle:]), name)
		slices.Sort(runs)
		require.Equal(t, int32(n-1), runs[n-1], name)
		require.Len(t, slices.Compact(runs), n, name)
	}
}

// killer returns keys of n runs for which each pivot of halve is the second smallest key that is left. It plays halve:
// the pivot stands in the middle, and is swapped to the second place.
func killer(n int) func(int) float64 {
	runs := make([]int, n)
	for i := range runs {
		runs[i] = i
	}
	keys := make([]float64, n)
	for next := 0.0; len(runs) > 0; next += 2 {
		middle := len(runs) / 2
		keys[runs[middle]] = next + 1
		keys[runs[0]] = next
		if len(runs) > 1 {
			runs[1], runs[middle] = runs[middle], runs[1]
		}
		runs = runs[min(2, len(runs)):]
	}
	return func(i int) float64 { return keys[i] }
}
