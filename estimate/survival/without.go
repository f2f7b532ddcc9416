package survival

import (
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Without is a curve that leaves out one running task. It is the distribution of the time of a new attempt of this
// task: the age of the running attempt says nothing about that time. If the curve has no other value, nothing is
// known, and the mean is +Inf. The zero value knows nothing. Without implements estimate.Distribution.
type Without struct {
	// Curve is the distribution of the times of tasks. The age of the running task must be one of its values.
	Curve *Curve
	// Age is the age of the running task, in units of the curve, at the latest Fit or later. It is from 0 to
	// [estimate.MaxSample].
	Age float64
	// The curve without the task, as Set has computed it; nil if Set was not called.
	set *others
}

// Set makes w the curve c without a running task of the given age. It computes the parts that most answers need, or
// keeps the parts of the previous call if they are the same. w is valid until the next Fit of the curve. A Go copy of
// w is valid until the next Set of w. O(log n). The first call allocates.
func (w *Without) Set(c *Curve, age float64) {
	set := w.set
	*w = Without{Curve: c, Age: age}
	if !w.known() {
		return
	}
	o := w.others()
	switch {
	case set == nil:
		set = new(others)
		fallthrough
	case set.curve != c || set.fit != o.fit || set.ends != o.ends || set.longest != o.longest:
		*set = o
		set.beyond = o.tail()
	}
	w.set = set
}

// known reports whether the curve contains other values than the task's own age.
func (w Without) known() bool {
	return w.Curve != nil && w.Curve.n > 1 && w.Age >= 0 && w.Age <= estimate.MaxSample
}

// others is a curve without one running task. The task belongs to the running tasks at all ends before its age, and
// is not counted at later ends. An end is a time at which a task of the curve ended.
type others struct {
	curve *Curve
	// The number of distinct ends (times at which tasks ended) up to the age of the task that is left out.
	ends int
	// A factor for the later ends: P(T > t) without the task is P(T > t) of the curve, times factor.
	factor float64
	// The longest value of the curve, not including the task that is left out.
	longest float64
	// The tail beyond the longest value, without the task. Its index is 0 until Set has computed the tail.
	beyond tail
	// The field fits of the curve at the time when these values were computed. A different number means that they are
	// out of date.
	fit int32
}

// others returns the curve without the task. It returns the result of Set if there is one.
func (w Without) others() others {
	c := w.Curve
	if w.set != nil {
		return *w.set
	}
	o := others{curve: c, ends: c.index(w.Age, false), factor: 1, longest: c.longest, fit: c.fits}
	if w.Age >= c.longest {
		o.longest = c.second
	}
	if o.ends > 0 {
		o.factor = c.aboveOthers[o.ends-1] / c.above[o.ends-1]
	}
	return o
}

// after returns P(T > t), the probability that a task takes longer, directly after the first i ends.
func (o others) after(i int) float64 {
	switch {
	case i == 0:
		return 1
	case i <= o.ends:
		return o.curve.aboveOthers[i-1]
	}
	// The conversion prevents a fused multiply-add after inlining.
	return float64(o.factor * o.curve.above[i-1])
}

// first returns the number of ends (times at which tasks ended) after which P(T > t) is at most bar. If P(T > t) is
// above bar even after the last end, it returns one more than the number of all ends.
func (o others) first(bar float64) int {
	low, high := 1, len(o.curve.at)+1
	for low < high {
		if mid := int(uint(low+high) >> 1); o.after(mid) > bar {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// rounding is much larger than the rounding error of a product or a sum of shares can be.
const rounding = 1e-9

// share returns the first time at which tasks ended and after which at most the share left of the tasks still runs.
// It returns 0 if there is no such time.
func (o others) share(left float64) float64 {
	if i := o.first(left + rounding); i <= len(o.curve.at) {
		return o.curve.at[i-1]
	}
	return 0
}

// tail returns the distribution of the times beyond the longest value.
func (o others) tail() tail {
	if o.beyond.index > 0 {
		return o.beyond
	}
	return newTail(o.longest, o.share(num.ThreeQuarters), o.share(num.Half), o.share(num.Quarter), o.curve.beyond.silent)
}

// Mean returns the expected time of a new attempt, E(T). It returns +Inf if nothing is known. O(log n).
func (w Without) Mean() float64 {
	if !w.known() {
		return math.Inf(1)
	}
	o := w.others()
	above, area, from := 1.0, 0.0, 0.0
	if i := o.ends; i > 0 {
		above, area, from = o.after(i), w.Curve.areaOthers[i-1], w.Curve.at[i-1]
	}
	// In this case another task ended later than the age of this task. The conversions prevent fused multiply-adds,
	// so that every machine gives the same result.
	if o.ends < len(w.Curve.at) {
		area += float64(o.factor * w.Curve.upToLongest(from))
	} else {
		area += float64(above * (o.longest - from))
	}
	if last := o.after(len(w.Curve.at)); last > 0 { // the mean of a tail of the largest times is infinite
		area += float64(last * o.tail().mean())
	}
	return area
}

// CDF returns the probability that a new attempt takes at most t, P(T <= t). It returns 0 if nothing is known. O(log
// n).
func (w Without) CDF(t float64) float64 { return w.below(t, false) }

// Below returns the probability that a new attempt takes less than t, P(T < t). It returns 0 if nothing is known.
// O(log n).
func (w Without) Below(t float64) float64 { return w.below(t, true) }

// below returns the probability that a new attempt takes at most t. If strict is true, it returns the probability of
// less than t.
func (w Without) below(t float64, strict bool) float64 {
	if !w.known() || t != t {
		return 0
	}
	o := w.others()
	above := o.after(w.Curve.index(t, strict))
	if t > o.longest {
		above = float64(above * o.tail().above(t))
	}
	return 1 - above
}

// Quantile returns the smallest t with CDF(t) >= p; +Inf if nothing is known. O(log n).
func (w Without) Quantile(p float64) float64 {
	if !w.known() {
		return math.Inf(1)
	}
	o, bar := w.others(), remainder(p)
	if i := o.first(bar); i <= len(w.Curve.at) {
		return w.Curve.at[i-1]
	}
	return o.tail().quantile(bar / o.after(len(w.Curve.at)))
}
