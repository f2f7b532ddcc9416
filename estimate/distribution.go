package estimate

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Unknown is the duration of what cannot be estimated. It is not a length of time: compare with ==.
const Unknown time.Duration = math.MinInt64

// Distribution is a random time, or a random time per unit of work, in seconds. The continuous distributions of
// gonum.org/v1/gonum/stat/distuv have this shape, and so have [Empirical], [UnitTimes] and [Fresh].
type Distribution interface {
	// Mean returns the expected value.
	Mean() float64
	// CDF returns P(X <= x).
	CDF(x float64) float64
	// Quantile returns the smallest x with CDF(x) >= p, for p in [0, 1].
	Quantile(p float64) float64
}

// Below returns P(X < x), strictly less. It calls d's own method of that name and signature if d has one; otherwise it
// returns CDF(x), which is the same for a continuous distribution. An answer that is not a probability counts as 0.
func Below(d Distribution, x float64) float64 {
	if d, ok := d.(interface{ Below(x float64) float64 }); ok {
		return probability(d.Below(x))
	}
	return probability(d.CDF(x))
}

// probability returns p, or 0 if p is no probability: distuv.LogNormal gives NaN for the CDF of a negative time.
func probability(p float64) float64 {
	if !(p >= 0 && p <= 1) {
		return 0
	}
	return p
}

// quantile returns d's p-quantile, with p outside [0, 1] moved to the nearer end and NaN to 0: distuv panics on both.
func quantile(d Distribution, p float64) float64 {
	if !(p > 0) {
		p = 0
	}
	return d.Quantile(min(p, 1))
}

// Fresh is t_new, the time that a new copy of a task would take [Mantri §5.5, equation 3]:
//
//	t_new = UnitTime*Location*Work + Lag
//
// Its zero value is unknown. Safe for concurrent use as long as UnitTime is.
type Fresh struct {
	// UnitTime is processRate: the distribution of the time that one unit of work takes, in seconds. Nil is unknown.
	UnitTime Distribution
	// Work is d, the task's work in units. It must be positive and finite; use 1 if UnitTime is a whole task's time.
	Work float64
	// Location is locationFactor: this machine and its network path against the phase's average. 0 stands for 1, the
	// average; 2 is twice as slow.
	Location float64
	// Lag is schedLag, from being scheduled to running. A negative lag counts as none.
	Lag time.Duration
}

// scale returns the factor and the offset in seconds with which a rate becomes a time, and whether they make sense.
// By pointer: to copy f here would make a decision a third longer.
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

// Quantile returns the p-quantile of t_new in seconds, or +Inf if it is unknown. A p outside [0, 1] counts as the
// nearer end, NaN as 0.
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
