// Package num holds what packages share about numbers: clamped conversions of seconds and time.Duration, unknown works.
package num

import (
	"math"
	"time"
)

// Extremes of time.Duration, to which conversions and sums saturate.
const (
	MaxDuration time.Duration = math.MaxInt64
	MinDuration time.Duration = math.MinInt64
)

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

// Finite reports whether x is neither NaN nor infinite.
func Finite(x float64) bool { return x-x == 0 }

// Works returns a copy of the works with the unknown ones set to the mean of the others, and that mean; 1 if none is
// known.
func Works(given []float64, n int) ([]float64, float64) {
	work := make([]float64, n)
	copy(work, given)
	sum, known := 0.0, 0
	for _, w := range work {
		if w > 0 && Finite(sum+w) {
			sum += w
			known++
		}
	}
	mean := 1.0
	if known > 0 {
		mean = sum / float64(known)
	}
	for i, w := range work {
		if !(w > 0 && Finite(w)) {
			work[i] = mean
		}
	}
	return work, mean
}
