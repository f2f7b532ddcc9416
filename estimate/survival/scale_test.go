package survival_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
)

// A task with k times the work, at k times the age, has k times the remaining time.
func TestResidualScalesWithTheWork(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		var c survival.Curve
		history(r).curve(&c)
		age, k := 15*r.Float64(), []float64{0.25, 2, 8}[r.IntN(3)] // powers of two make the products exact
		task, scaled := survival.Residual{Curve: &c, Age: age}, survival.Residual{Curve: &c, Age: age * k, Scale: k}
		require.Equal(t, task.Mean()*k, scaled.Mean())
		for range 10 {
			p, x := r.Float64(), float64(r.IntN(30))/2
			require.Equal(t, task.Quantile(p)*k, scaled.Quantile(p))
			require.Equal(t, task.CDF(x), scaled.CDF(x*k))
			require.Equal(t, task.Below(x), scaled.Below(x*k))
		}
	}
}

// An attempt with k times the predicted time, at k times the age, has k times the remaining time.
func TestOutlookScalesWithTheWork(t *testing.T) {
	s := new(survival.Shape)
	var c survival.Curve
	for i := range 30 {
		run(s, time.Duration(80+i)*time.Second, func(u float64) float64 { return math.Pow(u, 0.5+float64(i)/30) })
		c.Observe(float64(80+i), i%5 > 0)
	}
	c.Fit()
	r := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		p := survival.Prediction{Age: 150 * r.Float64(), Total: 200 * r.Float64(), Stage: 1 + r.IntN(12)}
		p.TotalAtStage = p.Total * r.Float64()
		q := p
		q.Age, q.Total, q.TotalAtStage, q.Scale = 4*p.Age, 4*p.Total, 4*p.TotalAtStage, 4
		var outlook, scaled survival.Outlook
		require.Equal(t, s.Outlook(&outlook, p, &c), s.Outlook(&scaled, q, &c))
		if !math.IsInf(outlook.Mean(), 1) {
			require.Equal(t, outlook.Mean()*4, scaled.Mean())
		}
	}
}

// A trail records the age at which each twelfth of the work was done. Between two reports the progress is taken to be
// even.
func TestProgressIsEvenBetweenTwoReports(t *testing.T) {
	var trail survival.Trail
	trail.Report(10*time.Second, 0)
	assert.Equal(t, 0, trail.Passed())
	assert.Equal(t, math.Inf(1), trail.Total(), "without progress the total is not known")
	trail.Report(24*time.Second, 2./12)
	assert.Equal(t, 2, trail.Passed(), "a part is passed at its very end")
	assert.InDelta(t, 2./12, trail.Done(), 1e-7)
	trail.Report(20*time.Second, 0.5)
	assert.Equal(t, 2, trail.Passed(), "a report with a smaller age is ignored")
	trail.Report(24*time.Second, 0.3)
	assert.Equal(t, 3, trail.Passed(), "a report with the same age and a larger share counts")
	trail.Report(30*time.Second, 0.3)
	assert.Equal(t, 24., trail.Advanced(), "a report without progress is ignored")
	trail.Report(40*time.Second, 9)
	assert.Equal(t, 12, trail.Passed())
	assert.Equal(t, 1., trail.Done())
}

// A report that is a little off makes one part seem twice as long as the next part. The predicted total is then off
// by no more than the report. An attempt that stalls moves its total by far more.
func TestANoisyReportIsEvenAndAStallIsNot(t *testing.T) {
	trail := func(ages ...float64) (t survival.Trail) { // the ages at the end of each part, in seconds
		t.Report(0, 0)
		for i, age := range ages {
			t.Report(time.Duration(age*float64(time.Second)), float64(i+1)/survival.Parts+1e-6)
		}
		return t
	}
	exact, noisy := trail(10, 20, 30, 40, 50, 60), trail(11, 18, 33, 36, 55, 54.9)
	stalls, late := trail(10, 20, 30, 80, 90, 100), trail(10, 20, 30, 40, 50, 60, 200)
	assert.True(t, exact.Even(survival.Parts))
	assert.True(t, noisy.Even(survival.Parts), "the first parts seem to take 11, 7 and 15 s")
	assert.False(t, stalls.Even(survival.Parts))
	assert.True(t, stalls.Even(3), "the first three parts lie before the stall")
	assert.True(t, late.Even(6))
	assert.False(t, late.Even(7))
	assert.True(t, stalls.Even(-1))
	fresh := trail(10)
	assert.True(t, fresh.Even(survival.Parts))
	bound := trail(10, 26)
	assert.True(t, bound.Even(2), "totals that differ by a factor of 1.3 are even")
	above := trail(10, 26.3)
	assert.False(t, above.Even(2))
}

// The factor 1.3 separates even attempts from uneven attempts, at the end of six parts of 12. Of the even attempts,
// 85 % are recognized as even, although their reports are wrong by a log-normal factor (σ is .3 for each attempt and
// .1 for each report). If the parts of an attempt take log-normal times (σ is .5), 20 to 37 % of the attempts are
// taken for even: with fewer reports, more of them are. With -v the test prints the shares.
func TestEvenShares(t *testing.T) {
	const attempts, half = 4000, survival.Parts / 2
	for _, every := range []float64{2, 5, 10} { // seconds between reports; an even attempt takes 100 s
		rng := rand.New(rand.NewPCG(1, 2))
		lognormal := func(sigma float64) float64 { return math.Exp(sigma * rng.NormFloat64()) }
		even := func(parts, attempt, report float64) (share float64) {
			for range attempts {
				var edges [survival.Parts + 1]float64
				for k := range survival.Parts {
					edges[k+1] = edges[k] + 100./survival.Parts*lognormal(parts)
				}
				own, trail := lognormal(attempt), survival.Trail{}
				for now := every; trail.Passed() < half; now += every {
					k := 0
					for k < survival.Parts && edges[k+1] <= now {
						k++
					}
					done := float64(k)
					if k < survival.Parts {
						done += (now - edges[k]) / (edges[k+1] - edges[k])
						done *= own * lognormal(report)
					}
					trail.Report(time.Duration(now*1e9), done/survival.Parts)
				}
				if trail.Even(half) {
					share += 1. / attempts
				}
			}
			return share
		}
		steady, uneven := even(0, .3, .1), even(.5, 0, 0)
		t.Logf("with a report each %2v s, %.3f of the steady attempts pass, and %.3f of the uneven attempts", every, steady, uneven)
		assert.InDelta(t, .86, steady, .025)
		assert.InDelta(t, .28, uneven, .1)
	}
}
