package survival

import "math"

// Residual is the distribution of the remaining time of a task, in seconds, by its age alone: T - a, given T > a. If
// the task is at least as old as the longest value of the curve, the distribution is the tail of the curve. The zero
// value knows nothing: its mean is +Inf. Residual implements estimate.Distribution.
//
// The task's own age may be among the values of the curve and changes no answer: the product limit counts the task at
// no time after its age.
type Residual struct {
	// Curve is the distribution of the times of tasks. If it is nil or empty, nothing is known.
	Curve *Curve
	// Age is how long the task has run, in seconds; 0 or more.
	Age float64
	// Scale converts units: one unit of the curve is Scale seconds of this task. A task with twice the work of others
	// has the Scale 2. 0 means 1.
	Scale float64
	above float64 // P(T > a), if Set has computed it; else 0
}

// Set makes r the remaining time of a task of the given age, in seconds. It computes P(T > a) at once, which most
// answers need. r is valid until the next Fit of the curve. O(log n), no allocation.
func (r *Residual) Set(c *Curve, age, scale float64) {
	*r = Residual{Curve: c, Age: age, Scale: scale}
	if a, _, ok := r.age(); ok && a < c.longest {
		r.above = c.Above(a)
	}
}

// survived returns P(T > a) for an age below L.
func (r Residual) survived(a float64) float64 {
	if r.above > 0 {
		return r.above
	}
	return r.Curve.Above(a)
}

// age returns the age in units of the curve, and whether there is an answer.
func (r Residual) age() (a, scale float64, ok bool) {
	if scale = r.Scale; scale == 0 {
		scale = 1
	}
	return r.Age / scale, scale, r.Curve != nil && r.Curve.n > 0 && r.Age >= 0 && scale > 0
}

// Mean returns E(T - a | T > a); +Inf if nothing is known. O(log n).
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

// CDF returns P(T - a <= x | T > a); 0 if nothing is known. O(log n).
func (r Residual) CDF(x float64) float64 { return r.below(x, false) }

// Below returns P(T - a < x | T > a); 0 if nothing is known. O(log n).
func (r Residual) Below(x float64) float64 { return r.below(x, true) }

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
