package survival_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
)

// evenly returns a curve of ended tasks that took 15 to 25 s, evenly spread, and of running tasks of the given age.
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

// A task that is hardly older than the ended tasks belongs to the body, and its remaining time is as short as their
// times spread. A task that is much older is expected to need as long again as it has run.
func TestAnOlderTaskIsMoreProbablyAnOutlier(t *testing.T) {
	for _, running := range []int{1, 2, 4} {
		before := 0.0
		for _, age := range []float64{25, 30, 35, 40, 60, 160} {
			c := evenly(40-running, running, age)
			left := survival.Residual{Curve: c, Age: age}
			assert.Greater(t, left.Mean()/age, before, "the remaining time falls, in ages, with %d running tasks at age %v", running, age)
			before = left.Mean() / age
		}
		young, old := survival.Residual{Curve: evenly(40-running, running, 25), Age: 25}, survival.Residual{Curve: evenly(40-running, running, 40), Age: 40}
		assert.Less(t, young.Mean(), 0.45*25, "a task of the body needs less than half of its age")
		assert.Greater(t, old.Mean(), 0.8*40)
		assert.Less(t, before, 1.)
	}
}

// Tasks of widely spread times have few outliers: 1.5 medians are within their quartiles.
func TestWideBodyHasNoOutliers(t *testing.T) {
	var c survival.Curve
	for i := range 30 {
		c.Observe(float64(1+i), true)
	}
	c.Observe(31, false)
	c.Fit()
	assert.InDelta(t, 15.5, survival.Residual{Curve: &c, Age: 31}.Mean(), 5)
}

// Before half of the tasks have ended, nothing is known of the body. The tail has the index TailIndex, whatever has
// ended.
func TestBeforeHalfHaveEndedTheTailHasTailIndex(t *testing.T) {
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

// The quantiles of the tail agree with its probabilities, for large and small shares.
func TestTailQuantilesAgreeWithItsProbabilities(t *testing.T) {
	for _, age := range []float64{25, 28, 33, 50, 1e6} {
		c := evenly(38, 2, age)
		left := survival.Residual{Curve: c, Age: age}
		before := 0.0
		for _, share := range []float64{0.999, 0.9, 0.5, 0.1, 1e-3, 1e-6, 1e-9} {
			x := left.Quantile(1 - share)
			require.Greater(t, x, before)
			require.InEpsilon(t, 1-(1-share), 1-left.CDF(x), 1e-6, "share %v at age %v", share, age)
			before = x
		}
		assert.Zero(t, left.Quantile(0))
	}
}

// An outlier among silent tasks is expected to run for four times as long again, and another outlier for as long
// again. A change of Silent has an effect from the next Fit on, and a snapshot keeps it.
func TestSilentOutliersNeedFourTimesTheirAge(t *testing.T) {
	c := evenly(38, 2, 1e6)
	assert.InEpsilon(t, 1e6, survival.Residual{Curve: c, Age: 1e6}.Mean(), 1e-9)
	c.Silent = true
	assert.InEpsilon(t, 1e6, survival.Residual{Curve: c, Age: 1e6}.Mean(), 1e-9)
	c.Fit()
	left := survival.Residual{Curve: c, Age: 1e6}
	assert.InEpsilon(t, 4e6, left.Mean(), 1e-9)
	for _, share := range []float64{0.999, 0.9, 0.5, 0.1, 1e-3, 1e-6} {
		assert.InEpsilon(t, math.Pow(share, -1/survival.SilentIndex)*1e6-1e6, left.Quantile(1-share), 1e-9, "share %v", share)
		assert.InEpsilon(t, share, 1-left.CDF(left.Quantile(1-share)), 1e-9, "share %v", share)
	}
	data, err := c.AppendBinary(nil)
	require.NoError(t, err)
	var restored survival.Curve
	require.NoError(t, restored.UnmarshalBinary(data))
	assert.Equal(t, left.Mean(), survival.Residual{Curve: &restored, Age: 1e6}.Mean())
}

// Times from the least float to the longest that a curve accepts make no NaN, and no number below 0, at any age.
func TestHugeTimesMakeNoNaN(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 307))
	ages := []float64{0, 5e-324, 1, 1e150, 1e305, math.MaxFloat64, math.Inf(1)}
	for range 2000 {
		var c survival.Curve
		c.Silent = rng.IntN(2) == 0
		few := math.Pow(10, 342*rng.Float64()-324)
		for range rng.IntN(60) {
			x := few * (1 + rng.Float64()*float64(rng.IntN(3)))
			if rng.IntN(4) == 0 {
				x = math.Pow(10, 342*rng.Float64()-324)
			}
			c.Observe(min(x, estimate.MaxSample), rng.IntN(4) > 0)
		}
		c.Fit()
		for _, age := range append(ages, c.Longest()*rng.Float64(), c.Longest()) {
			p, scale := rng.Float64(), math.Pow(10, 632*rng.Float64()-324)
			if rng.IntN(3) == 0 {
				scale = math.Inf(1)
			}
			for _, d := range []estimate.Distribution{
				&c, survival.Residual{Curve: &c, Age: age}, survival.Residual{Curve: &c, Age: age, Scale: scale}, survival.Without{Curve: &c, Age: age},
			} {
				for _, v := range []float64{
					d.Mean(), d.CDF(c.Longest() * p), d.CDF(math.MaxFloat64), d.CDF(math.Inf(1)), d.Quantile(p), d.Quantile(1),
				} {
					if !(v >= 0) { // or a NaN
						require.GreaterOrEqual(t, v, 0., "%#v, age %v, longest %v", d, age, c.Longest())
					}
				}
			}
		}
	}
}

// An age up to the longest time that a curve accepts has an answer, and what is beyond has none.
func TestAgesHaveTheBoundOfTimes(t *testing.T) {
	c := evenly(38, 2, 30)
	beyond := math.Nextafter(estimate.MaxSample, math.Inf(1))
	for age, known := range map[float64]bool{0: true, 30: true, estimate.MaxSample: true, beyond: false, math.Inf(1): false, -1: false} {
		for _, d := range []estimate.Distribution{
			survival.Residual{Curve: c, Age: age}, survival.Without{Curve: c, Age: age}, survival.Residual{Curve: c, Age: 2 * age, Scale: 2},
		} {
			assert.Equal(t, known, d.Mean() < math.MaxFloat64, "%#v", d)
			assert.Equal(t, known, d.CDF(math.MaxFloat64) > 0, "%#v", d)
			assert.Equal(t, known, d.Quantile(0.5) < math.MaxFloat64, "%#v", d)
		}
	}
	for scale, known := range map[float64]bool{0: true, math.MaxFloat64 / 1e3: true, math.Inf(1): false, -1: false} {
		d := survival.Residual{Curve: c, Age: 10, Scale: scale}
		assert.Equal(t, known, d.Quantile(0.5) < math.Inf(1), "scale %v", scale)
	}
}

// The quantile of a share is the time that this share exceeds, for small shares too, and for narrow and wide bodies.
func TestTailQuantilesAreExactForNarrowAndWideBodies(t *testing.T) {
	for _, wide := range []float64{0.2, 1, 3, 9} {
		var c survival.Curve
		for i := range 40 {
			c.Observe(10+wide*float64(i)/40, true)
		}
		c.Observe(10+wide, false)
		c.Fit()
		left := survival.Residual{Curve: &c, Age: 10 + wide}
		for share := 0.999; share > 1e-6; share *= 0.97 {
			assert.InEpsilon(t, share, 1-left.CDF(left.Quantile(1-share)), 1e-9+1e-15/share, "a body %v wide, share %v", wide, share)
		}
	}
}
