package survival_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
)

// evenly makes a curve of so many tasks that took 15 to 25 s, evenly, beside some that have run for an age.
func evenly(ended, running int, age float64) *survival.Curve {
	c := new(survival.Curve)
	for i := range ended {
		c.Observe(15+10*(float64(i)+0.5)/float64(ended), true)
	}
	for range running {
		c.Observe(age, false)
	}
	c.Fit()
	return c
}

// One that is hardly older than the rest is one of them, and what is left of it is as their times spread; one that is older than
// that explains is expected to need as long again, in whatever unit.
func TestBodyOrOutlier(t *testing.T) {
	for _, running := range []int{1, 2, 4} {
		before := 0.0
		for _, age := range []float64{25, 30, 35, 40, 60, 160} {
			c := evenly(40-running, running, age)
			left := survival.Residual{Curve: c, Age: age}
			assert.Greater(t, left.Mean()/age, before, "%d at %v", running, age)
			before = left.Mean() / age
		}
		young, old := survival.Residual{Curve: evenly(40-running, running, 25), Age: 25}, survival.Residual{Curve: evenly(40-running, running, 40), Age: 40}
		assert.Less(t, young.Mean(), 0.45*25, "not even half, as of one of whose kind nothing is known")
		assert.Greater(t, old.Mean(), 0.8*40)
		assert.Less(t, before, 1.)
	}
}

// A time that the spread below the median explains is the body's, and one far beyond it an outlier's. The wider the spread,
// the farther that is.
func TestOutlier(t *testing.T) {
	for _, c := range []struct{ t, quarter, median, least, most float64 }{
		{50, 90, 100, 0, .1},
		{100, 90, 100, 0, .1},
		{150, 90, 100, .5, 1},
		{800, 90, 100, .999, 1},
		{800, 50, 100, .3, .7},
		{800, 0, 100, .3, .7},
		{800, 90, 0, 0, 0},
	} {
		p := survival.NewBody(c.quarter, c.median).Outlier(c.t)
		assert.GreaterOrEqual(t, p, c.least, "%v", c)
		assert.LessOrEqual(t, p, c.most, "%v", c)
	}
	for _, quarter := range []float64{10, 50, 80, 95, 100} {
		for before, x := 0., 100.; x < 1e6; x *= 1.1 {
			p := survival.NewBody(quarter, 100).Outlier(x)
			assert.GreaterOrEqual(t, p, before-1e-12, "%v of %v", x, quarter)
			before = min(p, before+1)
		}
	}
}

// Tasks that scatter widely have few outliers: 1.5 medians are within their quarters.
func TestWideBodyHasNoOutliers(t *testing.T) {
	var c survival.Curve
	for i := range 30 {
		c.Observe(float64(1+i), true)
	}
	c.Observe(31, false)
	c.Fit()
	assert.InDelta(t, 15.5, survival.Residual{Curve: &c, Age: 31}.Mean(), 5)
}

// Before half have ended nothing is known of the body, and the tail is that of TailIndex, whatever has ended.
func TestTailBeforeHalfHaveEnded(t *testing.T) {
	var c survival.Curve
	for i := range 19 {
		c.Observe(10+float64(i)/100, true)
	}
	for range 20 {
		c.Observe(30, false)
	}
	c.Fit()
	assert.InDelta(t, 15, survival.Residual{Curve: &c, Age: 30}.Mean(), 1e-12)
	assert.InDelta(t, 1-1./8, survival.Residual{Curve: &c, Age: 30}.CDF(30), 1e-12)
	for range 2 {
		c.Observe(11, true)
	}
	c.Fit()
	assert.Greater(t, survival.Residual{Curve: &c, Age: 30}.Mean(), 29.)
}

// The quantiles of the tail are where its probabilities are, for shares of all sizes; of none it is beyond all numbers.
func TestTailQuantiles(t *testing.T) {
	for _, age := range []float64{25, 28, 33, 50, 1e6} {
		c := evenly(38, 2, age)
		left := survival.Residual{Curve: c, Age: age}
		before := 0.0
		for _, share := range []float64{0.999, 0.9, 0.5, 0.1, 1e-3, 1e-6, 1e-9} {
			x := left.Quantile(1 - share)
			require.Greater(t, x, before)
			require.InEpsilon(t, 1-(1-share), 1-left.CDF(x), 1e-6, "%v of %v", share, age)
			before = x
		}
		assert.Zero(t, left.Quantile(0))
	}
}

// By its age alone, an outlier is expected to run for four times as long again among tasks that are silent, and for as long
// again among others. Of a curve that has become silent that holds from its next Fit on, and a snapshot keeps it.
func TestSilentOutliers(t *testing.T) {
	c := evenly(38, 2, 1e6)
	assert.InEpsilon(t, 1e6, survival.Residual{Curve: c, Age: 1e6}.Mean(), 1e-9)
	c.Silent = true
	assert.InEpsilon(t, 1e6, survival.Residual{Curve: c, Age: 1e6}.Mean(), 1e-9)
	c.Fit()
	left := survival.Residual{Curve: c, Age: 1e6}
	assert.InEpsilon(t, 4e6, left.Mean(), 1e-9)
	for _, share := range []float64{0.999, 0.9, 0.5, 0.1, 1e-3, 1e-6} {
		assert.InEpsilon(t, math.Pow(share, -1/survival.SilentIndex)*1e6-1e6, left.Quantile(1-share), 1e-9, "%v", share)
		assert.InEpsilon(t, share, 1-left.CDF(left.Quantile(1-share)), 1e-9, "%v", share)
	}
	data, err := c.AppendBinary(nil)
	require.NoError(t, err)
	var restored survival.Curve
	require.NoError(t, restored.UnmarshalBinary(data))
	assert.Equal(t, left.Mean(), survival.Residual{Curve: &restored, Age: 1e6}.Mean())
}

// A time that is beyond all others by more than a float64 tells makes no NaN.
func TestTailFarOut(t *testing.T) {
	for _, age := range []float64{1e-300, 1e150, 1e200, 1e300} {
		c := evenly(38, 2, age)
		for _, at := range []float64{age, 1e305} {
			left := survival.Residual{Curve: c, Age: at}
			for _, v := range []float64{left.Mean(), left.CDF(1e307), left.Quantile(0.5), survival.Without{Curve: c, Age: at}.Mean()} {
				assert.GreaterOrEqual(t, v, 0., "%v at %v", age, at) // so it is no NaN
			}
		}
	}
}

// A share of what is beyond the longest is beyond its quantile, however small it is, of narrow bodies and of wide ones.
func TestTailQuantile(t *testing.T) {
	for _, wide := range []float64{0.2, 1, 3, 9} {
		var c survival.Curve
		for i := range 40 {
			c.Observe(10+wide*float64(i)/40, true)
		}
		c.Observe(10+wide, false)
		c.Fit()
		left := survival.Residual{Curve: &c, Age: 10 + wide}
		for share := 0.999; share > 1e-6; share *= 0.97 {
			assert.InEpsilon(t, share, 1-left.CDF(left.Quantile(1-share)), 1e-9+1e-15/share, "%v %v", wide, share)
		}
	}
}
