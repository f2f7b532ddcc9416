package survival_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
)

// Set computes some answers in advance, and uses its memory again for the next task and the next curve. The answers
// are equal, to the last bit, to answers that are computed anew each time.
func TestSetChangesNoAnswer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var curves [2]survival.Curve
	var residual survival.Residual
	var without survival.Without
	for range 400 {
		c := &curves[rng.IntN(2)]
		if n := rng.IntN(20); rng.IntN(3) == 0 {
			for i := range curves { // both have the same number of fits and ends, and the same longest value
				fill(&curves[i], rng, n)
			}
		}
		for range 4 {
			age, scale := float64(rng.IntN(40)), float64(1+rng.IntN(2))
			residual.Set(c, age, scale)
			without.Set(c, age)
			same(t, survival.Residual{Curve: c, Age: age, Scale: scale}, &residual)
			same(t, survival.Without{Curve: c, Age: age}, &without)
		}
	}
	c := &curves[0]
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		residual.Set(c, 12, 1)
		without.Set(c, 12)
	}))
}

// fill fits a curve to n tasks that ended, and to some tasks that run.
func fill(c *survival.Curve, rng *rand.Rand, n int) {
	c.Reset()
	for range n {
		c.Observe(10+20*rng.Float64(), true)
	}
	for range rng.IntN(4) {
		c.Observe(30, false)
	}
	c.Fit()
}

// same fails the test if two distributions differ.
func same(t *testing.T, want, got estimate.Distribution) {
	t.Helper()
	require.Equal(t, want.Mean(), got.Mean())
	for _, p := range []float64{0, 0.1, 0.5, 0.9, 0.97, 1} {
		require.Equal(t, want.Quantile(p), got.Quantile(p), p)
		x := 50 * p
		require.Equal(t, want.CDF(x), got.CDF(x), x)
		require.Equal(t, estimate.Below(want, x), estimate.Below(got, x), x)
	}
}
