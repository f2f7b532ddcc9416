package survival

import (
	"math"

	"github.com/straggler-go/straggler/estimate"
)

// Residual is the distribution of the remaining time of a task, in seconds, predicted from its age alone. If T is the
// time of a task and a is its age, this is the distribution of T - a, given that T > a. If the task is at least as
// old as the longest value of the curve, the distribution comes from the tail of the curve. The zero value knows
// nothing: its mean is +Inf. Residual implements estimate.Distribution.
//
// The curve may contain the task's own age as a value. This changes no answer, because the answers depend only on the
// curve at times after that age.
type Residual struct {
	// Curve is the distribution of the times of tasks. If Curve is nil or empty, nothing is known.
	Curve *Curve
	// Age is how long the task has run, in seconds; from 0 to [estimate.MaxSample] units of the curve.
	Age float64
	// Scale converts units: one unit of the curve is Scale seconds of this task. For example, a task with twice the
	// work of other tasks has Scale 2. It is finite and above 0; 0 means 1.
	Scale float64
	// The probability that a task takes longer than Age. It is 0 if Set has not computed it.
	above float64
}

// Set makes r the remaining time of a task of the given age, in seconds. It computes at once the probability that a
// task takes longer than this age, because most answers need it. r is valid until the next Fit of the curve. O(log
// n), no allocation.
func (r *Residual) Set(c *Curve, age, scale float64) {
	*r = Residual{Curve: c, Age: age, Scale: scale}
	if a, _, ok := r.age(); ok && a < c.longest { // an older task has the remaining time of the tail alone
		r.above = c.Above(a)
	}
}

// survived returns the probability that a task takes longer than a, for an age a below the longest value of the
// curve.
func (r Residual) survived(a float64) float64 {
	if r.above > 0 {
		return r.above
	}
	return r.Curve.Above(a)
}

// age returns the age of the task in units of the curve, and the number of seconds in one such unit. It reports
// whether the remaining time is known (ok).
func (r Residual) age() (a, scale float64, ok bool) {
	if scale = r.Scale; scale == 0 {
		scale = 1
	}
	a = r.Age / scale
	return a, scale, r.Curve != nil && r.Curve.n > 0 && a >= 0 && a <= estimate.MaxSample && scale > 0 && scale <= math.MaxFloat64
}

// Mean returns the expected remaining time, E(T - a | T > a). It returns +Inf if nothing is known. O(log n).
func (r Residual) Mean() float64 {
	a, scale, ok := r.age()
	switch {
	case !ok:
		return math.Inf(1)
	case a >= r.Curve.longest:
		return r.Curve.beyond.at(a).mean() * scale
	}
	return r.Curve.mass(a) / r.survived(a) * scale
}

// CDF returns the probability that the remaining time is at most x. It returns 0 if nothing is known. O(log n).
func (r Residual) CDF(x float64) float64 { return r.below(x, false) }

// Below returns the probability that the remaining time is less than x. It returns 0 if nothing is known. O(log n).
func (r Residual) Below(x float64) float64 { return r.below(x, true) }

// below returns the probability that the remaining time is at most x. If strict is true, it returns the probability
// of less than x.
func (r Residual) below(x float64, strict bool) float64 {
	a, scale, ok := r.age()
	if !ok || !(x > 0) {
		return 0
	}
	t := a + x/scale
	if a >= r.Curve.longest {
		return 1 - r.Curve.beyond.at(a).above(t)
	}
	return max(0, 1-r.Curve.survives(t, strict)/r.survived(a))
}

// Quantile returns the smallest x with CDF(x) >= p; +Inf if nothing is known. O(log n).
func (r Residual) Quantile(p float64) float64 {
	a, scale, ok := r.age()
	switch {
	case !ok:
		return math.Inf(1)
	case a >= r.Curve.longest:
		return (r.Curve.beyond.at(a).quantile(remainder(p)) - a) * scale
	}
	return max(0, r.Curve.quantile(p, r.survived(a))-a) * scale
}
