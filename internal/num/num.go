// Package num contains helpers for numbers that several packages use: conversions between seconds and time.Duration
// that return the nearest possible value if a number is out of range, and amounts of work that may be unknown.
package num

import (
	"math"
	"slices"
	"time"
)

// MaxDuration and MinDuration are the longest and the shortest time.Duration. A conversion or a sum that is out of
// range returns the nearer limit.
const (
	MaxDuration time.Duration = math.MaxInt64
	MinDuration time.Duration = math.MinInt64
)

// Quarter, Half and ThreeQuarters are shares: a quarter, a half and three quarters. They are used for the quartiles
// of a distribution.
const Quarter, Half, ThreeQuarters = 0.25, 0.5, 0.75

// Fraction is the number of bits of the fraction in a float64, and Fraction32 is the same number for a float32.
// Bias32 is the number that a float32 adds to the exponent of two when it stores the exponent.
const Fraction, Fraction32, Bias32 = 52, 23, 127

// Duration converts seconds to the nearest time.Duration. For a number of seconds out of range, including the
// infinities, it returns [MaxDuration] or [MinDuration]. For NaN it returns 0 and false. A longer time never gives
// a shorter duration, so an overflow cannot change whether a time is above a threshold.
func Duration(seconds float64) (time.Duration, bool) {
	ns := math.Round(seconds * 1e9)
	switch {
	case math.IsNaN(ns):
		return 0, false
	case ns >= math.MaxInt64: // the float64 nearest to MaxInt64 is 2^63, which is larger by 1
		return MaxDuration, true
	case ns <= math.MinInt64:
		return MinDuration, true
	}
	return time.Duration(ns), true
}

// Add returns a+b, or [MaxDuration] or [MinDuration] if the sum is out of range.
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

// Sub returns a-b, or [MaxDuration] or [MinDuration] if the difference is out of range.
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

// Times returns factor*d, rounded to nanoseconds and at least 0. If the product is too large, or is NaN, Times
// returns [MaxDuration].
func Times(d time.Duration, factor float64) time.Duration {
	product := math.Round(float64(d) * factor)
	if product < float64(MaxDuration) { // this is false for NaN
		return max(time.Duration(product), 0)
	}
	return MaxDuration
}

// Log returns the natural logarithm of x, as math.Log does, but is also right for subnormal numbers, which are the
// tiniest float64s. On amd64, math.Log treats 5e-324 as 1e-308.
func Log(x float64) float64 {
	if x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// Power returns x to the power of n, 1 for n <= 0. It uses only products, so that the result is the same on every
// machine. O(log n).
func Power(x float64, n int) float64 {
	power := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			power *= x
		}
		x *= x
	}
	// The conversion prevents a fused multiply-add after inlining.
	return float64(power)
}

// Finite reports whether x is a finite number: not NaN and not infinite. The conversions prevent a fused
// multiply-subtract: if the argument is a product, a fused difference would be the rounding error of the product,
// and not 0.
func Finite(x float64) bool { return float64(x)-float64(x) == 0 }

// Known reports whether the work of a task is known. 0 is a known work; a negative number, NaN and infinity mean
// that the work is not known.
func Known(work float64) bool { return work >= 0 && Finite(work) }

// Works returns the work of n tasks, and the mean of the known works. If the work of a task is not known, the task
// gets the mean. If no work is above 0, no work is known: each task gets 1, and the mean is 1. Tasks without an
// entry in given have the work 0.
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

// Sized reports whether the works of tasks show how the tasks differ in size: at least one work must be known and
// above 0.
func Sized(works []float64) bool {
	return slices.ContainsFunc(works, func(w float64) bool { return Known(w) && w > 0 })
}
