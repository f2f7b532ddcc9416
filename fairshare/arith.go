package fairshare

import (
	"math"
	"math/bits"
)

// wide is an unsigned number of 128 bits.
type wide struct{ hi, lo uint64 }

// product returns a*b for non-negative a and b.
func product(a, b int64) (p wide) {
	p.hi, p.lo = bits.Mul64(uint64(a), uint64(b))
	return p
}

func (a wide) less(b wide) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

// compareProducts compares a*b with c*d exactly. All are non-negative.
func compareProducts(a, b, c, d int64) int {
	x, y := product(a, b), product(c, d)
	switch {
	case x.less(y):
		return -1
	case y.less(x):
		return 1
	}
	return 0
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
