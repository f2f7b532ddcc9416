package tracker

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/estimate"
)

// A mixture is the distribution of as many values as it stands for.
func TestMixture(t *testing.T) {
	for _, x := range []float64{5, 22.5, 25, 100} {
		of, mixed := new(estimate.Empirical), new(estimate.Empirical)
		for i := range 30 {
			of.Insert(float64(10 + i))
			mixed.Insert(float64(10 + i))
		}
		for range 10 {
			mixed.Insert(x)
		}
		m := mixture{of: of, q: 0.25, x: x}
		assert.InDelta(t, mixed.Mean(), m.Mean(), 1e-9)
		for at := 4.25; at < 110; at += 0.25 {
			assert.InDelta(t, mixed.CDF(at), m.CDF(at), 1e-9)
			assert.InDelta(t, estimate.Below(mixed, at), m.Below(at), 1e-9)
		}
		for p := 0.0125; p < 1; p += 0.025 {
			assert.InDelta(t, mixed.Quantile(p), m.Quantile(p), 1e-9, "x=%v p=%v", x, p)
		}
		assert.False(t, math.IsNaN(m.Quantile(0)+m.Quantile(1)))
	}
}
