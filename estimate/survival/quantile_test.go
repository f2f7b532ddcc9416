package survival

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A quantile is the smallest time at which the CDF reaches the probability, also where it reaches it exactly. The
// times are 1 to n, so the CDF reaches k/n at time k. A task of age 3 has the remaining
// times 1 to n-3.
func TestQuantileIsTheSmallestTime(t *testing.T) {
	for n := 1; n <= 200; n++ {
		var c, with Curve
		for i := 1; i <= n; i++ {
			c.Observe(float64(i), true)
			with.Observe(float64(i), true)
		}
		with.Observe(.5, false) // the age of a task that Without leaves out
		with.Fit()
		c.Fit()
		for _, d := range []interface {
			CDF(t float64) float64
			Quantile(p float64) float64
		}{&c, Residual{Curve: &c}, Residual{Curve: &c, Age: float64(min(3, n-1))}, Without{Curve: &with, Age: .5}} {
			for k := 1; k <= n; k++ {
				for _, p := range []float64{
					float64(k) / float64(n), d.CDF(float64(k)), math.Nextafter(float64(k)/float64(n), 0), .5, .9, .95, .99,
				} {
					at := d.Quantile(p)
					if !(d.CDF(at) >= p) || at > 1 && !(d.CDF(at-1) < p) {
						require.Fail(t, "no quantile", "%T, n = %d, p = %g: %g", d, n, p, at)
					}
				}
			}
		}
	}
}

// Quantiles are the sixteen numbers that Quantile gives, for an outlook of no times, of one, and of many. With 32 times of
// equal weight the probabilities of the points are reached exactly.
func TestQuantilesAreThoseOfQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range mostValues + 1 {
		for _, weight := range []func() float64{func() float64 { return 1 }, func() float64 { return float64(rng.IntN(3)) }} {
			o := new(Outlook)
			a := adder{o: o}
			for range n {
				a.put(rng.ExpFloat64(), weight())
			}
			a.finish()
			for i, x := range o.Quantiles() {
				require.Equal(t, o.Quantile((float64(i)+.5)/Points), x, "n = %d, point %d", n, i)
			}
		}
	}
}

// The quantile 1 of an outlook is its longest time, although the sum of the probabilities may be rounded to less than 1.
// The CDF at that time is 1, and the probability of less is below 1.
func TestTheLargestQuantileOfAnOutlookIsItsLongestTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= mostValues; n++ {
		o, longest := new(Outlook), 0.
		a := adder{o: o}
		for range n {
			left := 1 + rng.Float64()
			a.put(left, .1+rng.Float64())
			longest = max(longest, left)
		}
		require.True(t, a.finish())
		require.Equal(t, longest, o.Quantile(1), "%d times", n)
		require.InDelta(t, 1, o.CDF(longest), 1e-12, "%d times", n)
		require.Less(t, o.Below(longest), 1-1e-3, "%d times", n)
	}
}
