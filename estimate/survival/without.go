package survival

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// Without is a curve that leaves out one running task. It predicts the time of a new attempt of this task. The age of
// the running attempt says nothing about that time. If the curve has no other value, nothing is known, and the mean
// is +Inf. The zero value knows nothing. Without implements estimate.Distribution.
type Without struct {
	// Curve is the distribution of the times of tasks, with the running task among its values.
	Curve *Curve
	// Age is the age of the running task at the latest Fit or later, in units of the curve; 0 or more.
	Age float64
	set *others // as computed by Set; nil if Set was not called
}

// Set makes w the given curve without a running task of the given age. It computes at once what most answers need, or
// keeps the result of the previous call if that is the same. w is valid until the next Fit of the curve. A Go copy of
// w is valid until the next Set. O(log n). The first call allocates.
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

// known reports whether the curve has other values than the task's own.
func (w Without) known() bool { return w.Curve != nil && w.Curve.n > 1 && w.Age >= 0 }

// others is a curve without one task, which was at risk at the first ends only.
type others struct {
	curve   *Curve
	ends    int     // number of distinct ends at which the task was at risk
	factor  float64 // corrects P(T > t) of the curve beyond these ends
	longest float64 // L without the task
	beyond  tail    // the tail from L on; the index is 0 until Set has computed it
	fit     int32   // number of the curve's Fit
}

// others returns the curve without the task: the result of Set, or a new one.
func (w Without) others() others {
	c := w.Curve
	if w.set != nil {
		return *w.set
	}
	o := others{curve: c, ends: c.index(w.Age, false), factor: 1, longest: c.longest, fit: c.fits}
	if w.Age >= c.longest {
		o.longest = c.second
	}
	if o.ends > 0 && c.above[o.ends-1] > 0 {
		o.factor = c.aboveOthers[o.ends-1] / c.above[o.ends-1]
	}
	return o
}

// after returns P(T > t) after the first i ends.
func (o others) after(i int) float64 {
	switch {
	case i == 0:
		return 1
	case i <= o.ends:
		return o.curve.aboveOthers[i-1]
	}
	return float64(o.factor * o.curve.above[i-1]) // no fused multiply-add after inlining
}

// first returns the number of ends after which P(T > t) is at most the bar. If P(T > t) never falls that far, it
// returns one more than the number of ends.
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

// rounding is far more than the rounding error of a product or a sum of shares.
const rounding = 1e-9

// share returns the first end beyond which at most the given share of tasks is left; 0 if there is none.
func (o others) share(left float64) float64 {
	if i := o.first(left + rounding); i <= len(o.curve.at) {
		return o.curve.at[i-1]
	}
	return 0
}

// tail returns the tail beyond L.
func (o others) tail() tail {
	if o.beyond.index > 0 {
		return o.beyond
	}
	return newTail(o.longest, o.share(num.ThreeQuarters), o.share(num.Half), o.share(num.Quarter), o.curve.beyond.silent)
}

// Mean returns E(T); +Inf if nothing is known. O(log n).
func (w Without) Mean() float64 {
	if !w.known() {
		return math.Inf(1)
	}
	o := w.others()
	above, area, from := 1.0, 0.0, 0.0
	if i := o.ends; i > 0 {
		above, area, from = o.after(i), w.Curve.areaOthers[i-1], w.Curve.at[i-1]
	}
	if o.ends < len(w.Curve.at) { // another task ended later than the age of this task
		area += float64(o.factor * w.Curve.upToLongest(from)) // no fused multiply-add: every machine gives the same answer
	} else {
		area += float64(above * (o.longest - from))
	}
	if last := o.after(len(w.Curve.at)); last > 0 {
		area += float64(last * o.tail().mean())
	}
	return area
}

// CDF returns P(T <= t); 0 if nothing is known. O(log n).
func (w Without) CDF(t float64) float64 { return w.below(t, false) }

// Below returns P(T < t); 0 if nothing is known. O(log n).
func (w Without) Below(t float64) float64 { return w.below(t, true) }

func (w Without) below(t float64, strict bool) float64 {
	if !w.known() || t != t {
		return 0
	}
	o := w.others()
	above := o.after(w.Curve.index(t, strict))
	if t > o.longest && above > 0 {
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
