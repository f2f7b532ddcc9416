package knn

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

func TestKNNBadInputIsNamed(t *testing.T) {
	config := func(c Config) error { _, err := New(c); return err }
	histogram := func(c HistogramConfig) error { _, err := NewHistogram(c); return err }
	add := func(seconds float64, x ...float64) error {
		knn, _ := New(Config{})
		err := knn.Observe(x, seconds)
		assert.Zero(t, knn.Len())
		return err
	}
	ask := func(x ...float64) error {
		knn, _ := New(Config{})
		require.NoError(t, knn.Observe([]float64{1, 2, 3}, 4))
		p := predict(t, knn, 1, 2, 3)
		err := knn.Predict(p, x)
		assert.False(t, p.Known())
		return err
	}
	nan, inf := math.NaN(), math.Inf(1)
	for want, err := range map[string]error{
		"Dimensions is -1":                  config(Config{Dimensions: -1}),
		"Dimensions is 65, want 1 to 64":    config(Config{Dimensions: 65}),
		"Neighbours is -1":                  config(Config{Neighbours: -1}),
		"Keep is -1":                        config(Config{Keep: -1}),
		"Scaling is Scaling(2)":             config(Config{Scaling: 2}),
		"len(x) is 2, want 3":               add(1, 1, 2),
		"x[1] is NaN":                       add(1, 1, nan, 3),
		"x[2] is -Inf":                      add(1, 1, 2, -inf),
		"x[0] is 1e+200":                    add(1, 1e200, 2, 3),
		"seconds is NaN":                    add(nan, 1, 2, 3),
		"seconds is -1":                     add(-1, 1, 2, 3),
		"seconds is +Inf":                   add(inf, 1, 2, 3),
		"len(x) is 4, want 3":               ask(1, 2, 3, 4),
		"x[0] is NaN":                       ask(nan, 2, 3),
		"x[0] is +Inf":                      ask(inf, 2, 3),
		"Low is NaN":                        histogram(HistogramConfig{Low: nan, High: 1}),
		"High is 3, want more than Low, 3":  histogram(HistogramConfig{Low: 3, High: 3}),
		"High is NaN":                       histogram(HistogramConfig{High: nan}),
		"Bins is -1":                        histogram(HistogramConfig{Bins: -1}),
		"High is +Inf, want more than Low,": histogram(HistogramConfig{High: inf}),
	} {
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), want)
		assert.Contains(t, err.Error(), "knn: ")
	}
}

func TestKNNDefaultsAreFilledIn(t *testing.T) {
	knn, err := New(Config{})
	require.NoError(t, err)
	assert.Equal(t, Config{Dimensions: 3, Keep: 10000}, knn.Config())
	h, err := NewHistogram(HistogramConfig{})
	require.NoError(t, err)
	assert.Equal(t, HistogramConfig{High: 100, Bins: 20}, h.Config())
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e200} {
		assert.False(t, h.Observe(x))
		assert.False(t, h.Delete(x))
	}
	// A value outside the range belongs to the first or the last bin, and the value High belongs to the last bin.
	for _, x := range []float64{-5, 400, 100, 99} {
		assert.True(t, h.Observe(x))
	}
	assert.Equal(t, 3, h.bins[19].n)
	assert.Equal(t, 4, h.Len())
}

// The zero values, which no constructor has made, give answers and do not panic.
func TestKNNZeroValuesAreEmpty(t *testing.T) {
	var k Regressor
	var p Prediction
	assert.ErrorContains(t, k.Observe(nil, 1), "estimate/knn: Config.Dimensions is 0")
	assert.Error(t, k.Predict(&p, nil))
	assert.False(t, p.Known())
	var h Histogram
	assert.False(t, h.Observe(1))
	assert.False(t, h.Delete(1))
	_, ok := h.Estimate()
	assert.False(t, ok)
}

// The largest parameters, the least spread and the smallest distances cause no NaN and no overflow.
func TestKNNOfExtremesIsFinite(t *testing.T) {
	for _, scaling := range []Scaling{ScaleDeviation, ScaleNone} {
		for _, x := range [][]float64{{-1e100, 1e100, 0, 1}, {0, 1e-300, 2e-300, 1e-200}, {1, 1, 1, math.Nextafter(1, 2)}, {1e100, 1e100, 1e100, 1e100}} {
			knn, err := New(Config{Dimensions: 1, Neighbours: 3, Scaling: scaling})
			require.NoError(t, err)
			for i := range x {
				require.NoError(t, knn.Observe(x[i:i+1], []float64{0, estimate.MaxSample, 1, 2}[i]))
			}
			for _, q := range []float64{-1e100, 0, 1e-300, 1, 1e100} {
				checkPrediction(t, predict(t, knn, q))
			}
		}
	}
}
