package skew

import (
	"cmp"
	"slices"
)

// LargestFirst appends the indices of sizes to dst, the largest size first and equal ones by index. O(n log n), no
// allocation if dst has the capacity.
func LargestFirst(dst []int, sizes []int64) []int {
	start := len(dst)
	for i := range sizes {
		dst = append(dst, i)
	}
	slices.SortFunc(dst[start:], func(a, b int) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
	return dst
}

// GrahamBound returns 4/3 - 1/(3s): on s equal workers that are free at once, taking tasks largest first, each on the
// worker that is free first, ends no later than this many times the earliest end possible [Graham 1969; Mantri §5.4].
// Fewer than one worker count as one.
func GrahamBound(workers int) float64 {
	return 4./3 - 1/(3*float64(max(workers, 1)))
}

// Balance returns how evenly loads are spread, in percent [DynamicShare §5]:
//
//	Balance = 100 * sum / (R * max)
//
// 100 is even, and 100/R is all on one. Loads that are all 0, or none, are even. A negative load counts as 0. O(n), no
// allocation.
func Balance(loads []int64) float64 {
	var largest, sum float64
	for _, load := range loads {
		size := float64(max(load, 0))
		largest = max(largest, size)
		sum += size
	}
	if largest == 0 {
		return 100
	}
	return min(100, 100*(sum/largest)/float64(len(loads))) // rounding must not make it more than even
}

// Skewness returns how unevenly sizes are spread, in percent [DynamicShare §5]:
//
//	skewness = 100 - 100 * sum / (p * max) = 100 - Balance
//
// 0 is even. (The paper says "the closer the ratio is to 1 the less skewed"; by its formula that is 0.)
func Skewness(sizes []int64) float64 { return 100 - Balance(sizes) }
