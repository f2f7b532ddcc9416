package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

// A gonum distribution as the rate gives NaN below zero and panics beyond [0, 1]; neither must reach a decision.
func TestForeignDistributions(t *testing.T) {
	fresh := Fresh{Rate: distuv.LogNormal{Mu: 1, Sigma: 1}, Work: 2, Lag: 10 * time.Second}
	rates, _ := NewRates(RatesConfig{Prior: fresh.Rate})
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
	undefined := Fresh{Rate: distuv.Normal{Mu: math.NaN(), Sigma: 1}, Work: 1}
	assert.Equal(t, Unknown, undefined.Expected())
	assert.True(t, math.IsInf(undefined.Quantile(.5), 1))
	assert.Zero(t, undefined.Below(1))
	nested := Fresh{Rate: fresh, Work: 1, Lag: time.Second} // a Fresh is a Distribution too
	assert.Equal(t, fresh.Below(20), nested.Below(21))
}

func TestFreshUnknown(t *testing.T) {
	rate := distuv.Uniform{Min: 1, Max: 3}
	for _, f := range []Fresh{
		{}, {Rate: rate}, {Work: 1}, {Rate: rate, Work: -1}, {Rate: rate, Work: math.NaN()}, {Rate: rate, Work: math.Inf(1)},
		{Rate: rate, Work: 1, Location: math.NaN()}, {Rate: rate, Work: 1, Location: -1}, {Rate: rate, Work: 1e300, Location: 1e300},
		{Rate: rate, Work: -1, Location: -1}, {Rate: rate, Work: 5e-324, Location: .1}, {Rate: new(Empirical), Work: 1},
	} {
		assert.Equal(t, Unknown, f.Expected(), "%+v", f)
		assert.Zero(t, f.Below(math.Inf(1)), "%+v", f)
		assert.Zero(t, f.CDF(1e300), "%+v", f)
		assert.True(t, math.IsInf(f.Mean(), 1) && math.IsInf(f.Quantile(.5), 1), "%+v", f)
	}
	assert.Equal(t, time.Duration(math.MaxInt64), Fresh{Rate: rate, Work: 1e12}.Expected(), "saturates")
	assert.Equal(t, 2*time.Second, Fresh{Rate: rate, Work: 1, Lag: -time.Hour}.Expected(), "a negative lag is none")
}

// A machine's factor stays within Limit whatever is observed, is 1 for a machine that is as others are, rises with each
// slow task, and forgets.
func TestMachinesBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, c := range []MachinesConfig{{}, {Memory: 1, Trust: 1e-9, Limit: 2}, {Memory: 1e18, Trust: 1e6, Limit: 1}, {Limit: 1e300}} {
		m, err := NewMachines(4, c)
		require.NoError(t, err)
		limit := m.Config().Limit
		for range 3000 {
			machine := r.IntN(4)
			m.Observe(machine, math.Exp(50*r.NormFloat64()))
			f := m.Factor(machine)
			require.True(t, f >= 1/limit*(1-1e-12) && f <= limit*(1+1e-12), "factor %v, limit %v", f, limit)
		}
	}
	m, _ := NewMachines(2, MachinesConfig{})
	before := m.Factor(0)
	for range 100 {
		require.True(t, m.Observe(0, 4))
		require.GreaterOrEqual(t, m.Factor(0), before)
		before = m.Factor(0)
	}
	assert.InDelta(t, (20*4+3)/23., before, .02) // Memory 20 at rest, Trust 3
	for range 200 {
		m.Observe(0, 1)
	}
	assert.InDelta(t, 1, m.Factor(0), 1e-3, "it was mended, and that is seen")
	assert.Equal(t, 1.0, m.Factor(1))
}

func TestMachinesRejects(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []MachinesConfig{
		{Memory: .5}, {Memory: nan}, {Memory: inf}, {Trust: -1}, {Trust: nan}, {Trust: inf}, {Limit: .9}, {Limit: nan}, {Limit: inf},
	} {
		_, err := NewMachines(1, c)
		assert.ErrorContains(t, err, "estimate: ", "%+v", c)
	}
	_, err := NewMachines(-1, MachinesConfig{})
	assert.Error(t, err)
	m, err := NewMachines(1, MachinesConfig{})
	require.NoError(t, err)
	assert.Equal(t, MachinesConfig{Memory: 20, Trust: 3, Limit: 10}, m.Config())
	for _, ratio := range []float64{0, -1, nan, inf} {
		assert.False(t, m.Observe(0, ratio))
	}
	assert.False(t, m.Observe(1, 1) || m.Observe(-1, 1))
	assert.Equal(t, []float64{1, 1, 1}, []float64{m.Factor(-1), m.Factor(0), m.Factor(1)})
}

func TestScoreAndSubphasesReject(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, score := range []float64{-1, nan, math.Inf(-1)} {
		assert.Equal(t, Unknown, Score(score, time.Second))
		assert.Equal(t, Unknown, Subphases([]Subphase{{Share: 1, Score: score, Age: 1}}))
		assert.Equal(t, Unknown, Subphases([]Subphase{{Share: score, Score: 0, Age: 1}}))
	}
	assert.Equal(t, Unknown, Score(.5, -1))
	assert.Zero(t, Score(inf, time.Second))
	assert.Equal(t, time.Duration(math.MaxInt64), Score(5e-324, time.Second))
	assert.Equal(t, Unknown, Subphases(nil))
	assert.Equal(t, Unknown, Subphases([]Subphase{{Share: inf}}))
	assert.Equal(t, Unknown, Subphases([]Subphase{{Share: 1, Score: .5, Age: -1}}))
	assert.Equal(t, Unknown, Subphases([]Subphase{{Share: 1}}), "nothing to go by")
	assert.Equal(t, Unknown, Subphases([]Subphase{{Share: 1, Others: nan}, {Share: 1, Others: inf}}))
	assert.Equal(t, time.Duration(math.MaxInt64), Subphases([]Subphase{{Share: 1, Age: 1}}), "begun, and no progress")
	assert.Zero(t, Subphases([]Subphase{{Share: 1, Score: inf, Age: 1}}))
	// The second subphase has no others: the task's own rate, 1/2 in 10 s.
	assert.Equal(t, 10*time.Second, Subphases([]Subphase{{Share: .5, Score: .5, Age: 10 * time.Second}, {Share: .5}}))
}

// A task that enters a subphase does not jump from an hour to for ever, and one that hangs in it is noticed.
func TestSubphasesJustEntered(t *testing.T) {
	parts := []Subphase{{Share: .5, Score: .5, Age: 10 * time.Second}, {Share: .5, Others: .01}}
	for _, c := range []struct{ age, want time.Duration }{
		{0, 50 * time.Second}, {1, 50 * time.Second}, {50 * time.Second, 50 * time.Second}, {2 * time.Minute, 2 * time.Minute},
	} {
		parts[1].Age = c.age
		assert.Equal(t, c.want, Subphases(parts), "in the subphase for %v", c.age)
	}
	parts[1].Others = 0
	assert.Equal(t, 2*time.Minute+10*time.Second, Subphases(parts), "its own mean rate, half in all its 130 s")
}

func TestMeanRateAgreesWithASum(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 8))
	var m MeanRate
	held := make([]float64, 50)
	for i := range held {
		held[i] = -1
	}
	for range 20000 {
		i := r.IntN(len(held))
		rate := math.Exp(8 * r.NormFloat64())
		switch r.IntN(8) {
		case 0:
			rate = -1
		case 1:
			rate = math.NaN()
		}
		held[i] = m.Replace(held[i], rate)
		require.Equal(t, rate >= 0, held[i] >= 0)
	}
	sum, n := 0.0, 0
	for i := range held[1:] {
		if held[i+1] >= 0 {
			sum, n = sum+held[i+1], n+1
		}
	}
	require.Positive(t, n)
	assert.InEpsilon(t, sum/float64(n), m.Others(held[0]), 1e-12)
	for i := range held {
		held[i] = m.Replace(held[i], -1)
	}
	assert.Zero(t, m.Others(-1))
	assert.Equal(t, -1.0, m.Replace(-1, math.Inf(1)))
	only := m.Replace(-1, 3)
	assert.Zero(t, m.Others(only))
	assert.Equal(t, 3.0, m.Others(-1))
}
