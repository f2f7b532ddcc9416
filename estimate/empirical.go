package estimate

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// MaxSample is the largest value that an [Empirical] and a curve of package survival accept. If the values are
// seconds, MaxSample is longer than the age of the universe.
const MaxSample = 1e18

// Empirical is the exact distribution of a set of n values that changes: each value has the probability 1/n. The same
// value may occur several times. Empirical stores every value, in sorted blocks with counts. Below, CDF and Quantile
// take O(log n). Mean and Len take O(1). Insert and Delete take O(log n) and move up to 256 values. They also split and
// merge blocks, which takes n/50,000 steps for each insert on average. Up to a million values, this is the smaller
// part; with ten million values an insert takes some 3 µs.
//
// The memory depends on the order of the inserts. A million values need about 12 bytes per value if they were inserted
// in random order, and 20 bytes per value if they were inserted in sorted order. If values are deleted and inserted all
// the time, they need 16 bytes per value. The memory of deleted values is not returned to Go; later inserts use it. An
// insert allocates only when more blocks are needed than ever before.
//
// The zero value is empty and ready to use. An empty distribution describes a time that never comes: its mean and
// quantiles are +Inf and its probabilities are 0.
//
// Not safe for concurrent use: each phase needs a separate value. A copy of the struct shares memory with the
// original, so pass a pointer.
type Empirical struct {
	values sorted
	sum    num.Sum
}

// Insert adds the value x and reports whether it did so. Insert refuses NaN, negative values and values above
// [MaxSample]. If the distribution already has 2^31-1 values, Insert refuses every value.
func (e *Empirical) Insert(x float64) bool {
	if !(x >= 0 && x <= MaxSample) || e.values.size == maxSize {
		return false
	}
	// This addition turns -0 into 0. Otherwise the answers would depend on which of the two zeros was inserted
	// first.
	x += 0
	e.values.insert(x)
	e.sum.Add(x)
	return true
}

// Delete removes a single value equal to x, even if x occurs several times. Delete reports whether there was such a
// value.
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

// replace removes a single value equal to old and inserts x, and reports whether it did so. If there is no value
// equal to old, or if Insert would refuse x, replace changes nothing. If old and x are close to each other, replace
// does much less work than Delete and Insert.
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

// Reset removes all values and keeps the memory for later inserts.
func (e *Empirical) Reset() {
	e.values.reset()
	e.sum = num.Sum{}
}

// Len returns the number of values.
func (e *Empirical) Len() int { return e.values.size }

// Mean returns the mean of the values, or +Inf if there are none. The sum of the values is stored with twice the
// precision of a float64. So the mean stays right after many inserts and deletes, and a large value that was
// inserted and deleted leaves no error.
func (e *Empirical) Mean() float64 {
	if e.values.size == 0 {
		return math.Inf(1)
	}
	return max(0, e.sum.Value()/float64(e.values.size))
}

// Rank returns the number of values that are strictly less than x.
func (e *Empirical) Rank(x float64) int { return e.values.rank(x) }

// Below returns P(X < x): the share of the values that are strictly less than x.
func (e *Empirical) Below(x float64) float64 { return e.share(e.values.rank(x)) }

// CDF returns P(X <= x): the share of the values that are at most x. CDF computes it as the share of the values
// that are less than the next larger float64.
func (e *Empirical) CDF(x float64) float64 {
	return e.share(e.values.rank(math.Nextafter(x, math.Inf(1))))
}

func (e *Empirical) share(rank int) float64 {
	if e.values.size == 0 {
		return 0
	}
	return float64(rank) / float64(e.values.size)
}

// At returns the i-th smallest value, where the smallest value has i = 0. If i is outside the range, At returns the
// smallest or the largest value. At returns +Inf if there are no values.
func (e *Empirical) At(i int) float64 {
	n := e.values.size
	if n == 0 {
		return math.Inf(1)
	}
	return e.values.kth(min(max(i, 0), n-1))
}

// Quantile returns the smallest value x with CDF(x) >= p. With n sorted values this is the value at the index
// ceil(p*n)-1. gonum calls this definition stat.Empirical. Quantile does not interpolate between values. A p
// outside [0, 1] is moved to the nearer end of that range, and NaN is moved to 0.
func (e *Empirical) Quantile(p float64) float64 {
	return e.At(quantileIndex(p, e.values.size))
}

// quantileIndex returns the index of the p-quantile among n sorted values: ceil(p*n)-1, or the nearest index that
// exists.
func quantileIndex(p float64, n int) int {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return n - 1
	}
	// If p is meant as the fraction k/n, the product p*n should be k. In floating point the product may be slightly
	// above k: 0.07*100 is 7.000000000000001. The rounding of p and the rounding of the product each add an error
	// of at most k*2^-53. The subtracted term is larger than the sum of both errors. The conversions to float64
	// prevent a fused multiply-subtract, so that all processors give the same result.
	return int(math.Ceil(float64(p*float64(n))-float64(float64(n)*0x1p-52))) - 1
}
