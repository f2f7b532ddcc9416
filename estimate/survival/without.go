package survival

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// Without is a curve without one of the tasks that run, as if it were not among the values: of what a new copy of that
// task would take, its own age is no evidence. It implements estimate.Distribution; of a curve of one value it is
// unknown.
type Without struct {
	Curve *Curve
	// Age is that task's at the last Fit or since, in units of the curve.
	Age float64
	set *rest // as Set has left it
}

// Set makes w a curve without a task of an age, and works out at once what most questions need; that is kept from the
// task before where it is the same. It holds until the next Fit, and a copy of w until the next Set. O(log n); the first
// allocates.
func (w *Without) Set(c *Curve, age float64) {
	set := w.set
	*w = Without{Curve: c, Age: age}
	if !w.known() {
		return
	}
	r := w.rest()
	switch {
	case set == nil:
		set = new(rest)
		fallthrough
	case set.curve != c || set.fit != r.fit || set.ends != r.ends || set.longest != r.longest:
		*set = r
		set.beyond = r.tail()
	}
	w.set = set
}

func (w Without) known() bool { return w.Curve != nil && w.Curve.n > 1 && w.Age >= 0 }

// rest is a curve without one that was at risk at its first ends.
type rest struct {
	curve   *Curve
	ends    int     // so many of them
	factor  float64 // what P(T > t) beyond them is to be multiplied by
	longest float64 // L without it
	beyond  tail    // from there on, if it was worked out
	fit     int32   // of the curve
}

func (w Without) rest() rest {
	c := w.Curve
	if w.set != nil {
		return *w.set
	}
	r := rest{curve: c, ends: c.index(w.Age, false), factor: 1, longest: c.longest, fit: c.fits}
	if w.Age >= c.longest {
		r.longest = c.second
	}
	if r.ends > 0 && c.above[r.ends-1] > 0 {
		r.factor = c.aboveOthers[r.ends-1] / c.above[r.ends-1]
	}
	return r
}

// after returns P(T > t) after the first i ends.
func (r rest) after(i int) float64 {
	switch {
	case i == 0:
		return 1
	case i <= r.ends:
		return r.curve.aboveOthers[i-1]
	}
	return float64(r.factor * r.curve.above[i-1]) // no fused multiply-add where it is inlined
}

// first returns after how many ends P(T > t) is at most the bar, or one more than there are.
func (r rest) first(bar float64) int {
	low, high := 1, len(r.curve.at)+1
	for low < high {
		if mid := int(uint(low+high) >> 1); r.after(mid) > bar {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// rounding is far more than a product of shares is off by, or a sum of them.
const rounding = 1e-9

// share returns the first end beyond which there is at most a share; 0 if there is none.
func (r rest) share(left float64) float64 {
	if i := r.first(left + rounding); i <= len(r.curve.at) {
		return r.curve.at[i-1]
	}
	return 0
}

// tail returns the tail beyond L.
func (r rest) tail() tail {
	if r.beyond.index > 0 {
		return r.beyond
	}
	return newTail(r.longest, r.share(num.ThreeQuarters), r.share(num.Half), r.share(num.Quarter), r.curve.beyond.silent)
}

// Mean returns E(T). O(log n).
func (w Without) Mean() float64 {
	if !w.known() {
		return math.Inf(1)
	}
	r := w.rest()
	above, area, from := 1.0, 0.0, 0.0
	if i := r.ends; i > 0 {
		above, area, from = r.after(i), w.Curve.areaOthers[i-1], w.Curve.at[i-1]
	}
	if r.ends < len(w.Curve.at) { // it is not the longest
		area += float64(r.factor * w.Curve.upToLongest(from)) // no fused multiply-add: one answer everywhere
	} else {
		area += float64(above * (r.longest - from))
	}
	if last := r.after(len(w.Curve.at)); last > 0 {
		area += float64(last * r.tail().mean())
	}
	return area
}

// CDF returns P(T <= t). O(log n).
func (w Without) CDF(t float64) float64 { return w.below(t, false) }

// Below returns P(T < t). O(log n).
func (w Without) Below(t float64) float64 { return w.below(t, true) }

func (w Without) below(t float64, strict bool) float64 {
	if !w.known() || t != t {
		return 0
	}
	r := w.rest()
	above := r.after(w.Curve.index(t, strict))
	if t > r.longest && above > 0 {
		above = float64(above * r.tail().above(t))
	}
	return 1 - above
}

// Quantile returns the smallest t with CDF(t) >= p. O(log n).
func (w Without) Quantile(p float64) float64 {
	if !w.known() {
		return math.Inf(1)
	}
	r, bar := w.rest(), remainder(p)
	if i := r.first(bar); i <= len(w.Curve.at) {
		return w.Curve.at[i-1]
	}
	return r.tail().quantile(bar / r.after(len(w.Curve.at)))
}
