package survival_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/merge/mergetest"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// member returns the window of a process of a fleet.
func member(t testing.TB, process int) *survival.Window {
	w, err := survival.NewWindow(survival.WindowConfig{Keep: 5 * time.Minute, Origin: mergetest.Name(process)})
	require.NoError(t, err)
	return w
}

func TestMergeObeysItsLaws(t *testing.T) {
	mergetest.Laws(t, mergetest.Fleet[*survival.Window]{
		New: func(process int) *survival.Window { return member(t, process) },
		See: func(w *survival.Window, _ int, now time.Time, random *rand.Rand) {
			w.Observe(now, random.ExpFloat64(), random.IntN(4) > 0)
		},
		Answer: func(w *survival.Window, now time.Time) string {
			c := w.Curve(now)
			return fmt.Sprint(c.Len(), c.Ends(), c.Mean(), c.Quantile(.9), c.Quantile(.999), c.Above(1))
		},
	})
}

// Windows share the times of runs that are over. A running run is known only to the window in which it runs.
func TestMergedWindowsShareTheRunsThatAreOver(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(1000+s), 0) }
	a, b := member(t, 0), member(t, 1)
	a.Start(at(0))
	for range 20 {
		a.End(at(10), a.Start(at(0)), true)
		b.Observe(at(10), 30, true)
	}
	assert.False(t, b.Observe(at(10), -1, true))
	assert.False(t, b.Observe(at(10), estimate.MaxSample*2, true))
	delta, err := a.AppendDelta(nil, b.AppendVersion(nil))
	require.NoError(t, err)
	assert.Less(t, len(delta), 20*15+40)
	require.NoError(t, b.Merge(at(20), delta))
	assert.Equal(t, 40, b.Curve(at(20)).Len())
	assert.Equal(t, 20., b.Curve(at(20)).Mean())
	times, err := estimate.NewUnitTimes(estimate.UnitTimesConfig{Prior: b.Curve(at(20))})
	require.NoError(t, err)
	assert.Equal(t, 20., times.Mean())
	assert.Equal(t, 40, b.Curve(at(310)).Len(), "the last instant at which the window keeps them")
	assert.Equal(t, 0, b.Curve(at(311)).Len())
	mergetest.Refuses(t, b, at(20), delta)
	assert.ErrorContains(t, member(t, 2).Merge(at(-51), delta), "estimate/survival: delta of scheduler-0 is 1m1.")
	alone, err := survival.NewWindow(survival.WindowConfig{Keep: time.Hour})
	require.NoError(t, err)
	assert.ErrorContains(t, alone.Merge(at(0), delta), "Config.Origin")
	_, err = survival.NewWindow(survival.WindowConfig{Keep: time.Hour, MaxSkew: -1})
	assert.ErrorContains(t, err, "estimate/survival: WindowConfig.MaxSkew is -1ns")
}

// At most half of the runs that are used come from one process, however many runs that process reports.
func TestOneProcessHasAtMostHalfOfTheWindow(t *testing.T) {
	now := time.Unix(1000, 0)
	liar, honest, reader := member(t, 0), member(t, 1), member(t, 2)
	for range 9000 {
		liar.Observe(now, 100, true)
	}
	for range 3000 {
		honest.Observe(now, 1, true)
	}
	for _, w := range []*survival.Window{honest, liar} {
		delta, err := w.AppendDelta(nil, nil)
		require.NoError(t, err)
		require.NoError(t, reader.Merge(now.Add(time.Second), delta))
	}
	c := reader.Curve(now.Add(time.Second))
	assert.Equal(t, 4096, c.Len())
	assert.Equal(t, .5, c.Above(50))
}

func FuzzMerge(f *testing.F) {
	a := member(f, 0)
	random := rand.New(rand.NewPCG(1, 1))
	for range 40 {
		a.Observe(time.Unix(1000, 0), random.ExpFloat64(), true)
	}
	delta, _ := a.AppendDelta(nil, nil)
	f.Add(delta[:len(delta)-4])
	f.Fuzz(func(t *testing.T, data []byte) {
		b, now := member(t, 1), time.Unix(1100, 0)
		if b.Merge(now, snapshot.Seal(data, 0)) != nil {
			return
		}
		again, err := b.AppendDelta(nil, nil)
		require.NoError(t, err)
		require.NoError(t, member(t, 2).Merge(now, again))
		saved, _ := b.MarshalBinary()
		require.NoError(t, new(survival.Window).UnmarshalBinary(saved))
		require.LessOrEqual(t, b.Curve(now).Len(), 4096)
	})
}

// These bytes are the present format. A later version must read them, or refuse them by naming their version.
func TestSnapshotAndDeltaKeepTheirFormat(t *testing.T) {
	w, now := member(t, 0), time.Unix(1000, 0)
	w.Start(now)
	w.Observe(now, 20, true)
	w.Observe(now.Add(time.Second), 3, false)
	mergetest.Kept(t, w, member(t, 1), now.Add(time.Second),
		"0480e0a596bb110b7363686564756c65722d3080e0ba84bf0301d20f0080e8fe83a23a000180c0a8ca9a3a0002"+
			"000000000b7363686564756c65722d3080a8d6b90780b1d0ba0780b1d0ba070280c0a8ca9a3a02000000000000"+
			"34400180e8fe83a23a0200000000000008400003030000000006ce254c6a",
		"7700010b7363686564756c65722d3080a8d6b9070080b1d0ba07028094ebdc03000000000000344001c0843d00"+
			"00000000000840006ff5603e")
}
