package knn

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Any runs and any query give an error or a distribution, and a repeated query gives an equal answer.
func FuzzKNN(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef"), 1.0, 2.0, 3, false)
	f.Add(make([]byte, 96), 0.0, 0.0, 0, true)
	f.Fuzz(func(t *testing.T, data []byte, a, b float64, k int, unscaled bool) {
		c := Config{Dimensions: 2, Neighbours: k, Keep: 9}
		if unscaled {
			c.Scaling = ScaleNone
		}
		knn, err := New(c)
		if err != nil {
			return
		}
		for ; len(data) >= 24; data = data[24:] {
			var v [3]float64
			for i := range v {
				v[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
			}
			_ = knn.Observe(v[:2], v[2])
		}
		var p, again Prediction
		if knn.Predict(&p, []float64{a, b}) != nil || knn.Len() == 0 {
			require.False(t, p.Known())
			return
		}
		checkPrediction(t, &p)
		require.NoError(t, knn.Predict(&again, []float64{a, b}))
		require.Equal(t, p.runs, again.runs)
	})
}

// For any values, the estimate lies within the range of the values, and deleting all values leaves none.
func FuzzHistogram(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), 0.0, 100.0, 5)
	f.Fuzz(func(t *testing.T, data []byte, low, high float64, bins int) {
		h, err := NewHistogram(HistogramConfig{Low: low, High: high, Bins: bins % 1000})
		if err != nil {
			return
		}
		var added []float64
		least, largest := math.Inf(1), math.Inf(-1)
		for ; len(data) >= 8; data = data[8:] {
			if x := math.Float64frombits(binary.LittleEndian.Uint64(data)); h.Observe(x) {
				added = append(added, x)
				least, largest = min(least, x), max(largest, x)
			}
		}
		mean, ok := h.Estimate()
		require.Equal(t, len(added) > 0, ok)
		if ok {
			slack := 1e-9 * max(math.Abs(least), math.Abs(largest))
			require.True(t, mean >= least-slack && mean <= largest+slack, "%v not in [%v, %v]", mean, least, largest)
		}
		for _, x := range added {
			require.True(t, h.Delete(x))
		}
		require.Zero(t, h.Len())
	})
}
