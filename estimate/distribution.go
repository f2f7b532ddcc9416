package estimate

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Unknown is returned in place of a duration if no estimate can be made. Unknown is not a length of time: compare a
// result with Unknown by ==, and do not calculate with it.
const Unknown time.Duration = math.MinInt64

// Distribution is the probability distribution of a random time, in seconds, or of a random time per unit of work,
// in seconds per unit. The continuous distributions of gonum.org/v1/gonum/stat/distuv satisfy this interface, and
// so do [Empirical], [UnitTimes] and [Fresh].
type Distribution interface {
	// Mean returns the expected value of the random time X.
	Mean() float64
	// CDF returns P(X <= x), the probability that the random time X is at most x.
	CDF(x float64) float64
	// Quantile returns the p-quantile of the random time: the smallest x with CDF(x) >= p, for p in [0, 1].
	Quantile(p float64) float64
}

// Below returns P(X < x), the probability that a random time X with the distribution d is strictly less than x. If
// d has a method of this name and signature, Below calls that method. Otherwise Below returns CDF(x), which is
// equal to P(X < x) for a continuous distribution. If the distribution returns NaN or a number outside [0, 1],
// Below returns 0.
func Below(d Distribution, x float64) float64 {
	if d, ok := d.(interface{ Below(x float64) float64 }); ok {
		return probability(d.Below(x))
	}
	return probability(d.CDF(x))
}

// probability returns p, or 0 if p is NaN or outside [0, 1]. The distributions of other modules may return such
// numbers. For example, distuv.LogNormal returns NaN for the CDF of a negative time.
func probability(p float64) float64 {
	if !(p >= 0 && p <= 1) {
		return 0
	}
	return p
}

// quantile returns the p-quantile of d. A p outside [0, 1] is moved to the nearer end of that range, and NaN is
// moved to 0, because the distributions of distuv panic on both.
func quantile(d Distribution, p float64) float64 {
	if !(p > 0) {
		p = 0
	}
	return d.Quantile(min(p, 1))
}

// Fresh is the fresh time (t_new): the time that a new attempt of a task would take. Fresh is equation 3 of [Mantri
// §5.5]:
//
//	t_new = UnitTime*Location*Work + Lag
//
// The zero value stands for an unknown time. Fresh is safe for concurrent use if UnitTime is safe for concurrent
// use.
type Fresh struct {
	// UnitTime is the distribution of the time for one unit of work, in seconds. The paper calls it processRate.
	// Nil means that it is unknown.
	UnitTime Distribution
	// Work is the number of units of work in the task, d in the paper. Work must be positive and finite. If
	// UnitTime is the time of a whole task, use Work = 1.
	Work float64
	// Location is how many times longer a task takes here than on average, because of this machine and its network
	// path. The paper calls it locationFactor. 1 is the average, and 2 means that a task takes twice as long. 0
	// stands for 1.
	Location float64
	// Lag is the time from the decision to start the attempt until the attempt runs. The paper calls it schedLag. A
	// negative Lag is treated as 0.
	Lag time.Duration
}

// scale returns the factor and the offset of the line that turns the time of one unit of work into the time of the
// attempt: factor*unitTime + lag. The lag is in seconds. ok is false if UnitTime is nil or the work or the factor
// is out of range. The receiver is a pointer because a copy of f would make a decision a third slower.
func (f *Fresh) scale() (factor, lag float64, ok bool) {
	factor = f.Work
	if f.Location != 0 {
		factor *= f.Location
	}
	ok = f.UnitTime != nil && f.Work > 0 && factor > 0 && num.Finite(factor)
	return factor, max(f.Lag, 0).Seconds(), ok
}

// Mean returns the expected fresh time, E(t_new), in seconds, or +Inf if the fresh time is unknown. O(1) for the
// distributions of this package.
func (f Fresh) Mean() float64 {
	factor, lag, ok := f.scale()
	if !ok {
		return math.Inf(1)
	}
	// The conversion prevents a fused multiply-add, so that all processors give the same result.
	mean := float64(f.UnitTime.Mean()*factor) + lag
	if !(mean >= 0) {
		return math.Inf(1)
	}
	return mean
}

// Below returns P(t_new < x), the probability that a new attempt takes less than x seconds. Below returns 0 if the
// fresh time is unknown. O(log n) for the distributions of this package with n samples, and no allocation.
func (f Fresh) Below(x float64) float64 {
	factor, lag, ok := f.scale()
	if !ok {
		return 0
	}
	return Below(f.UnitTime, (x-lag)/factor)
}

// CDF returns P(t_new <= x), the probability that a new attempt takes at most x seconds. CDF returns 0 if the fresh
// time is unknown.
func (f Fresh) CDF(x float64) float64 {
	factor, lag, ok := f.scale()
	if !ok {
		return 0
	}
	return probability(f.UnitTime.CDF((x - lag) / factor))
}

// Quantile returns the p-quantile of the fresh time (t_new) in seconds, or +Inf if the fresh time is unknown. A p
// outside [0, 1] is moved to the nearer end of that range, and NaN is moved to 0.
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

// Expected returns the expected fresh time, E(t_new), to the nearest nanosecond, or [Unknown] if the fresh time is
// unknown. If the mean is longer than the longest time.Duration, Expected returns the longest time.Duration.
func (f Fresh) Expected() time.Duration {
	mean := f.Mean()
	if math.IsInf(mean, 1) {
		return Unknown
	}
	d, _ := num.Duration(mean)
	return d
}
