package fairshare

import (
	"cmp"
	"math"
	"math/bits"
)

// compareProducts compares a*b with c*d exactly. All are non-negative.
func compareProducts(a, b, c, d int64) int {
	h1, l1 := bits.Mul64(uint64(a), uint64(b))
	h2, l2 := bits.Mul64(uint64(c), uint64(d))
	if h1 != h2 {
		return cmp.Compare(h1, h2)
	}
	return cmp.Compare(l1, l2)
}

// mulDiv returns the quotient and the remainder of a*b/c for 0 <= a and 0 <= b <= c, so that the quotient fits.
func mulDiv(a, b, c int64) (quotient, remainder int64) {
	h, l := bits.Mul64(uint64(a), uint64(b))
	q, r := bits.Div64(h, l, uint64(c))
	return int64(q), int64(r)
}

// addSaturating returns a+b for non-negative a and b, or the largest int64 if that is less.
func addSaturating(a, b int64) int64 {
	if sum := a + b; sum >= 0 {
		return sum
	}
	return math.MaxInt64
}

// subSaturating returns a-b for a non-negative b, or the smallest int64 if that is more.
func subSaturating(a, b int64) int64 {
	if diff := a - b; diff <= a {
		return diff
	}
	return math.MinInt64
}
