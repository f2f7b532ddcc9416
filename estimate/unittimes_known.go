package estimate

import (
	"math"
)

// Samples returns the number of samples, of finished, killed and running attempts.
func (u *UnitTimes) Samples() int { return u.all.Len() }

// Known reports whether the time of a unit of work is known: there are enough samples, or there is a Prior.
func (u *UnitTimes) Known() bool { return u.enough() || u.config.Prior != nil }

func (u *UnitTimes) enough() bool { return u.all.Len() >= u.config.MinSamples }

// known returns the distribution in use: the Prior if there is one and there are too few samples,
// and otherwise the samples.
func (u *UnitTimes) known() Distribution {
	if !u.enough() && u.config.Prior != nil {
		return u.config.Prior
	}
	return &u.all
}

// Mean returns the expected time of a unit of work, in seconds, or +Inf if the distribution is not known.
func (u *UnitTimes) Mean() float64 {
	if !u.Known() {
		return math.Inf(1)
	}
	return u.known().Mean()
}

// CDF returns the probability that a unit of work takes at most x seconds, or 0 if the distribution is not known.
func (u *UnitTimes) CDF(x float64) float64 {
	if !u.Known() {
		return 0
	}
	return probability(u.known().CDF(x))
}

// Below returns the probability that a unit of work takes less than x seconds, or 0 if the distribution is not
// known.
func (u *UnitTimes) Below(x float64) float64 {
	if !u.Known() {
		return 0
	}
	return Below(u.known(), x)
}

// Quantile returns the p-quantile of the time of a unit of work, in seconds, as [Empirical.Quantile] defines it.
// Quantile returns +Inf if the distribution is not known.
func (u *UnitTimes) Quantile(p float64) float64 {
	if u.enough() { // the usual case is tested first, because a decision asks for many quantiles
		return u.all.Quantile(p)
	}
	if !u.Known() {
		return math.Inf(1)
	}
	return quantile(u.known(), p)
}
