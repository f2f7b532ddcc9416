package knn

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot/snapshottest"
)

// After any history, a restored regressor predicts and learns as if it had never stopped.
func TestRestoredRegressorPredictsAsBefore(t *testing.T) {
	for _, c := range []struct {
		Config
		runs int
	}{
		{Config{Dimensions: 2, Keep: 50}, 0}, {Config{Dimensions: 2, Keep: 50}, 1}, {Config{Dimensions: 1}, 300},
		{Config{Dimensions: 3, Keep: 50, Scaling: ScaleNone}, 130}, {Config{Dimensions: 2, Neighbours: 20, Keep: 2500}, 4011},
	} {
		r := rand.New(rand.NewPCG(uint64(c.runs), 2))
		old, err := New(c.Config)
		require.NoError(t, err)
		draw := func() []float64 {
			x := make([]float64, c.Dimensions)
			for i := range x {
				x[i] = float64(r.IntN(40)) // with ties
			}
			return x
		}
		for range c.runs {
			require.NoError(t, old.Observe(draw(), r.ExpFloat64()))
		}
		data, err := old.MarshalBinary()
		require.NoError(t, err)
		var restored Regressor
		require.NoError(t, restored.UnmarshalBinary(data))
		again, err := restored.MarshalBinary()
		require.NoError(t, err)
		require.Equal(t, data, again)
		require.Equal(t, old.Config(), restored.Config())
		var p, q Prediction
		for range 200 {
			x, seconds := draw(), r.ExpFloat64()
			require.NoError(t, old.Predict(&p, x))
			require.NoError(t, restored.Predict(&q, x))
			require.Equal(t, p.Mean(), q.Mean())
			require.Equal(t, p.Radius(), q.Radius())
			require.Equal(t, p.Quantile(.7), q.Quantile(.7))
			require.NoError(t, old.Observe(x, seconds))
			require.NoError(t, restored.Observe(x, seconds))
			require.Equal(t, old.Divisors(nil), restored.Divisors(nil))
		}
	}
}

func TestRestoredHistogramContinuesAsBefore(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	h, err := NewHistogram(HistogramConfig{Low: -5, High: 30, Bins: 7})
	require.NoError(t, err)
	for range 100 {
		data, err := h.MarshalBinary()
		require.NoError(t, err)
		var restored Histogram
		require.NoError(t, restored.UnmarshalBinary(data))
		require.Equal(t, h, &restored)
		h.Observe(40*r.Float64() - 8)
		h.Delete(40*r.Float64() - 8)
	}
}

func TestDamagedSnapshotsAreRefused(t *testing.T) {
	k, _ := benchKNN(t, 20)
	h, _ := NewHistogram(HistogramConfig{})
	h.Observe(3)
	for name, s := range map[string]interface {
		MarshalBinary() ([]byte, error)
		UnmarshalBinary([]byte) error
	}{"Regressor": k, "Histogram": h} {
		data, err := s.MarshalBinary()
		require.NoError(t, err)
		for n := range data {
			assert.ErrorContains(t, s.UnmarshalBinary(data[:n]), "knn: "+name+": snapshot: ", "cut to %d", n)
		}
		assert.Error(t, s.UnmarshalBinary(append(data[:len(data):len(data)], 0)))
		snapshottest.Flips(t, data, s.UnmarshalBinary)
		data[0]++
		assert.ErrorContains(t, s.UnmarshalBinary(data), fmt.Sprintf("version is %d, want %d", data[0], data[0]-1))
	}
}

func FuzzUnmarshal(f *testing.F) {
	k, _ := benchKNN(f, 20)
	data, _ := k.MarshalBinary()
	f.Add(snapshottest.Body(data))
	h, _ := NewHistogram(HistogramConfig{})
	h.Observe(3)
	data, _ = h.MarshalBinary()
	f.Add(snapshottest.Body(data))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = snapshottest.Sealed(data)
		var h Histogram
		if h.UnmarshalBinary(data) == nil {
			h.Observe(1)
			h.Delete(50)
			h.Estimate()
		}
		var k Regressor
		if k.UnmarshalBinary(data) != nil {
			return
		}
		x := make([]float64, k.Config().Dimensions)
		var p Prediction
		for range 40 {
			if err := k.Predict(&p, x); err != nil {
				t.Fatal(err)
			}
			if k.Len() > 0 {
				checkPrediction(t, &p)
			}
			if err := k.Observe(x, 1); err != nil {
				t.Fatal(err)
			}
			x[0]++
		}
	})
}

// Every release reads the snapshots of the releases before it.
func TestCommittedSnapshotsAreRead(t *testing.T) {
	k, err := New(Config{Dimensions: 2, Keep: 12})
	require.NoError(t, err)
	require.NoError(t, k.Observe([]float64{1, .1}, 20))
	require.NoError(t, k.Observe([]float64{-2, 0}, 30))
	snapshottest.Kept(t, "regressor", k)
	h, err := NewHistogram(HistogramConfig{})
	require.NoError(t, err)
	h.Observe(3)
	h.Observe(70)
	snapshottest.Kept(t, "histogram", h)
}
