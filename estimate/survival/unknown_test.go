package survival_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
)

// Nothing is known without a curve, of a task without an age, in a unit of no length, or without any other value.
func TestWithoutACurveOrAnAgeNothingIsKnown(t *testing.T) {
	c, one := evenly(30, 2, 40), new(survival.Curve)
	one.Observe(5, false)
	one.Fit()
	var residual survival.Residual
	residual.Set(nil, 5, 1)
	var without, alone survival.Without
	without.Set(nil, 5)
	alone.Set(one, 5)
	type distribution interface {
		Mean() float64
		Quantile(p float64) float64
		CDF(x float64) float64
		Below(x float64) float64
	}
	unknown := []distribution{new(survival.Curve), residual, without, alone, survival.Without{Curve: one, Age: 5}}
	for _, no := range []float64{-1, math.NaN()} {
		unknown = append(unknown, survival.Residual{Curve: c, Age: no}, survival.Residual{Curve: c, Age: 5, Scale: no},
			survival.Without{Curve: c, Age: no})
	}
	for i, d := range unknown {
		require.Equal(t, math.Inf(1), d.Mean(), i)
		require.Equal(t, math.Inf(1), d.Quantile(.5), i)
		require.Zero(t, d.CDF(100), i)
		require.Zero(t, d.Below(100), i)
	}
	assert.Zero(t, new(survival.Curve).Above(1))
}

// No time is below 0, and NaN is no time: neither has a probability. The curves have few times, and so many that their
// searches use bins.
func TestATimeBelowZeroHasNoProbability(t *testing.T) {
	for _, ended := range []int{3, 300} {
		c := evenly(ended, 2, 40)
		for _, no := range []float64{-1, math.Inf(-1), math.NaN()} {
			require.Zero(t, c.CDF(no), "%v among %d", no, ended)
			require.Zero(t, c.Below(no), "%v among %d", no, ended)
			require.Zero(t, survival.Without{Curve: c, Age: 40}.CDF(no), "%v among %d", no, ended)
		}
		assert.Equal(t, 1., c.Above(-1))
		assert.Zero(t, c.Above(math.NaN()))
	}
}

// A task as old as the longest value has the remaining time of a task that is a moment older, also if all tasks have
// ended: both come from the tail.
func TestTheTailBeginsAtTheLongestValue(t *testing.T) {
	for _, running := range []int{0, 2} {
		c := evenly(30, running, 24)
		at := survival.Residual{Curve: c, Age: c.Longest()}
		older := survival.Residual{Curve: c, Age: math.Nextafter(c.Longest(), math.Inf(1))}
		assert.InEpsilon(t, older.Mean(), at.Mean(), 1e-9)
		assert.InEpsilon(t, older.Quantile(.5), at.Quantile(.5), 1e-9)
		assert.InEpsilon(t, older.CDF(5), at.CDF(5), 1e-9)
	}
}

// A tail has no largest time: while a task with the longest value runs, the quantile 1 is infinite. It is so before half
// of the tasks have ended and after that, and if all tasks have just begun.
func TestATailHasNoLargestTime(t *testing.T) {
	for _, c := range []*survival.Curve{evenly(0, 3, 0), evenly(2, 9, 40), evenly(30, 2, 40)} {
		for _, silent := range []bool{false, true} {
			c.Silent = silent
			c.Fit()
			assert.Equal(t, math.Inf(1), c.Quantile(1))
			assert.Equal(t, math.Inf(1), survival.Residual{Curve: c, Age: 40}.Quantile(1))
			assert.Equal(t, math.Inf(1), survival.Without{Curve: c, Age: 40}.Quantile(1))
		}
	}
}
