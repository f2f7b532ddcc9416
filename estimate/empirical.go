package estimate

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// MaxSample is the largest value that an [Empirical] takes. In seconds it is longer than the universe has existed.
const MaxSample = 1e18

// Empirical is the exact distribution of a changing multiset of values: each of its n values has probability 1/n. It
// keeps every value, in a B+ tree with counts. Insert, Delete, Below, CDF and Quantile take O(log n), Mean and Len O(1).
// It needs 12 to 20 bytes a value, and allocates only when it grows beyond the largest size it has had.
//
// The zero value is empty and ready to use. An empty distribution is that of a time that never comes: its mean and
// quantiles are +Inf and its probabilities 0.
//
// Not safe for concurrent use; one per phase.
type Empirical struct {
	tree  tree
	sum   float64
	carry float64 // what rounding took from sum [Neumaier 1974]
}

// Insert adds a value and reports whether it was taken: NaN, negative values and values above [MaxSample] are not.
func (e *Empirical) Insert(x float64) bool {
	if !(x >= 0 && x <= MaxSample) {
		return false
	}
	e.tree.insert(x)
	e.add(x)
	return true
}

// Delete removes one value equal to x and reports whether there was one.
func (e *Empirical) Delete(x float64) bool {
	if !e.tree.remove(x) {
		return false
	}
	if e.tree.len() == 0 {
		e.sum, e.carry = 0, 0
		return true
	}
	e.add(-x)
	return true
}

// Reset removes all values and keeps the memory.
func (e *Empirical) Reset() {
	e.tree.reset()
	e.sum, e.carry = 0, 0
}

func (e *Empirical) add(x float64) {
	sum := e.sum + x
	if math.Abs(e.sum) >= math.Abs(x) {
		e.carry += (e.sum - sum) + x
	} else {
		e.carry += (x - sum) + e.sum
	}
	e.sum = sum
}

// Len returns the number of values.
func (e *Empirical) Len() int { return e.tree.len() }

// Mean returns the mean, from a sum that is kept with compensation for rounding.
func (e *Empirical) Mean() float64 {
	if e.tree.len() == 0 {
		return math.Inf(1)
	}
	return max(0, (e.sum+e.carry)/float64(e.tree.len()))
}

// Rank returns the number of values below x, strictly less.
func (e *Empirical) Rank(x float64) int { return e.tree.rank(x, false) }

// Below returns P(X < x), strictly less: the share of the values below x.
func (e *Empirical) Below(x float64) float64 { return e.share(e.tree.rank(x, false)) }

// CDF returns P(X <= x).
func (e *Empirical) CDF(x float64) float64 { return e.share(e.tree.rank(x, true)) }

func (e *Empirical) share(rank int) float64 {
	if e.tree.len() == 0 {
		return 0
	}
	return float64(rank) / float64(e.tree.len())
}

// At returns the i-th smallest value, counted from 0. An index outside the range is moved to its nearer end.
func (e *Empirical) At(i int) float64 {
	n := e.tree.len()
	if n == 0 {
		return math.Inf(1)
	}
	return e.tree.at(min(max(i, 0), n-1))
}

// Quantile returns the smallest value x with CDF(x) >= p, which is the value at index ceil(p*n)-1: the definition that
// gonum calls stat.Empirical. It does not interpolate. A p outside [0, 1] counts as the nearer end, NaN as 0.
func (e *Empirical) Quantile(p float64) float64 {
	n := e.tree.len()
	switch {
	case !(p > 0):
		return e.At(0)
	case p >= 1:
		return e.At(n - 1)
	}
	// In floating point p*n may land just beyond a whole number that p stands for: (1/49)*49 is 1, but 0.07*100 is
	// 7.000000000000001. Half a unit in the last place of n decides nothing that a caller could have meant.
	rank := math.Ceil(p*float64(n) - float64(n)*0x1p-52)
	return e.At(int(rank) - 1)
}

// Median returns the middle value, or the mean of the two middle values.
func (e *Empirical) Median() float64 {
	n := e.tree.len()
	low, high := e.At((n-1)/2), e.At(n/2)
	if !num.Finite(low) {
		return low
	}
	return low + (high-low)/2
}
