package estimate

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Unknown is the duration that stands for an estimate that cannot be made. Unknown is not a length of time: compare
// with ==.
const Unknown time.Duration = math.MinInt64

// Distribution is a random time, or a random time per unit of work, in seconds. The continuous distributions of
// gonum.org/v1/gonum/stat/distuv satisfy this interface, and so do [Empirical], [UnitTimes] and [Fresh].
type Distribution interface {
	// Mean returns the expected value.
	Mean() float64
	// CDF returns P(X <= x).
	CDF(x float64) float64
	// Quantile returns the smallest x with CDF(x) >= p, for p in [0, 1].
	Quantile(p float64) float64
}

// Below returns P(X < x), strictly less. If d has a method of this name and signature, Below calls it. Otherwise
// Below returns CDF(x), which is equal for a continuous distribution. An answer that is not a probability counts as
// 0.
func Below(d Distribution, x float64) float64 {
	if d, ok := d.(interface{ Below(x float64) float64 }); ok {
		return probability(d.Below(x))
	}
	return probability(d.CDF(x))
}

// probability returns p, or 0 if p is outside [0, 1] or NaN: distuv.LogNormal gives NaN for the CDF of a negative
// time.
func probability(p float64) float64 {
	if !(p >= 0 && p <= 1) {
		return 0
	}
	return p
}

// quantile returns the p-quantile of d. A p outside [0, 1] counts as the nearer end, and NaN as 0, because distuv
// panics on both.
func quantile(d Distribution, p float64) float64 {
	if !(p > 0) {
		p = 0
	}
	return d.Quantile(min(p, 1))
}

// Fresh is t_new, the time that a new attempt of a task would take [Mantri §5.5, equation 3]:
//
//	t_new = UnitTime*Location*Work + Lag
//
// The zero value is unknown. Safe for concurrent use as long as UnitTime is.
type Fresh struct {
	// UnitTime is processRate: the distribution of the time for one unit of work, in seconds. Nil is unknown.
	UnitTime Distribution
	// Work is d, the task's work in units. Work must be positive and finite. Use 1 if UnitTime is the time of a
	// whole task.
	Work float64
	// Location is locationFactor: how many times longer a task takes here than on average, because of this machine
	// and its network path. 0 stands for 1, the average; 2 is twice as slow.
	Location float64
	// Lag is schedLag, the time from being scheduled to running. A negative lag counts as 0.
	Lag time.Duration
}

// scale returns the factor and the offset in seconds that turn a unit time into a time, and whether both are valid.
// The receiver is a pointer because a copy of f would make a decision a third slower.
func (f *Fresh) scale() (factor, lag float64, ok bool) {
	factor = f.Work
	if f.Location != 0 {
		factor *= f.Location
	}
	ok = f.UnitTime != nil && f.Work > 0 && factor > 0 && num.Finite(factor)
	if f.Lag > 0 {
		lag = f.Lag.Seconds()
	}
	return factor, lag, ok
}

// Mean returns E(t_new) in seconds, or +Inf if it is unknown. O(1) for the distributions of this package.
func (f Fresh) Mean() float64 {
	factor, lag, ok := f.scale()
	if !ok {
		return math.Inf(1)
	}
	mean := float64(f.UnitTime.Mean()*factor) + lag // no fused multiply-add: one answer everywhere
	if !(mean >= 0) {
		return math.Inf(1)
	}
	return mean
}

// Below returns P(t_new < x), x in seconds; 0 if t_new is unknown. O(log n) for the distributions of this package, and
// no allocation.
func (f Fresh) Below(x float64) float64 {
	factor, lag, ok := f.scale()
	if !ok {
		return 0
	}
	return Below(f.UnitTime, (x-lag)/factor)
}

// CDF returns P(t_new <= x), x in seconds; 0 if t_new is unknown.
func (f Fresh) CDF(x float64) float64 {
	factor, lag, ok := f.scale()
	if !ok {
		return 0
	}
	return probability(f.UnitTime.CDF((x - lag) / factor))
}

// Quantile returns the p-quantile of t_new in seconds, or +Inf if t_new is unknown. A p outside [0, 1] counts as
// the nearer end, NaN as 0.
func (f Fresh) Quantile(p float64) float64 {
	factor, lag, ok := f.scale()
	if !ok {
		return math.Inf(1)
	}
	x := quantile(f.UnitTime, p)
	if !(x >= 0) {
		return math.Inf(1)
	}
	return float64(x*factor) + lag
}

// Expected returns E(t_new) to the nearest nanosecond, or [Unknown]. A mean beyond the range of time.Duration
// saturates.
func (f Fresh) Expected() time.Duration {
	mean := f.Mean()
	if math.IsInf(mean, 1) {
		return Unknown
	}
	d, _ := num.Duration(mean)
	return d
}
