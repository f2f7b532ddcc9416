package knn

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/merge/mergetest"
	"github.com/straggler-go/straggler/internal/snapshot"
)

func member(t testing.TB, process int) *Regressor {
	k, err := New(Config{Dimensions: 2, Keep: 12, Origin: mergetest.Name(process)})
	require.NoError(t, err)
	return k
}

// The number of runs kept is so small that many are replaced. The remaining runs must not depend on the order of
// arrival.
func TestLawsOfMerge(t *testing.T) {
	mergetest.Laws(t, mergetest.Fleet[*Regressor]{
		New: func(process int) *Regressor { return member(t, process) },
		See: func(k *Regressor, _ int, now time.Time, random *rand.Rand) {
			require.NoError(t, k.ObserveAt(now, []float64{random.NormFloat64(), random.ExpFloat64()}, random.ExpFloat64()))
		},
		Answer: func(k *Regressor, _ time.Time) string {
			var p Prediction
			if k.Predict(&p, []float64{.5, .5}) != nil || k.Len() == 0 {
				return fmt.Sprint(k.Len())
			}
			return fmt.Sprint(k.Len(), p.Mean(), p.Quantile(.5), k.Divisors(nil))
		},
	})
}

func TestRegressorsMerge(t *testing.T) {
	now := time.Unix(1000, 0)
	a, b := member(t, 0), member(t, 1)
	for i := range 20 {
		require.NoError(t, a.ObserveAt(now, []float64{float64(i), .1}, 10))
		require.NoError(t, b.ObserveAt(now.Add(time.Second), []float64{float64(i), .1}, 20))
	}
	assert.Error(t, a.ObserveAt(now, []float64{1e39, 0}, 1))
	assert.Error(t, a.ObserveAt(now, []float64{0, 0}, estimate.MaxSample*1.1))
	delta, err := a.AppendDelta(nil, b.AppendVersion(nil))
	require.NoError(t, err)
	assert.Less(t, len(delta), 25*20)
	require.NoError(t, b.Merge(now.Add(time.Second), delta))
	assert.Equal(t, 12, b.Len())
	var p Prediction
	require.NoError(t, b.Predict(&p, []float64{14, .1}))
	assert.InDelta(t, 15, p.Mean(), 2, "the prediction uses six runs of each process")
	mergetest.Refuses(t, b, now.Add(time.Second), delta)
	require.NoError(t, member(t, 2).Merge(now.Add(-time.Minute+time.Second), delta))
	assert.ErrorContains(t, member(t, 2).Merge(now.Add(-61*time.Second), delta),
		"estimate/knn: delta of scheduler-0 is 1m1")
	other, err := New(Config{Dimensions: 3, Origin: "x"})
	require.NoError(t, err)
	assert.ErrorContains(t, other.Merge(now, delta), "holds 3 where 4 to 4 is expected")
	assert.ErrorContains(t, new(Regressor).Merge(now, delta), "Config.Origin")
}

func FuzzMerge(f *testing.F) {
	a, now := member(f, 0), time.Unix(1000, 0)
	for k := range 20 {
		_ = a.ObserveAt(now, []float64{float64(k), 1}, float64(k))
	}
	delta, _ := a.AppendDelta(nil, nil)
	f.Add(delta[:len(delta)-4])
	f.Fuzz(func(t *testing.T, data []byte) {
		b, now := member(t, 1), now.Add(time.Minute)
		if b.Merge(now, snapshot.Seal(data, 0)) != nil {
			return
		}
		again, err := b.AppendDelta(nil, nil)
		require.NoError(t, err)
		require.NoError(t, member(t, 2).Merge(now, again))
		saved, _ := b.MarshalBinary()
		require.NoError(t, new(Regressor).UnmarshalBinary(saved))
		var p Prediction
		_ = b.Predict(&p, []float64{1, 2})
		require.LessOrEqual(t, b.Len(), 12)
	})
}

// A later version of the code must read these snapshots and deltas, or refuse them with an error that contains the
// version.
func TestSnapshotsAndDeltasOfTodayAreReadable(t *testing.T) {
	k, now := member(t, 0), time.Unix(1000, 0)
	require.NoError(t, k.ObserveAt(now, []float64{1, .1}, 20))
	require.NoError(t, k.ObserveAt(now.Add(time.Second), []float64{-2, 0}, 30))
	mergetest.Kept(t, k, member(t, 1), now.Add(time.Second),
		"03040018000b7363686564756c65722d3080e0ba84bf03000404555555555555e53f010000fbffff3340020000"+
			"000000003440000000000000f03f000000a09999b93f0000000000003e4000000000000000c000000000000000"+
			"0001d20f0080e8fe83a23a0002000000000b7363686564756c65722d3080a8d6b90780b1d0ba0780b1d0ba0702"+
			"80c0a8ca9a3a0206808080fc03cd99b3ee038080808d0480e8fe83a23a0206808080800c008080c08f04c06917"+
			"bb",
		"6b00010b7363686564756c65722d3080a8d6b9070080b1d0ba07028094ebdc0306808080fc03cd99b3ee038080"+
			"808d04c0843d06808080800c008080c08f0443c854e3")
}
