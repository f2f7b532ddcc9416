// Package num holds helpers for numbers that several packages share: saturating conversions between seconds and
// time.Duration, and works that may be unknown.
package num

import (
	"math"
	"slices"
	"time"
)

// Extremes of time.Duration. Conversions and sums saturate at them.
const (
	MaxDuration time.Duration = math.MaxInt64
	MinDuration time.Duration = math.MinInt64
)

// Quarter, Half and ThreeQuarters are the quartiles of a distribution, and the shares beyond them.
const Quarter, Half, ThreeQuarters = 0.25, 0.5, 0.75

// Fraction and Fraction32 are the numbers of bits of the fraction in a float64 and a float32. Bias32 is the
// difference between the exponent bits of a float32 and the power of two.
const Fraction, Fraction32, Bias32 = 52, 23, 127

// Duration converts seconds to the nearest time.Duration. Values beyond the range saturate, infinities included.
// Duration reports false for NaN, which has no duration. The conversion is monotone: a longer time never gives a shorter
// duration, so a threshold cannot be crossed by an overflow.
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

// Times returns factor*d for a result that must not be negative, rounded. The result saturates at 0 and MaxDuration; NaN
// gives MaxDuration.
func Times(d time.Duration, factor float64) time.Duration {
	product := math.Round(float64(d) * factor)
	if product < float64(MaxDuration) { // false for NaN
		return max(time.Duration(product), 0)
	}
	return MaxDuration
}

// Log is math.Log, corrected for subnormal numbers. On amd64 math.Log treats 5e-324 as 1e-308.
func Log(x float64) float64 {
	if x < 0x1p-1022 {
		return math.Log(x*0x1p54) - 54*math.Ln2
	}
	return math.Log(x)
}

// Finite reports whether x is a number and not infinite. The conversions prevent a fused multiply-subtract if the
// argument is a product: the difference would then be the rounding error of the product.
func Finite(x float64) bool { return float64(x)-float64(x) == 0 }

// Known reports whether a work is known: 0 is known; a negative number, NaN and infinity are unknown.
func Known(work float64) bool { return work >= 0 && Finite(work) }

// Works returns a copy of the works, and the mean of the known works. In the copy, unknown works are set to the
// mean. If no work is above 0, all works are unknown and the mean is 1.
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

// Sized reports whether works say something about the tasks' sizes: at least one work is known and above 0.
func Sized(works []float64) bool {
	return slices.ContainsFunc(works, func(w float64) bool { return Known(w) && w > 0 })
}
