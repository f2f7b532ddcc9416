package survival

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
)

// A curve sorts all values, and finds each time at the place at which a binary search finds it.
func TestCurveSortsAndFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	var c Curve
	for round := range 300 {
		c.Reset()
		for range rng.IntN(400) {
			x := 50 + 10*rng.NormFloat64()
			switch round % 6 {
			case 1:
				x = math.Exp(20 * rng.NormFloat64()) // nearly all times are in one bin
			case 2:
				x = float64(rng.IntN(5))
			case 3:
				x = rng.Float64() * 5e-324 * 1e3
			case 4:
				x = rng.Float64() * estimate.MaxSample
			case 5:
				x = 0
			}
			c.Observe(x, rng.IntN(3) > 0)
		}
		want := slices.Clone(c.values)
		slices.Sort(want)
		c.Fit()
		require.Equal(t, want, c.values)
		for range 50 {
			x := c.longest * 1.2 * rng.Float64()
			if n := len(c.at); n > 0 && rng.IntN(2) == 0 {
				x = c.at[rng.IntN(n)]
			}
			below, found := slices.BinarySearch(c.at, x)
			require.Equal(t, below, c.index(x, true))
			if found {
				below++
			}
			require.Equal(t, below, c.index(x, false))
		}
		require.Equal(t, len(c.at), c.index(math.Inf(1), false))
	}
}
