package hedge_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/hedge"
)

// quantiles returns the curve of n quantiles in the middle of n equal parts, by bisection of a CDF, to a millionth. The
// search for a quantile begins at the quantile before it, with twice the step to it.
func quantiles(n int, cdf func(x float64) float64) *survival.Curve {
	var c survival.Curve
	last, step := 0.0, 1.0
	for i := range n {
		p, low, high := (float64(i)+0.5)/float64(n), last, last+step
		for ; cdf(high) < p; high += step {
			low, step = high, 2*step
		}
		for high-low > 1e-6*high {
			if mid := (low + high) / 2; cdf(mid) < p {
				low = mid
			} else {
				high = mid
			}
		}
		c.Observe(high, true)
		last, step = high, 2*(high-last)
	}
	c.Fit()
	return &c
}

// lognormal is the CDF of lognormal times with the given mean and standard deviation.
func lognormal(x, mean, sd float64) float64 {
	v := math.Log(1 + sd*sd/mean/mean)
	return math.Erfc(-(math.Log(x)-math.Log(mean)+v/2)/math.Sqrt(2*v)) / 2
}

// mixed is the CDF of lognormal times of 5 ms and a standard deviation of 2 ms, of which 5 % are ten times longer.
func mixed(x float64) float64 { return 0.95*lognormal(x, 5, 2) + 0.05*lognormal(x/10, 5, 2) }

// On lognormal times of 5 +- 2 ms with 5 % ten times longer, a p99 of 17.0 ms needs 7.0 % of second requests, and a
// p99.9 of 59.4 ms needs 2.15 %. The best plans with these budgets are the same.
func TestLoadOfATarget(t *testing.T) {
	t.Parallel()
	c := quantiles(40_000, mixed)
	for _, of := range []struct{ k, time, load float64 }{{0.99, 17.0, 0.070}, {0.999, 59.4, 0.0215}} {
		least, err := hedge.Problem{First: c, Percentile: of.k, Budget: 1}.Least(of.time)
		require.NoError(t, err)
		assert.InDelta(t, of.load, least.Load, 0.0006, "%v", least)
		best, err := hedge.Problem{First: c, Percentile: of.k, Budget: least.Load}.Best()
		require.NoError(t, err)
		t.Logf("a p%g of %.1f ms needs %.2f %% of second requests", 100*of.k, best.Time, 100*least.Load)
		assert.InEpsilon(t, of.time, best.Time, 0.002, "%v", best)
		assert.Greater(t, best.Alone, 1.2*best.Time)
	}
}

// The plan for a percentile agrees with the formula of one second request, and no delay of a fine grid is better.
func TestPlanFollowsTheFormula(t *testing.T) {
	c := quantiles(20_000, mixed)
	best, err := hedge.Problem{First: c, Percentile: 0.99, Budget: 0.05}.Best()
	require.NoError(t, err)
	within := func(d, t float64) float64 {
		q := min(1, 0.05/(1-mixed(d)))
		return mixed(t) + q*(1-mixed(t))*mixed(max(t-d, 1e-9))
	}
	assert.InDelta(t, 0.99, within(best.Delay, best.Time), 0.0002)
	assert.InDelta(t, best.Load, best.Probability*(1-mixed(best.Delay)), 0.0002)
	for d := 0.05; d < 30; d += 0.05 {
		assert.Less(t, within(d, best.Time), 0.9903, "delay %v", d)
	}
}

// Exponential times: a second request at once halves the time, so the percentile k is -log(1-k)/2.
func TestTwoAtOnce(t *testing.T) {
	c := quantiles(20_000, func(x float64) float64 { return 1 - math.Exp(-x) })
	best, err := hedge.Problem{First: c, Percentile: 0.9, Budget: 1}.Best()
	require.NoError(t, err)
	assert.InEpsilon(t, -math.Log(0.1)/2, best.Time, 0.001)
	assert.InDelta(t, 0, best.Delay, 0.001)
}

// Where every time is the same, or where the two times of a pair are the same, nothing helps.
func TestNothingHelps(t *testing.T) {
	pairs, times := []hedge.Pair{}, survival.Curve{}
	for i := range 100 {
		pairs = append(pairs, hedge.Pair{First: float64(i), Second: float64(i)})
		times.Observe(3, true)
	}
	times.Fit()
	for _, p := range []hedge.Problem{
		{Pairs: pairs, Percentile: 0.9, Budget: 0.5},
		{First: &times, Percentile: 0.9, Budget: 1},
	} {
		best, err := p.Best()
		require.NoError(t, err)
		assert.False(t, best.Send, "%v", best)
		assert.Equal(t, best.Alone, best.Time)
		assert.Zero(t, best.Load)
	}
}

// An erasure code of 10 data and 4 parity blocks waits for 10 of 14. The p99 falls with the parity blocks that may be
// asked for.
func TestAnyTenOfFourteen(t *testing.T) {
	c := quantiles(1000, mixed)
	last := 0.0
	for extra := range 4 {
		p := hedge.Problem{First: c, Percentile: 0.99, Budget: 0.4, Need: 10, Of: 10, Extra: extra + 1}
		p.Budget = min(p.Budget, float64(p.Extra)/10)
		best, err := p.Best()
		require.NoError(t, err)
		assert.True(t, best.Send)
		if extra > 0 {
			assert.LessOrEqual(t, best.Time, last)
		}
		last = best.Time
	}
	assert.Less(t, last, 15.0, "four parity blocks outlast the slow answers")
}

// A fan-out of n needs the n-th root of the percentile.
func TestFanout(t *testing.T) {
	c := quantiles(10_000, mixed)
	many, err := hedge.Problem{First: c, Percentile: 0.99, Budget: 0.05, Fanout: 10}.Best()
	require.NoError(t, err)
	one, err := hedge.Problem{First: c, Percentile: math.Pow(0.99, 0.1), Budget: 0.05}.Best()
	require.NoError(t, err)
	assert.Equal(t, one.Time, many.Time)
	assert.InDelta(t, one.Load, many.Load, 1e-9)
}

func TestProblemRefusesWhatCannotBePlanned(t *testing.T) {
	c := quantiles(10, mixed)
	for want, p := range map[string]hedge.Problem{
		"Problem.Percentile is 0, want a probability in (0, 1)":     {First: c},
		"Problem.Percentile is NaN, want a probability in (0, 1)":   {First: c, Percentile: math.NaN()},
		`Problem.First is "nil", want a curve, or Pairs`:            {Percentile: 0.5},
		`Problem.First is "a curve", want nil beside Pairs`:         {Percentile: 0.5, First: c, Pairs: []hedge.Pair{{}}},
		"Problem.Of is 2, want at most 1 beside Pairs":              {Percentile: 0.5, Of: 2, Pairs: []hedge.Pair{{}}},
		"Problem.Pairs[1] is {0 NaN}, want times of at least 0":     {Percentile: 0.5, Pairs: []hedge.Pair{{}, {Second: math.NaN()}}},
		"Problem.Budget is 1.5, want 0 to 1":                        {Percentile: 0.5, First: c, Budget: 1.5},
		"Problem.Budget is NaN, want 0 to 1":                        {Percentile: 0.5, First: c, Budget: math.NaN()},
		"Problem.Fanout is -1, want 1 to 2147483647":                {Percentile: 0.5, First: c, Fanout: -1},
		"Problem.Need is 3, want 1 to 2":                            {Percentile: 0.5, First: c, Need: 3, Of: 2},
		"Problem.Of is 1025, want 1 to 1024":                        {Percentile: 0.5, First: c, Of: 1025},
		"Problem.Extra is -1, want 1 to 1024, or 0 for the default": {Percentile: 0.5, First: c, Extra: -1},
	} {
		_, err := p.Best()
		assert.ErrorContains(t, err, want)
		_, err = p.Least(1)
		assert.ErrorContains(t, err, want)
	}
	_, err := hedge.Problem{First: c, Percentile: 0.5}.Least(math.NaN())
	assert.ErrorContains(t, err, "time is NaN, want at least 0")
	_, err = hedge.NewGrace(nil, 1)
	assert.EqualError(t, err, `restart/hedge: gaps is "nil", want a curve`)
	_, err = hedge.NewGrace(c, math.Inf(1))
	assert.ErrorContains(t, err, "worth is +Inf, want a finite number of at least 0")
}

// A wait of w is worth P(G <= w) worth - E(min(G, w)): no other wait of a fine grid is better.
func TestGraceIsBest(t *testing.T) {
	const worth = 10.0
	c := quantiles(5000, func(x float64) float64 { return 0.99*(1-math.Exp(-x)) + 0.01*lognormal(x, 80, 5) })
	g, err := hedge.NewGrace(c, worth)
	require.NoError(t, err)
	value := func(w float64) float64 {
		area := 0.0
		for x := 0.0; x < w; x += 0.001 {
			area += 0.001 * c.Above(x)
		}
		return worth*c.CDF(w) - area
	}
	best := value(g.Wait)
	for w := 0.0; w < 100; w += 0.5 {
		assert.LessOrEqual(t, value(w), best+0.02, "wait %v", w)
	}
	assert.InDelta(t, 0.989, g.Comes, 0.002)
	assert.InDelta(t, best, worth*g.Comes-g.Costs, 0.01)
	assert.Less(t, g.Wait, 12.0)
}

// Too little is known of fewer than 100 gaps, and of gaps that were all given up. A gap longer than all before may
// come.
func TestGraceWithLittleKnown(t *testing.T) {
	var c survival.Curve
	for i := range 100 {
		g, err := hedge.NewGrace(&c, 1e9)
		require.NoError(t, err)
		assert.Equal(t, math.Inf(1), g.Wait, "%d gaps", i)
		c.Observe(float64(i), true)
		c.Fit()
	}
	g, _ := hedge.NewGrace(&c, 1e9)
	assert.Equal(t, []float64{198, 1}, []float64{g.Wait, g.Comes})
	assert.InDelta(t, 49.5, g.Costs, 1e-9)
	g, _ = hedge.NewGrace(&c, 0)
	assert.Equal(t, hedge.Grace{Comes: 0}, g)
	for range 10 {
		c.Observe(99.5, false) // the host gave up, so a longer gap is possible
	}
	c.Fit()
	g, _ = hedge.NewGrace(&c, 1e9)
	assert.Equal(t, math.Inf(1), g.Wait, "a last gap of 99 is worth it, and no longer one is known")
	c.Reset()
	for range 1000 {
		c.Observe(0, false)
	}
	c.Fit()
	g, _ = hedge.NewGrace(&c, 5)
	assert.Equal(t, math.Inf(1), g.Wait)
	assert.NotContains(t, fmt.Sprint(g), "NaN")
}
