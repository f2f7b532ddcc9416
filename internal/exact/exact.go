// Package exact compares and divides products of non-negative int64 without rounding. The package adds, subtracts and
// multiplies without wrapping round. Use it if a result must be exact on all machines, and a product may exceed 63
// bits.
package exact

import (
	"math"
	"math/bits"
)

// Wide is an unsigned number of 128 bits.
type Wide struct{ Hi, Lo uint64 }

// Product returns a*b for non-negative a and b.
func Product(a, b int64) (p Wide) {
	p.Hi, p.Lo = bits.Mul64(uint64(a), uint64(b))
	return p
}

// Less reports whether a is less than b.
func (a Wide) Less(b Wide) bool { return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo }

// CompareProducts compares a*b with c*d. All are non-negative.
func CompareProducts(a, b, c, d int64) int {
	x, y := Product(a, b), Product(c, d)
	switch {
	case x.Less(y):
		return -1
	case y.Less(x):
		return 1
	}
	return 0
}

// MulDiv returns the quotient and the remainder of a*b/c for 0 <= a and 0 <= b <= c. Under these conditions the
// quotient fits into an int64.
func MulDiv(a, b, c int64) (quotient, remainder int64) {
	h, l := bits.Mul64(uint64(a), uint64(b))
	q, r := bits.Div64(h, l, uint64(c))
	return int64(q), int64(r)
}

// Add returns a+b for non-negative a and b. The sum saturates at the largest number.
func Add[T int | int64](a, b T) T {
	if sum := a + b; sum >= 0 {
		return sum
	}
	return largest[T]()
}

// Sub returns a-b for a non-negative b. The difference saturates at the smallest int64.
func Sub(a, b int64) int64 {
	if diff := a - b; diff <= a {
		return diff
	}
	return math.MinInt64
}

// Mul returns a*b for non-negative a and b. The product saturates at the largest number.
func Mul[T int | int64](a, b T) T {
	if h, l := bits.Mul64(uint64(a), uint64(b)); h == 0 && l <= uint64(largest[T]()) {
		return T(l)
	}
	return largest[T]()
}

// largest returns the largest number of the type; an int may have 32 bits.
func largest[T int | int64]() T {
	if most := int64(math.MaxInt64); int64(T(most)) == most {
		return T(most)
	}
	return T(int64(math.MaxInt32))
}
