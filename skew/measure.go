package skew

import (
	"cmp"
	"slices"
)

// LargestFirst appends the indices of sizes to dst, the index of the largest size first. If sizes are equal, the
// lower index is first. Mantri starts the tasks of a phase in this order [Mantri §5.4]. Suppose that s equal
// workers are free at the same time, and that each task starts on the worker that is free first. Then the last task
// ends within 4/3 - 1/(3s) times the earliest possible end [Graham 1969]. O(n log n) for n sizes, no allocation if
// dst has the capacity.
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

// Balance returns how even n sizes or loads are, as a share in (0, 1] [DynamicShare §5]:
//
//	Balance = sum / (n * max)
//
// Here sum is the sum of the sizes, and max is the largest size. 1 means that all sizes are equal, and 1/n means
// that a single size is not 0. If all sizes are 0, or if there are none, Balance is 1. A negative size is treated
// as 0.
//
// The paper gives Balance in percent for the loads of reduce tasks. For the sizes of partitions it gives the
// skewness, which is 1 - Balance(sizes). The paper says "the closer the ratio is to 1 the less skewed", but by its
// formula the skewness of equal sizes is 0.
//
// O(n), no allocation.
func Balance(sizes []int64) float64 {
	var largest, sum float64
	for _, size := range sizes {
		size := float64(max(size, 0))
		largest = max(largest, size)
		sum += size
	}
	if largest == 0 {
		return 1
	}
	return min(1, (sum/largest)/float64(len(sizes))) // a rounding error must not make the result larger than 1
}
