package knn

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHistogramAgreesWithGroupingByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		h, err := NewHistogram(HistogramConfig{Low: -20, High: 30, Bins: 10})
		require.NoError(t, err)
		groups := map[int][]float64{}
		for range 1 + r.IntN(60) {
			x := math.Floor(r.Float64()*80 - 35)
			require.True(t, h.Observe(x))
			i := min(max(int(math.Floor((x+20)/5)), 0), 9)
			groups[i] = append(groups[i], x)
		}
		best := -1
		for i := range 10 {
			if best < 0 || len(groups[i]) > len(groups[best]) {
				best = i
			}
		}
		var sum float64
		for _, x := range groups[best] {
			sum += x
		}
		got, ok := h.Estimate()
		require.True(t, ok)
		require.InDelta(t, sum/float64(len(groups[best])), got, 1e-12)
		for i := range 10 {
			for _, x := range groups[i] {
				require.True(t, h.Delete(x))
			}
		}
		require.Zero(t, h.Len())
		_, ok = h.Estimate()
		require.False(t, ok)
		require.False(t, h.Delete(3))
	}
}

// Each lower bound, written as a decimal, is in its own bin, and the next smaller float64 is in the bin below.
func TestHistogramBoundsInDecimals(t *testing.T) {
	for _, high := range []float64{1, 10, 100} {
		h, err := NewHistogram(HistogramConfig{High: high, Bins: 100})
		require.NoError(t, err)
		for i := 1; i < 100; i++ {
			bound := float64(i) * high / 100
			assert.Same(t, &h.bins[i], h.binOf(bound), "%v of %v", bound, high)
			assert.Same(t, &h.bins[i-1], h.binOf(math.Nextafter(bound, 0)), "below %v of %v", bound, high)
		}
	}
}

// A large value that was added and deleted leaves no rounding error.
func TestHistogramForgetsLargeValues(t *testing.T) {
	h, err := NewHistogram(HistogramConfig{})
	require.NoError(t, err)
	require.True(t, h.Observe(99.1))
	require.True(t, h.Observe(1e20))
	require.True(t, h.Delete(1e20))
	mean, ok := h.Estimate()
	assert.True(t, ok)
	assert.InDelta(t, 99.1, mean, 1e-9)
}

// Delete refuses each value that Observe refuses, although the bin at the end has values.
func TestHistogramDeleteRefusesWhatAddDoes(t *testing.T) {
	h, err := NewHistogram(HistogramConfig{})
	require.NoError(t, err)
	for _, x := range []float64{98, 99} {
		require.True(t, h.Observe(x))
	}
	for _, x := range []float64{1e200, -1e200, math.Inf(1), math.NaN()} {
		assert.False(t, h.Observe(x), "%v", x)
		assert.False(t, h.Delete(x), "%v", x)
	}
	mean, ok := h.Estimate()
	assert.True(t, ok)
	assert.Equal(t, 98.5, mean)
}
