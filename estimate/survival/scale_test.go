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

// A task of k times the work has k times as long left at k times the age.
func TestResidualScales(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		var c survival.Curve
		history(r).curve(&c)
		age, k := 15*r.Float64(), []float64{0.25, 2, 8}[r.IntN(3)] // powers of two: exact
		one, of := survival.Residual{Curve: &c, Age: age}, survival.Residual{Curve: &c, Age: age * k, Scale: k}
		require.Equal(t, one.Mean()*k, of.Mean())
		for range 10 {
			p, x := r.Float64(), float64(r.IntN(30))/2
			require.Equal(t, one.Quantile(p)*k, of.Quantile(p))
			require.Equal(t, one.CDF(x), of.CDF(x*k))
			require.Equal(t, one.Below(x), of.Below(x*k))
		}
	}
}

// So has a copy whose prediction is k times as long.
func TestOutlookScales(t *testing.T) {
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
		p.AtStage = p.Total * r.Float64()
		q := p
		q.Age, q.Total, q.AtStage, q.Scale = 4*p.Age, 4*p.Total, 4*p.AtStage, 4
		var one, of survival.Outlook
		require.Equal(t, s.Outlook(&one, p, &c), s.Outlook(&of, q, &c))
		if !math.IsInf(one.Mean(), 1) {
			require.Equal(t, one.Mean()*4, of.Mean())
		}
	}
}

// A trail notes when each twelfth was passed: between two reports progress is even.
func TestTrailBetweenReports(t *testing.T) {
	var trail survival.Trail
	trail.Report(10*time.Second, 0)
	assert.Equal(t, 0, trail.Passed())
	trail.Report(24*time.Second, 2./12)
	assert.Equal(t, 2, trail.Passed(), "the end of a part is passed")
	assert.InDelta(t, 2./12, trail.Done(), 1e-7)
	trail.Report(20*time.Second, 0.5)
	assert.Equal(t, 2, trail.Passed(), "a report of an earlier age")
	trail.Report(24*time.Second, 0.3)
	assert.Equal(t, 3, trail.Passed(), "one of the same age tells more")
	trail.Report(30*time.Second, 0.3)
	trail.Report(40*time.Second, 9)
	assert.Equal(t, 12, trail.Passed())
	assert.Equal(t, 1., trail.Done())
}
