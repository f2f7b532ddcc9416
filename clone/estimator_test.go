package clone

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stragglers returns the number of rates below the rate that Observe returns. It checks that Observe found the
// same number.
func stragglers(e *Estimator, now time.Time, rates []float64) int {
	e.roll(now)
	before := e.slow
	slow := e.Observe(now, rates)
	n := 0
	for _, r := range rates {
		if r >= 0 && r < slow {
			n++
		}
	}
	if e.slow-before != n {
		return -1
	}
	return n
}

func TestEstimatorIgnoresInvalidRates(t *testing.T) {
	e, err := NewEstimator(EstimatorConfig{MinTasks: 4})
	require.NoError(t, err)
	now := time.Unix(0, 0)
	assert.Zero(t, stragglers(e, now, []float64{5}))
	assert.Zero(t, stragglers(e, now, []float64{math.NaN(), math.Inf(1), -1, 5}))
	p, known := e.P(now)
	assert.False(t, known)
	assert.True(t, math.IsNaN(p))
	rates := []float64{9, 0, 11, math.NaN(), 10}
	assert.Equal(t, 1, stragglers(e, now, rates))
	assert.Equal(t, 9., rates[0], "Observe changed its argument")
	p, known = e.P(now)
	assert.True(t, known)
	assert.Equal(t, .25, p)
	assert.Equal(t, 0, stragglers(e, now, []float64{math.MaxFloat64, math.MaxFloat64}), "the median must not overflow")
	assert.Equal(t, 2, stragglers(e, now, []float64{1, 3, 10, 12}), "the median is 6.5, not 3")
	assert.Equal(t, 1, stragglers(e, now, []float64{1, 4, 10, 12}), "the median is 7, not 10")
}

// A period with too few tasks continues. A clock that steps back loses no observation.
func TestAPeriodWithTooFewTasksContinues(t *testing.T) {
	e, err := NewEstimator(EstimatorConfig{MinTasks: 5})
	require.NoError(t, err)
	now := time.Unix(1e6, 0)
	e.Observe(now, []float64{10, 10, 10, 1})
	now = now.Add(90 * time.Minute)
	_, known := e.P(now)
	assert.False(t, known, "four tasks are too few")
	now = now.Add(-80 * time.Minute)
	e.Observe(now, []float64{10, 10, 10, 10})
	p, _ := e.P(now)
	assert.Equal(t, .125, p, "one task out of eight straggled so far")
	now = now.Add(-4 * time.Hour)
	e.Observe(now, []float64{10, 10, 10, 10, 10, 1, 1, 1})
	p, _ = e.P(now)
	assert.Equal(t, .25, p, "four tasks out of sixteen: the step back closed no period")
	p, _ = e.P(now.Add(2 * time.Hour))
	assert.Equal(t, .25, p)
}
