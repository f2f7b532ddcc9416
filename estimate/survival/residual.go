package survival

import "math"

// Residual is the distribution of the time that a task still needs, by its age alone: T - a, given T > a, in seconds. A task
// as old as the longest value of the curve, or older, has the curve's tail before it, whatever is under it. The zero value is
// that of a time of which nothing is known. It implements estimate.Distribution.
//
// The task's own age, if it is among the values, changes nothing about it: it is at risk at no end that is still to come.
type Residual struct {
	Curve *Curve
	// Age is how long it has run, in seconds.
	Age float64
	// Scale is how many seconds of this task are one of the curve: how much longer than others its work lets it take. 0 stands
	// for 1.
	Scale float64
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
		return r.Age / (TailIndex - 1)
	}
	return r.Curve.mass(a) / r.Curve.Above(a) * scale
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
		q := a / t
		return 1 - float64(q*q*q) // no fused multiply-subtract: one answer everywhere
	}
	return max(0, 1-r.Curve.survives(t, strict)/r.Curve.Above(a))
}

// Quantile returns the smallest x with CDF(x) >= p. O(log n).
func (r Residual) Quantile(p float64) float64 {
	a, scale, ok := r.age()
	switch {
	case !ok:
		return math.Inf(1)
	case a >= r.Curve.longest:
		return r.Age * (tailQuantile(remainder(p)) - 1)
	}
	return max(0, r.Curve.quantile(p, r.Curve.Above(a))-a) * scale
}

// Without is a curve without one of the tasks that run, as if it were not among the values: of what a new copy of that task
// would take, its own age is no evidence. It implements estimate.Distribution; of a curve of one value it is unknown.
type Without struct {
	Curve *Curve
	// Age is that task's at the last Fit or since, in units of the curve.
	Age float64
}

// split returns how many ends were while the task was at risk, P(T > t) and the area at the last of them, where that is, and
// by what the curve beyond is to be multiplied; and the L of the others.
func (w Without) split() (i int, above, area, from, factor, longest float64) {
	c := w.Curve
	longest = c.longest
	if w.Age >= longest {
		longest = c.second
	}
	if i = c.index(w.Age, false); i == 0 {
		return 0, 1, 0, 0, 1, longest
	}
	above, area, from = c.aboveOthers[i-1], c.areaOthers[i-1], c.at[i-1]
	if c.above[i-1] > 0 {
		factor = above / c.above[i-1]
	}
	return i, above, area, from, factor, longest
}

func (w Without) known() bool { return w.Curve != nil && w.Curve.n > 1 && w.Age >= 0 }

// Mean returns E(T). O(log n).
func (w Without) Mean() float64 {
	if !w.known() {
		return math.Inf(1)
	}
	i, above, area, from, factor, longest := w.split()
	if i < len(w.Curve.at) || longest == w.Curve.longest {
		return area + float64(factor*w.Curve.mass(from))
	}
	return area + float64(above*(longest-from)) + float64(above*longest/(TailIndex-1)) // no fused multiply-add
}

// CDF returns P(T <= t). O(log n).
func (w Without) CDF(t float64) float64 { return w.below(t, false) }

// Below returns P(T < t). O(log n).
func (w Without) Below(t float64) float64 { return w.below(t, true) }

func (w Without) below(t float64, strict bool) float64 {
	c := w.Curve
	if !w.known() || t != t {
		return 0
	}
	i, _, _, _, factor, longest := w.split()
	j := c.index(t, strict)
	if j > i {
		return 1 - float64(factor*c.survives(t, strict))
	}
	above := 1.0
	if j > 0 {
		above = c.aboveOthers[j-1]
	}
	if t > longest {
		q := longest / t
		above *= q * q * q
	}
	return 1 - above
}

// Quantile returns the smallest t with CDF(t) >= p. O(log^2 n).
func (w Without) Quantile(p float64) float64 {
	if !w.known() {
		return math.Inf(1)
	}
	bar := remainder(p)
	low, high := 0, len(w.Curve.at)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if 1-w.CDF(w.Curve.at[mid]) > bar {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(w.Curve.at) {
		return w.Curve.at[low]
	}
	_, _, _, _, _, longest := w.split()
	return longest * tailQuantile(bar/(1-w.CDF(longest)))
}
