package survival

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A time that the spread below the median explains belongs to the body. A time far beyond it belongs to an outlier.
// If the body spreads more, only longer times are outliers.
func TestOutlierProbabilityRisesWithTheTime(t *testing.T) {
	for _, c := range []struct{ t, quarter, median, least, most float64 }{
		{50, 90, 100, 0, .1},
		{100, 90, 100, 0, .1},
		{150, 90, 100, .5, 1},
		{800, 90, 100, .999, 1},
		{800, 50, 100, .3, .7},
		{800, 0, 100, .3, .7},
	} {
		p := ordinary{c.median, bodyIndex(c.median / c.quarter)}.outlier(c.t)
		assert.GreaterOrEqual(t, p, c.least, "%v", c)
		assert.LessOrEqual(t, p, c.most, "%v", c)
	}
	for _, quarter := range []float64{10, 50, 80, 95, 100} {
		for before, x := 0., 100.; x < 1e6; x *= 1.1 {
			p := ordinary{100, bodyIndex(100 / quarter)}.outlier(x)
			assert.GreaterOrEqual(t, p, before-1e-12, "the probability falls at %v, with the lower quartile %v", x, quarter)
			before = min(p, before+1)
		}
	}
}
