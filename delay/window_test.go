package delay

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The exact window is no worse than any of a fine grid, over all kinds of lags.
func TestWindowAgainstAGrid(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 3))
	for range 400 {
		tr := Transfer{
			Size: 10 * source.Float64(), Bandwidth: 1, Contention: .05 + .95*source.Float64(),
			Clones: 2 + source.IntN(4), Reader: Reader(source.IntN(2)),
			Lags: make([]time.Duration, 1+source.IntN(40)),
		}
		for i := range tr.Lags {
			tr.Lags[i] = time.Duration(source.ExpFloat64() * float64(source.IntN(4)) * float64(time.Second))
			if source.IntN(10) == 0 {
				tr.Lags[i] = Forever
			}
		}
		before := slices.Clone(tr.Lags)
		best, err := Window(tr)
		require.NoError(t, err)
		require.Equal(t, before, tr.Lags, "the argument is not changed")
		cost := func(window time.Duration) float64 {
			above := 0.0
			for _, lag := range tr.Lags {
				if lag > window {
					above++
				}
			}
			return tr.read(min(window.Seconds(), tr.Size), tr.Size, above/float64(len(tr.Lags)))
		}
		require.InDelta(t, cost(best.Window), best.Read.Seconds(), 2e-9)
		require.InDelta(t, cost(0), best.AtOnce.Seconds(), 2e-9)
		require.LessOrEqual(t, best.Read, min(best.AtOnce, best.InTurn))
		require.LessOrEqual(t, best.Window.Seconds(), tr.Size+1e-9)
		for i := range 1000 {
			window := time.Duration(float64(i) / 1000 * tr.Size * float64(time.Second))
			require.GreaterOrEqual(t, cost(window), best.Read.Seconds()-2e-9, "%+v: %v beats %v", tr, window, best)
		}
	}
}

// The order of the lags does not matter, and neither does a scale.
func TestWindowInvariants(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 4))
	for range 200 {
		tr := Transfer{Size: 8, Bandwidth: 2, Contention: .2 + .8*source.Float64(), Lags: make([]time.Duration, 20)}
		for i := range tr.Lags {
			tr.Lags[i] = time.Duration(source.IntN(50)) * 100 * time.Millisecond
		}
		best, err := Window(tr)
		require.NoError(t, err)
		source.Shuffle(len(tr.Lags), func(i, j int) { tr.Lags[i], tr.Lags[j] = tr.Lags[j], tr.Lags[i] })
		again, err := Window(tr)
		require.NoError(t, err)
		require.Equal(t, best, again)
		for i := range tr.Lags {
			tr.Lags[i] *= 4
		}
		tr.Size *= 4
		scaled, err := Window(tr)
		require.NoError(t, err)
		require.Equal(t, 4*best.Window, scaled.Window)
		require.InEpsilon(t, 4*best.Read.Seconds(), scaled.Read.Seconds(), 1e-9)
	}
}

// Each bin learns for itself, from its latest samples, and only once it has enough.
func TestWindowsByBin(t *testing.T) {
	w, err := NewWindows(WindowsConfig{Bins: []int{10}, MinSamples: 2, Keep: 4})
	require.NoError(t, err)
	assert.False(t, w.ObserveLag(1, -1))
	assert.False(t, w.ObserveRead(1, math.NaN(), 1, true))
	assert.False(t, w.ObserveRead(1, 1, 0, false))
	for i := range 4 {
		w.ObserveLag(10, time.Duration(1+i%2)*time.Second)
		w.ObserveLag(11, 5*time.Second)
		w.ObserveRead(10, 8e6, 8*time.Second, false)
		w.ObserveRead(10, 1e6, 4*time.Second, true)
		w.ObserveRead(11, 0, time.Second, false)
	}
	_, known := w.For(10)
	assert.False(t, known, "before a refresh")
	w.Refresh()
	best, known := w.For(1)
	require.True(t, known)
	want, err := Window(Transfer{Lags: []time.Duration{1e9, 2e9, 1e9, 2e9}, Size: 8e6, Bandwidth: 1e6, Contention: .25})
	require.NoError(t, err)
	assert.Equal(t, want, best)
	_, known = w.For(1000)
	assert.False(t, known, "nothing was read")
	for range 4 {
		w.ObserveLag(10, 3*time.Second) // pushes the older ones out
	}
	w.Refresh()
	best, _ = w.For(10)
	assert.Equal(t, 3*time.Second, best.Window)
}

func TestRingKeepsTheLatest(t *testing.T) {
	r := ring[int]{limit: 4}
	for i := range 11 {
		r.add(i)
	}
	assert.ElementsMatch(t, []int{7, 8, 9, 10}, r.items)
}
