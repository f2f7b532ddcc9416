package estimate

import (
	"math"
)

// Samples returns the number of samples of finished and running attempts.
func (u *UnitTimes) Samples() int { return u.all.Len() }

// Known reports whether there are enough samples or a Prior.
func (u *UnitTimes) Known() bool { return u.enough() || u.config.Prior != nil }

func (u *UnitTimes) enough() bool { return u.all.Len() >= u.config.MinSamples }

// known returns the distribution in use: the samples or the Prior.
func (u *UnitTimes) known() Distribution {
	if !u.enough() && u.config.Prior != nil {
		return u.config.Prior
	}
	return &u.all
}

// Mean returns the expected time of a unit of work.
func (u *UnitTimes) Mean() float64 {
	if !u.Known() {
		return math.Inf(1)
	}
	return u.known().Mean()
}

// CDF returns the probability that a unit of work takes at most x seconds.
func (u *UnitTimes) CDF(x float64) float64 {
	if !u.Known() {
		return 0
	}
	return probability(u.known().CDF(x))
}

// Below returns the probability that a unit of work takes less than x seconds.
func (u *UnitTimes) Below(x float64) float64 {
	if !u.Known() {
		return 0
	}
	return Below(u.known(), x)
}

// Quantile returns the p-quantile of the time of a unit of work, as [Empirical.Quantile] defines it.
func (u *UnitTimes) Quantile(p float64) float64 {
	if u.enough() { // most decisions ask for many quantiles
		return u.all.Quantile(p)
	}
	if !u.Known() {
		return math.Inf(1)
	}
	return quantile(u.known(), p)
}
