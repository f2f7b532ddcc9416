package fairshare

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Passes and sweep must find the same shares. The test compares them on inputs that are too large for the oracle.
func TestSweepAgreesWithPasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	swept := 0
	for range 300 {
		n := 1 + rng.IntN(300)
		f := newFiller(n)
		var least, most int64
		for i := range n {
			f.weight[i] = 1 + rng.Int64N(1<<rng.IntN(40))
			f.lo[i] = rng.Int64N(1 << rng.IntN(40))
			f.hi[i] = f.lo[i] + rng.Int64N(1<<rng.IntN(40))
			least, most = least+f.lo[i], most+f.hi[i]
		}
		if least == most {
			continue
		}
		total := least + rng.Int64N(most-least)
		l := f.level(0, int32(n), total)
		if len(f.breakpoints) > 0 {
			swept++ // maxPasses passes were not enough
		}
		f.round(l, 0, int32(n), total)
		want := append([]int64(nil), f.slots...)

		f.active = f.active[:0]
		all := level{units: total}
		for i := range n {
			f.active = append(f.active, int32(i))
			all.weight += f.weight[i]
		}
		f.round(f.sweep(all), 0, int32(n), total)
		require.Equal(t, want, f.slots)
	}
	require.Positive(t, swept)
}

// If the shares of all pools are their lower bounds, many levels are right. The method sweep must return a finite
// level.
func TestSweepReturnsANumberIfNoPoolIsAtTheLevel(t *testing.T) {
	f := newFiller(2)
	f.weight[0], f.lo[0], f.hi[0] = 1, 4, 5
	f.weight[1], f.lo[1], f.hi[1] = 2, 20, 40
	f.active = append(f.active, 0, 1)
	l := f.sweep(level{units: 24, weight: 3})
	f.round(l, 0, 2, 24)
	require.Equal(t, []int64{4, 20}, f.slots)
	require.Equal(t, 4.0, l.float())
}

func TestKthLargestAgreesWithSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	for range 500 {
		values := make([]int64, 1+rng.IntN(50))
		for i := range values {
			values[i] = rng.Int64N(1 << (1 + rng.IntN(62)))
			if rng.IntN(3) == 0 {
				values[i] = 7
			}
		}
		sorted := slices.Clone(values)
		slices.Sort(sorted)
		slices.Reverse(sorted)
		k := 1 + rng.IntN(len(values))
		want := 0
		for _, v := range sorted[:k] {
			if v == sorted[k-1] {
				want++
			}
		}
		least, equal := kthLargest(values, k)
		require.Equal(t, sorted[k-1], least)
		require.Equal(t, want, equal)
	}
}
