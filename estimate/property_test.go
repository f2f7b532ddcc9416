package estimate

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"gonum.org/v1/gonum/stat/distuv"
)

// A gonum distribution gives NaN below zero and panics beyond [0, 1]. Neither must reach a decision.
func TestForeignDistributionsNeverGiveNaNOrPanic(t *testing.T) {
	fresh := Fresh{UnitTime: distuv.LogNormal{Mu: 1, Sigma: 1}, Work: 2, Lag: 10 * time.Second}
	rates, _ := NewUnitTimes(UnitTimesConfig{Prior: fresh.UnitTime})
	for _, x := range []float64{5, 10, -1, math.Inf(-1), math.NaN()} {
		assert.Zero(t, fresh.Below(x), "Below(%v)", x)
		assert.Zero(t, fresh.CDF(x), "CDF(%v)", x)
		assert.Zero(t, rates.CDF(min(x-10, 0)))
		assert.Zero(t, rates.Below(min(x-10, 0)))
	}
	assert.Equal(t, 1.0, fresh.Below(math.Inf(1)))
	for _, p := range []float64{-1, 0, math.NaN(), math.Inf(-1)} {
		assert.Equal(t, 10.0, fresh.Quantile(p), "%v", p)
		assert.Zero(t, rates.Quantile(p), "%v", p)
	}
	assert.True(t, math.IsInf(fresh.Quantile(2), 1))
	assert.True(t, math.IsInf(rates.Quantile(2), 1))
	undefined := Fresh{UnitTime: distuv.Normal{Mu: math.NaN(), Sigma: 1}, Work: 1}
	assert.Equal(t, Unknown, undefined.Expected())
	assert.True(t, math.IsInf(undefined.Quantile(.5), 1))
	assert.Zero(t, undefined.Below(1))
	nested := Fresh{UnitTime: fresh, Work: 1, Lag: time.Second} // a Fresh is a Distribution too
	assert.Equal(t, fresh.Below(20), nested.Below(21))
}

func TestFreshOfInvalidFactsIsUnknown(t *testing.T) {
	rate := distuv.Uniform{Min: 1, Max: 3}
	for _, f := range []Fresh{
		{}, {UnitTime: rate}, {Work: 1}, {UnitTime: rate, Work: -1}, {UnitTime: rate, Work: math.NaN()}, {UnitTime: rate, Work: math.Inf(1)},
		{UnitTime: rate, Work: 1, Location: math.NaN()}, {UnitTime: rate, Work: 1, Location: -1}, {UnitTime: rate, Work: 1e300, Location: 1e300},
		{UnitTime: rate, Work: -1, Location: -1}, {UnitTime: rate, Work: 5e-324, Location: .1}, {UnitTime: new(Empirical), Work: 1},
	} {
		assert.Equal(t, Unknown, f.Expected(), "%+v", f)
		assert.Zero(t, f.Below(math.Inf(1)), "%+v", f)
		assert.Zero(t, f.CDF(1e300), "%+v", f)
		assert.True(t, math.IsInf(f.Mean(), 1) && math.IsInf(f.Quantile(.5), 1), "%+v", f)
	}
	assert.Equal(t, time.Duration(math.MaxInt64), Fresh{UnitTime: rate, Work: 1e12}.Expected(), "saturates")
	assert.Equal(t, 2*time.Second, Fresh{UnitTime: rate, Work: 1, Lag: -time.Hour}.Expected(), "a negative lag counts as 0")
}

func TestTimeLeftOfInvalidFactsIsUnknown(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, score := range []float64{-1, nan, math.Inf(-1)} {
		assert.Equal(t, Unknown, TimeLeft(score, time.Second))
		assert.Equal(t, Unknown, TimeLeftBySubphase([]Subphase{{Weight: 1, Score: score, Age: 1}}))
		assert.Equal(t, Unknown, TimeLeftBySubphase([]Subphase{{Weight: score, Score: 0, Age: 1}}))
	}
	assert.Equal(t, Unknown, TimeLeft(.5, -1))
	assert.Zero(t, TimeLeft(inf, time.Second))
	assert.Equal(t, time.Duration(math.MaxInt64), TimeLeft(5e-324, time.Second))
	assert.Equal(t, Unknown, TimeLeftBySubphase(nil))
	assert.Equal(t, Unknown, TimeLeftBySubphase([]Subphase{{Weight: inf}}))
	assert.Equal(t, Unknown, TimeLeftBySubphase([]Subphase{{Weight: 1, Score: .5, Age: -1}}))
	assert.Equal(t, Unknown, TimeLeftBySubphase([]Subphase{{Weight: 1}}), "there is no rate")
	assert.Equal(t, Unknown, TimeLeftBySubphase([]Subphase{{Weight: 1, PeerRate: nan}, {Weight: 1, PeerRate: inf}}))
	assert.Equal(t, time.Duration(math.MaxInt64), TimeLeftBySubphase([]Subphase{{Weight: 1, Age: 1}}), "the task has begun and shows no progress")
	assert.Zero(t, TimeLeftBySubphase([]Subphase{{Weight: 1, Score: inf, Age: 1}}))
	// For the second subphase the rate of other tasks is not known. So the task's own rate is used, 1/2 in 10 s.
	assert.Equal(t, 10*time.Second, TimeLeftBySubphase([]Subphase{{Weight: .5, Score: .5, Age: 10 * time.Second}, {Weight: .5}}))
}

// The estimate of a task that enters a subphase does not jump to infinity, and a task that hangs in it is noticed.
func TestASubphaseJustEnteredUsesThePeersRate(t *testing.T) {
	parts := []Subphase{{Weight: .5, Score: .5, Age: 10 * time.Second}, {Weight: .5, PeerRate: .01}}
	for _, c := range []struct{ age, want time.Duration }{
		{0, 50 * time.Second}, {1, 50 * time.Second}, {50 * time.Second, 50 * time.Second}, {2 * time.Minute, 2 * time.Minute},
	} {
		parts[1].Age = c.age
		assert.Equal(t, c.want, TimeLeftBySubphase(parts), "in the subphase for %v", c.age)
	}
	parts[1].PeerRate = 0
	assert.Equal(t, 2*time.Minute+10*time.Second, TimeLeftBySubphase(parts), "the subphase uses the task's own mean rate, half in 130 s")
}
