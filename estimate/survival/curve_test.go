package survival_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
)

var (
	_ estimate.Distribution = (*survival.Curve)(nil)
	_ estimate.Distribution = survival.Residual{}
	_ estimate.Distribution = survival.Without{}
)

// entry is a value of a curve, in whole units.
type entry struct {
	x     int64
	ended bool
}

// oracle computes the product limit from its definition, in fractions.
type oracle []entry

func (o oracle) longest() (l int64) {
	for _, e := range o {
		l = max(l, e.x)
	}
	return l
}

// above is P(T > t), or P(T >= t) if strict is true, for t up to L.
func (o oracle) above(t int64, strict bool) *big.Rat {
	s := big.NewRat(1, 1)
	for x := int64(0); x < t || x == t && !strict; x++ {
		o.fall(s, x)
	}
	return s
}

// fall multiplies a probability by the share of the tasks at risk that do not end at x.
func (o oracle) fall(s *big.Rat, x int64) {
	risk, ends := int64(0), int64(0)
	for _, e := range o {
		if e.x >= x {
			risk++
		}
		if e.x == x && e.ended {
			ends++
		}
	}
	if ends > 0 {
		s.Mul(s, big.NewRat(risk-ends, risk))
	}
}

// mass is the area of P(T > t) from a to infinity.
func (o oracle) mass(a int64, silent bool) *big.Rat {
	sum, l, above := new(big.Rat), o.longest(), o.above(a, false)
	for t := a; t < l; t++ {
		sum.Add(sum, above)
		o.fall(above, t+1)
	}
	outlier, index := o.tail()
	body := new(big.Rat).Sub(big.NewRat(1, 1), outlier)
	again := new(big.Rat).SetFloat64(survival.SilentIndex - 1)
	if !silent {
		again.SetInt64(survival.OutlierIndex - 1)
	}
	mean := new(big.Rat).Quo(outlier, again)
	mean.Add(mean, body.Mul(body, big.NewRat(1, index-1)))
	mean.Mul(mean, big.NewRat(l, 1))
	return sum.Add(sum, mean.Mul(mean, above))
}

// left is the first time beyond which no more than the given quarters are left; 0 if there is none up to L.
func (o oracle) left(quarters int64) int64 {
	above, left := big.NewRat(1, 1), big.NewRat(quarters, 4)
	for t := range o.longest() + 1 {
		if o.fall(above, t); above.Cmp(left) <= 0 {
			return t
		}
	}
	return 0
}

// tail is the probability that a task which has run for L is an outlier, and the index of the body.
func (o oracle) tail() (outlier *big.Rat, index int64) {
	l, index := o.longest(), int64(survival.TailIndex)
	lower, median, upper := o.left(3), o.left(2), o.left(1)
	if median == 0 {
		return new(big.Rat), index
	}
	if wider := big.NewRat(upper, median); lower > 0 {
		if below := big.NewRat(median, lower); below.Cmp(wider) > 0 {
			wider = below
		}
		spread := pow(wider, index)
		for index < 32 && spread.Mul(spread, wider).Cmp(big.NewRat(3, 1)) <= 0 {
			index++
		}
	}
	body := pow(big.NewRat(l, median), index)
	body.Mul(big.NewRat(19, 20), body.Inv(body.Add(body, big.NewRat(1, 1))))
	outlier = big.NewRat(1, 20)
	if from := big.NewRat(3*median, 2*l); from.Cmp(big.NewRat(1, 1)) < 0 {
		outlier.Mul(outlier, pow(from, survival.OutlierIndex))
	}
	return outlier.Quo(outlier, body.Add(body, outlier)), index
}

func pow(x *big.Rat, n int64) *big.Rat {
	y := big.NewRat(1, 1)
	for range n {
		y.Mul(y, x)
	}
	return y
}

func float(r *big.Rat) float64 { f, _ := r.Float64(); return f }

// curve fills c with the entries, and fits it.
func (o oracle) curve(c *survival.Curve) {
	c.Reset()
	for _, e := range o {
		c.Observe(float64(e.x), e.ended)
	}
	c.Fit()
}

// history returns random entries. Many have equal times; a task may be cut off at the instant of an end; all or none
// may be cut off.
func history(r *rand.Rand) oracle {
	o := make(oracle, 1+r.IntN(9))
	most, cut := 1+r.Int64N(12), []float64{0, 1, r.Float64()}[r.IntN(3)]
	for i := range o {
		o[i] = entry{r.Int64N(most + 1), r.Float64() >= cut}
	}
	return o
}

// The curve agrees with exact fractions on 5,000 random histories of up to nine runs, or on 100,000 with
// STRAGGLER_LIVES.
func TestTheCurveAgreesWithExactFractions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	histories := 5_000
	if os.Getenv("STRAGGLER_LIVES") != "" {
		histories = 100_000
	}
	var c survival.Curve
	for i := range histories {
		o := history(r)
		c.Silent = i%2 > 0
		o.curve(&c)
		l := o.longest()
		require.Equal(t, float64(l), c.Longest(), "history %v", o)
		for probe := range int64(3) {
			at := min(r.Int64N(14), l+probe)
			if at <= l {
				require.InDelta(t, float(o.above(at, false)), c.Above(float64(at)), 1e-12, "history %v at time %d", o, at)
				require.InDelta(t, 1-float(o.above(at, true)), c.Below(float64(at)), 1e-12, "history %v at time %d", o, at)
			}
			if at < l {
				want := new(big.Rat).Quo(o.mass(at, c.Silent), o.above(at, false))
				require.InDelta(t, float(want), survival.Residual{Curve: &c, Age: float64(at)}.Mean(), 1e-9, "history %v at time %d", o, at)
			}
		}
		checkWithout(t, r, o, &c)
	}
}

// checkWithout leaves out a running task, and compares with the curve of the others.
func checkWithout(t *testing.T, r *rand.Rand, o oracle, c *survival.Curve) {
	own := r.IntN(len(o))
	if o[own].ended || len(o) < 2 {
		return
	}
	others := append(append(oracle{}, o[:own]...), o[own+1:]...)
	w := survival.Without{Curve: c, Age: float64(o[own].x)}
	require.InDelta(t, float(others.mass(0, c.Silent)), w.Mean(), 1e-9, "history %v without %v", o, o[own])
	reference := survival.Curve{Silent: c.Silent}
	others.curve(&reference)
	for at := range int64(15) {
		require.InDelta(t, reference.CDF(float64(at)), w.CDF(float64(at)), 1e-12, "history %v without %v at time %d", o, o[own], at)
		require.InDelta(t, reference.Below(float64(at)), w.Below(float64(at)), 1e-12, "history %v without %v at time %d", o, o[own], at)
	}
	for _, p := range []float64{0, 0.1, 0.37, 0.5, 0.9} {
		require.InEpsilon(t, 1+reference.Quantile(p), 1+w.Quantile(p), 1e-9, "history %v without %v, quantile %v", o, o[own], p)
	}
}

// properties checks that the expected total never falls with the age, and that the quantiles and the mean agree with
// the probabilities.
func properties(t *testing.T, o oracle, silent bool) {
	if len(o) == 0 {
		return
	}
	c := survival.Curve{Silent: silent}
	o.curve(&c)
	total, before := 0.0, 0.0
	hold := func(holds bool, a float64, law string) { // an assertion takes longer than what it checks
		if !holds {
			require.FailNow(t, law, "history %v at %v", o, a)
		}
	}
	for a := 0.; a < float64(2*o.longest()+4); a += 0.25 {
		left := survival.Residual{Curve: &c, Age: a}
		hold(a+left.Mean() >= total-1e-9, a, "the expected total falls")
		total = a + left.Mean()
		hold(c.CDF(a) >= before, a, "the distribution falls")
		before = c.CDF(a)
		if a > 0 {
			hold(c.CDF(a) >= c.Below(a), a, "less has ended at a time than before it")
			for _, p := range []float64{0.05, 0.5, 0.95} {
				q := left.Quantile(p)
				hold(left.CDF(q)+1e-9 >= p, a, "a quantile is too small")
				hold(left.Below(q)-1e-9 <= p, a, "a quantile is too large")
			}
		}
	}
	require.InDelta(t, c.Mean(), survival.Residual{Curve: &c, Age: 0}.Mean()*c.Above(0), 1e-9, "history %v", o)
}

func TestExpectedTotalNeverFallsAndQuantilesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	histories := 1_000 // or 4,000 with STRAGGLER_LIVES
	if os.Getenv("STRAGGLER_LIVES") != "" {
		histories = 4_000
	}
	for i := range histories {
		properties(t, history(r), i%2 > 0)
	}
}

func FuzzProperties(f *testing.F) {
	f.Add([]byte{1, 2, 131, 4}, false)
	f.Fuzz(func(t *testing.T, data []byte, silent bool) {
		o := make(oracle, 0, 12)
		for _, b := range data[:min(len(data), 12)] {
			o = append(o, entry{int64(b & 31), b&128 == 0})
		}
		properties(t, o, silent)
	})
}

// If most tasks of a first wave have one age and still run, the remaining time of a task is less than the time of a
// new attempt.
func TestTasksOfOneAgeDoNotLookSlow(t *testing.T) {
	for _, ended := range []int{0, 1, 2, 5} {
		var c survival.Curve
		for i := range ended {
			c.Observe(10-float64(i)/10, true)
		}
		for range 40 {
			c.Observe(10, false)
		}
		c.Fit()
		left := survival.Residual{Curve: &c, Age: 10}
		assert.Less(t, left.Mean(), survival.Without{Curve: &c, Age: 10}.Mean(), "with %d ended tasks", ended)
	}
}

// Nine tasks took 1 s, and a tenth has run for 3 s. The age of the tenth task does not change the predicted time of
// its new attempt.
func TestWithoutLeavesOutTheAgeOfTheTask(t *testing.T) {
	var c survival.Curve
	for range 9 {
		c.Observe(1, true)
	}
	c.Observe(3, false)
	c.Fit()
	assert.InDelta(t, 0.9+0.1*6, c.Mean(), 1e-12)
	assert.InDelta(t, 1, survival.Without{Curve: &c, Age: 3}.Mean(), 1e-12)
	assert.InDelta(t, 3, survival.Residual{Curve: &c, Age: 3}.Mean(), 1e-12)
}

// An empty curve knows nothing, and Observe refuses a value that is no time.
func TestAnEmptyCurveKnowsNothing(t *testing.T) {
	var c survival.Curve
	for _, x := range []float64{-1, math.NaN(), math.Inf(1), math.Nextafter(estimate.MaxSample, math.Inf(1))} {
		assert.False(t, c.Observe(x, true))
	}
	for range 2 {
		assert.Equal(t, math.Inf(1), c.Mean())
		assert.Equal(t, math.Inf(1), c.Quantile(0.5))
		assert.Zero(t, c.CDF(1))
		assert.Equal(t, math.Inf(1), survival.Residual{}.Mean())
		assert.Equal(t, math.Inf(1), survival.Residual{Curve: &c, Age: 1}.Quantile(0.5))
		assert.Zero(t, survival.Residual{}.CDF(1))
		assert.Zero(t, survival.Residual{Curve: &c, Age: 1}.Below(1))
		assert.Equal(t, math.Inf(1), survival.Without{Curve: &c, Age: 1}.Mean())
		assert.Zero(t, survival.Without{}.CDF(1))
		c.Fit()
	}
}

// A remaining time is above 0: its probability of being 0 or less is 0 at every age, also beyond the longest value.
func TestARemainingTimeIsAboveZero(t *testing.T) {
	for _, age := range []float64{0, 15, 20, 40, 1000} {
		left := survival.Residual{Curve: evenly(30, 2, 40), Age: age}
		for _, x := range []float64{math.Inf(-1), -100, -1, 0, math.NaN()} {
			assert.Zero(t, left.CDF(x), "%v s at age %v", x, age)
			assert.Zero(t, left.Below(x), "%v s at age %v", x, age)
		}
	}
	begun := survival.Residual{Curve: evenly(0, 3, 0)} // three tasks have just begun
	assert.Zero(t, begun.CDF(0))
	assert.Zero(t, begun.Below(0))
}

func TestCurveDoesNotAllocate(t *testing.T) {
	var c survival.Curve
	fit := func() {
		c.Reset()
		for i := range 1000 {
			c.Observe(float64(i*7919%1000), i%3 > 0)
		}
		c.Fit()
	}
	fit()
	assert.Zero(t, testing.AllocsPerRun(10, fit))
	sum := 0.0
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		sum += survival.Residual{Curve: &c, Age: 300}.Mean() + survival.Without{Curve: &c, Age: 300}.Mean() + c.Quantile(0.9)
	}))
}

// Steps are the times at which the curve falls: each ended time once, and none of a killed task.
func TestSteps(t *testing.T) {
	var c survival.Curve
	for _, x := range []float64{3, 1, 3, 2, 5} {
		c.Observe(x, x != 2)
	}
	c.Fit()
	at, above := c.Steps()
	assert.Equal(t, []float64{1, 3, 5}, at)
	assert.InDeltaSlice(t, []float64{4. / 5, 4. / 5 / 3, 0}, above, 1e-15)
	for i, x := range at {
		assert.Equal(t, c.Above(x), above[i])
	}
	assert.Zero(t, testing.AllocsPerRun(10, func() { c.Steps() }))
}
