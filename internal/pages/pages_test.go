package pages

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Random calls have the effect that they have on a map.
func TestIndexAgreesWithAMap(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var x Index
		want := map[int]int{}
		for range 5000 {
			index := rng.IntN(300)
			if rng.IntN(20) == 0 {
				index = math.MaxInt - index
			}
			switch rng.IntN(3) {
			case 0:
				x.Delete(index)
				delete(want, index)
			case 1:
				row := rng.IntN(math.MaxInt32)
				x.Set(index, row)
				want[index] = row
			}
			row, is := x.Row(index)
			expected, has := want[index]
			require.Equal(t, has, is)
			if is {
				require.Equal(t, expected, row)
			}
			require.Equal(t, len(want), x.Len())
		}
	}
}

func TestIndexHasNoNegativeIndexes(t *testing.T) {
	var x Index
	x.Set(0, 5)
	x.Set(63, 6)
	for _, index := range []int{-1, -63, -64, math.MinInt} {
		_, is := x.Row(index)
		assert.False(t, is, index)
		x.Delete(index)
	}
	assert.Equal(t, 2, x.Len())
}

// Ten thousand indexes come and go in random order. The memory is what ten thousand need, and there are no allocations but
// for pages.
func TestIndexStaysSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var x Index
	var open []int
	turn := func(next int) {
		x.Set(next, next%10_000)
		open = append(open, next)
		if len(open) > 10_000 {
			i := rng.IntN(2000) // the older ones go first
			x.Delete(open[i])
			open = append(open[:i], open[i+1:]...)
		}
	}
	for next := range 200_000 {
		turn(next)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for next := range 200_000 {
		turn(200_000 + next)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	assert.Less(t, float64(after.HeapAlloc), float64(before.HeapAlloc)+10_000)
	runtime.KeepAlive(&x)
}
