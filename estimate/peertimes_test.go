package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// PeerTimes gives the answers of a UnitTimes that never had the samples left out.
func TestPeersAgreeWithUnitTimesWithoutThem(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 2))
	for range 400 {
		n := 3 + r.IntN(60)
		own := min(r.IntN(12), n-1)
		with, _ := NewUnitTimes(UnitTimesConfig{FixedOverhead: true, MinSamples: 1})
		without, _ := NewUnitTimes(UnitTimesConfig{FixedOverhead: true, MinSamples: 1})
		var ids []int
		for i := range n {
			seconds := float64(r.IntN(8)) // many are equal
			id := with.Running(NoSample, ran(seconds, 2))
			if i < own {
				ids = append(ids, id)
			} else {
				without.Running(NoSample, ran(seconds, 2))
			}
		}
		var others PeerTimes
		with.Peers(&others, append(append(ids, NoSample), ids...)...) // an id that occurs twice removes one sample
		require.InDelta(t, without.Mean(), others.Mean(), 1e-14)
		for range 20 {
			x, p := float64(r.IntN(10))/2, r.Float64()
			require.Equal(t, without.Below(x), others.Below(x))
			require.Equal(t, without.CDF(x), others.CDF(x))
			require.Equal(t, without.Quantile(p), others.Quantile(p), "n=%d own=%d p=%v", n, own, p)
		}
		require.Equal(t, without.Quantile(0), others.Quantile(0))
		require.Equal(t, without.Quantile(1), others.Quantile(1))
	}
}

func TestPeersLeaveNothingOutIfNothingWouldBeLeft(t *testing.T) {
	var others PeerTimes
	rates, _ := NewUnitTimes(UnitTimesConfig{MinSamples: 2})
	a := rates.Running(NoSample, ran(3, 1))
	rates.Peers(&others, a)
	assert.Equal(t, rates.Mean(), others.Mean(), "with too few samples both are unknown")
	b := rates.Running(NoSample, ran(5, 1))
	rates.Peers(&others, a, b)
	assert.Equal(t, 4.0, others.Mean(), "if all samples are own, no sample is left out")
	rates.Peers(&others, b)
	assert.Equal(t, 3.0, others.Mean())
	rates.Peers(&others, b, 99, -7)
	assert.Equal(t, 3.0, others.Mean(), "ids that are not in use are ignored")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		rates.Peers(&others, a)
		sink = others.Mean() + others.Below(4) + others.CDF(4) + others.Quantile(.5)
	}))
}

func TestPeerTimesZeroValueNeverComes(t *testing.T) {
	var others PeerTimes
	assert.Equal(t, math.Inf(1), others.Mean())
	assert.Equal(t, math.Inf(1), others.Quantile(.5))
	assert.Zero(t, others.Below(1e300)+others.CDF(1e300))
	fresh := Fresh{UnitTime: &others, Work: 1}
	assert.Equal(t, Unknown, fresh.Expected())
}
