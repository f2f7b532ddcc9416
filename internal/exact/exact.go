// Package exact compares and divides products of non-negative int64 without rounding. It also adds, subtracts and
// multiplies integers; if a result is out of range, it returns the nearest number of the type. Use this package if
// a result must be exact on all machines, and a product may have more than 63 bits.
package exact

import (
	"math"
	"math/bits"
)

// Wide is an unsigned integer of 128 bits: Hi has the upper 64 bits, and Lo has the lower 64 bits.
type Wide struct{ Hi, Lo uint64 }

// Product returns a*b. a and b must not be negative.
func Product(a, b int64) (p Wide) {
	p.Hi, p.Lo = bits.Mul64(uint64(a), uint64(b))
	return p
}

// Less reports whether a is less than b.
func (a Wide) Less(b Wide) bool { return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo }

// CompareProducts compares a*b with c*d, and returns -1, 0 or 1. The arguments must not be negative.
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

// MulDiv returns the quotient and the remainder of a*b/c. a and b must not be negative, and b must be at most c.
// Under these conditions the quotient fits into an int64.
func MulDiv(a, b, c int64) (quotient, remainder int64) {
	h, l := bits.Mul64(uint64(a), uint64(b))
	q, r := bits.Div64(h, l, uint64(c))
	return int64(q), int64(r)
}

// Add returns a+b, or the largest number of the type if the sum is too large. a and b must not be negative.
func Add[T int | int64](a, b T) T {
	if sum := a + b; sum >= 0 {
		return sum
	}
	return largest[T]()
}

// Sub returns a-b, or the smallest int64 if the difference is too small. b must not be negative.
func Sub(a, b int64) int64 {
	if diff := a - b; diff <= a {
		return diff
	}
	return math.MinInt64
}

// Mul returns a*b, or the largest number of the type if the product is too large. a and b must not be negative.
func Mul[T int | int64](a, b T) T {
	if h, l := bits.Mul64(uint64(a), uint64(b)); h == 0 && l <= uint64(largest[T]()) {
		return T(l)
	}
	return largest[T]()
}

// largest returns the largest number of the type T. An int has 32 bits on some platforms.
func largest[T int | int64]() T {
	if most := int64(math.MaxInt64); int64(T(most)) == most {
		return T(most)
	}
	return T(int64(math.MaxInt32))
}
