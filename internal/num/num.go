// Package num holds what packages share about numbers: clamped conversions of seconds and time.Duration, unknown works.
package num

import (
	"math"
	"slices"
	"time"
)

// Extremes of time.Duration, to which conversions and sums saturate.
const (
	MaxDuration time.Duration = math.MaxInt64
	MinDuration time.Duration = math.MinInt64
)

// Quarter, Half and ThreeQuarters name the quartiles of a distribution, and what is left beyond them.
const Quarter, Half, ThreeQuarters = 0.25, 0.5, 0.75

// Fraction is how many bits of a float64 hold its fraction, and Fraction32 of a float32; Bias32 is what the exponent of a
// float32 is more than the power of two that it stands for.
const Fraction, Fraction32, Bias32 = 52, 23, 127

// Duration converts seconds to the nearest time.Duration. Values beyond the range saturate, infinities included.
// It reports false for NaN, which has no duration. The conversion is monotone: a longer time never gives a shorter
// duration, so a threshold cannot be crossed by an overflow.
func Duration(seconds float64) (time.Duration, bool) {
	ns := math.Round(seconds * 1e9)
	switch {
	case math.IsNaN(ns):
		return 0, false
	case ns >= math.MaxInt64: // the float64 nearest to MaxInt64 is 2^63, one too many
		return MaxDuration, true
	case ns <= math.MinInt64:
		return MinDuration, true
	}
	return time.Duration(ns), true
}

// Add returns a+b, saturating instead of wrapping round.
func Add(a, b time.Duration) time.Duration {
	sum := a + b
	switch {
	case b > 0 && sum < a:
		return MaxDuration
	case b < 0 && sum > a:
		return MinDuration
	}
	return sum
}

// Sub returns a-b, saturating instead of wrapping round.
func Sub(a, b time.Duration) time.Duration {
	diff := a - b
	switch {
	case b < 0 && diff < a:
		return MaxDuration
	case b > 0 && diff > a:
		return MinDuration
	}
	return diff
}

// Times returns factor*d for what must not be negative, rounded and saturating; NaN saturates too.
func Times(d time.Duration, factor float64) time.Duration {
	product := math.Round(float64(d) * factor)
	if product < float64(MaxDuration) { // and so not NaN
		return max(time.Duration(product), 0)
	}
	return MaxDuration
}

// Log is math.Log, which is wrong for subnormal numbers on amd64: there it takes 5e-324 for 1e-308.
func Log(x float64) float64 {
	if x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// Finite reports whether x is neither NaN nor infinite. The conversion keeps a product that is passed from being fused
// with the difference, which would then be the product's rounding error.
func Finite(x float64) bool { return float64(x)-float64(x) == 0 }

// Known reports whether a work is known: 0 is, what is negative or not finite is not.
func Known(work float64) bool { return work >= 0 && Finite(work) }

// Works returns a copy of the works with the unknown ones set to the mean of the others, and that mean. If none is
// above 0, all are unknown, and the mean is 1.
func Works(given []float64, n int) ([]float64, float64) {
	work := make([]float64, n)
	copy(work, given)
	sum, known := 0.0, 0
	for _, w := range work {
		if Known(w) && Finite(sum+w) {
			sum += w
			known++
		}
	}
	mean := 1.0
	if sum > 0 {
		mean = sum / float64(known)
	}
	for i, w := range work {
		if !Known(w) || sum == 0 {
			work[i] = mean
		}
	}
	return work, mean
}

// Sized reports whether works say anything of the tasks' sizes: some are known, and above 0.
func Sized(works []float64) bool {
	return slices.ContainsFunc(works, func(w float64) bool { return Known(w) && w > 0 })
}
