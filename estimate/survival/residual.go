package survival

import "math"

// Residual is the distribution of the time that a task still needs, by its age alone: T - a, given T > a, in seconds. A
// task as old as the longest value of the curve, or older, has the curve's tail before it, whatever is under it. The
// zero value is that of a time of which nothing is known. It implements estimate.Distribution.
//
// The task's own age, if it is among the values, changes nothing about it: it is at risk at no end that is still to
// come.
type Residual struct {
	Curve *Curve
	// Age is how long it has run, in seconds.
	Age float64
	// Scale is how many seconds of this task are one of the curve: how much longer than others its work lets it take. 0
	// stands for 1.
	Scale float64
	above float64 // P(T > a), as Set has left it; 0 if it has not
}

// Set makes r what is left at an age, in seconds, and works out at once what most questions need. It holds until the
// curve's next Fit. O(log n).
func (r *Residual) Set(c *Curve, age, scale float64) {
	*r = Residual{Curve: c, Age: age, Scale: scale}
	if a, _, ok := r.age(); ok && a < c.longest {
		r.above = c.Above(a)
	}
}

// whole returns P(T > a) of an age below L.
func (r Residual) whole(a float64) float64 {
	if r.above > 0 {
		return r.above
	}
	return r.Curve.Above(a)
}

// age returns a in units of the curve, and whether there is an answer.
func (r Residual) age() (a, scale float64, ok bool) {
	if scale = r.Scale; scale == 0 {
		scale = 1
	}
	return r.Age / scale, scale, r.Curve != nil && r.Curve.n > 0 && r.Age >= 0 && scale > 0
}

// Mean returns E(T - a | T > a). O(log n).
func (r Residual) Mean() float64 {
	a, scale, ok := r.age()
	switch {
	case !ok:
		return math.Inf(1)
	case a >= r.Curve.longest:
		return r.Curve.beyond.at(a).mean() * scale
	}
	return r.Curve.mass(a) / r.whole(a) * scale
}

// CDF returns P(T - a <= x | T > a). O(log n).
func (r Residual) CDF(x float64) float64 { return r.below(x, false) }

// Below returns P(T - a < x | T > a). O(log n).
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
	return max(0, 1-r.Curve.survives(t, strict)/r.whole(a))
}

// Quantile returns the smallest x with CDF(x) >= p. O(log n).
func (r Residual) Quantile(p float64) float64 {
	a, scale, ok := r.age()
	switch {
	case !ok:
		return math.Inf(1)
	case a >= r.Curve.longest:
		return (r.Curve.beyond.at(a).quantile(remainder(p)) - a) * scale
	}
	return max(0, r.Curve.quantile(p, r.whole(a))-a) * scale
}
