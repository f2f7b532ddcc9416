package estimate

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// MaxSample is the largest value that an [Empirical] accepts. As a number of seconds, MaxSample is longer than the
// age of the universe.
const MaxSample = 1e18

// Empirical is the exact distribution of a changing multiset of values: each of its n values has probability 1/n.
// Empirical keeps every value, in sorted blocks with counts. Below, CDF and Quantile take O(log n), Mean and Len O(1).
// Insert and Delete take O(log n) and a move of up to 256 values. They also take n/50,000 steps on average, for blocks
// that are split and merged; up to ten million values this is the smaller part.
//
// Memory depends on the order of inserts. A million values need about 12 bytes a value after inserts in random order,
// and 20 bytes after inserts in sorted order. If the values keep changing, they need 16 bytes a value. Memory is
// kept when values are deleted, and used again. An insert allocates only when more blocks are needed than ever before.
//
// The zero value is empty and ready to use. An empty distribution describes a time that never comes: its mean and
// quantiles are +Inf and its probabilities 0.
//
// Not safe for concurrent use: each phase needs a separate value. A copy of the struct shares its memory: pass a pointer.
type Empirical struct {
	values sorted
	sum    num.Sum
}

// Insert adds a value and reports whether it accepted the value. Insert refuses NaN, negative values and values
// above [MaxSample]. Once there are 2^31-1 values, Insert refuses every value.
func (e *Empirical) Insert(x float64) bool {
	if !(x >= 0 && x <= MaxSample) || e.values.size == maxSize {
		return false
	}
	// -0 becomes 0; otherwise the answers would depend on which of the two zeros came first.
	x += 0
	e.values.insert(x)
	e.sum.Add(x)
	return true
}

// Delete removes one value equal to x and reports whether there was such a value.
func (e *Empirical) Delete(x float64) bool {
	if !e.values.remove(x) {
		return false
	}
	if e.values.size == 0 {
		e.sum = num.Sum{}
		return true
	}
	e.sum.Add(-x)
	return true
}

// replace exchanges one value equal to old for x, as Delete and Insert would, and reports whether it did. x must be
// a value that Insert accepts. If values move little, replace does much less work than Delete and Insert.
func (e *Empirical) replace(old, x float64) bool {
	if !(x >= 0 && x <= MaxSample) || !e.values.replace(old, x+0) {
		return false
	}
	if e.values.size == 1 {
		e.sum = num.Sum{}
	} else {
		e.sum.Add(-old)
	}
	e.sum.Add(x)
	return true
}

// Reset removes all values and keeps the memory.
func (e *Empirical) Reset() {
	e.values.reset()
	e.sum = num.Sum{}
}

// Len returns the number of values.
func (e *Empirical) Len() int { return e.values.size }

// Mean returns the mean of the values. Its sum has twice the precision of a float64. So the mean does not drift,
// and a large value that was inserted and deleted leaves no error.
func (e *Empirical) Mean() float64 {
	if e.values.size == 0 {
		return math.Inf(1)
	}
	return max(0, e.sum.Value()/float64(e.values.size))
}

// Rank returns the number of values below x, strictly less.
func (e *Empirical) Rank(x float64) int { return e.values.rank(x) }

// Below returns P(X < x), strictly less: the share of the values below x.
func (e *Empirical) Below(x float64) float64 { return e.share(e.values.rank(x)) }

// CDF returns P(X <= x): the share of the values below the next larger float64.
func (e *Empirical) CDF(x float64) float64 {
	return e.share(e.values.rank(math.Nextafter(x, math.Inf(1))))
}

func (e *Empirical) share(rank int) float64 {
	if e.values.size == 0 {
		return 0
	}
	return float64(rank) / float64(e.values.size)
}

// At returns the i-th smallest value, counted from 0. An index outside the range is moved to its nearer end.
func (e *Empirical) At(i int) float64 {
	n := e.values.size
	if n == 0 {
		return math.Inf(1)
	}
	return e.values.kth(min(max(i, 0), n-1))
}

// Quantile returns the smallest value x with CDF(x) >= p, which is the value at index ceil(p*n)-1. gonum calls this
// definition stat.Empirical. Quantile does not interpolate. A p outside [0, 1] counts as the nearer end, NaN as 0.
func (e *Empirical) Quantile(p float64) float64 {
	return e.At(quantileIndex(p, e.values.size))
}

// quantileIndex returns the index of the p-quantile among n sorted values.
func quantileIndex(p float64, n int) int {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return n - 1
	}
	// In floating point p*n may be slightly above the whole number k if p stands for k/n: 0.07*100 is
	// 7.000000000000001. The roundings of p and of the product each cost at most k*2^-53, so their sum is less than
	// the subtracted term. The conversion forbids a fused multiply-subtract: one answer everywhere.
	return int(math.Ceil(float64(p*float64(n))-float64(float64(n)*0x1p-52))) - 1
}
