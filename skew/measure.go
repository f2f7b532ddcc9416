package skew

import (
	"cmp"
	"slices"
)

// LargestFirst appends the indices of sizes to dst, the largest size first and equal ones by index: the order in which
// Mantri launches the tasks of a phase [Mantri §5.4]. On s equal workers that are free at once, launching each on the
// one that is free first ends no later than 4/3 - 1/(3s) times the earliest end possible [Graham 1969]. O(n log n), no
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

// Balance returns how evenly sizes or loads are spread, as a share [DynamicShare §5]:
//
//	Balance = sum / (n * max)
//
// 1 is even, and 1/n is all in one. Sizes that are all 0, or none, are even. A negative size counts as 0. The paper
// gives it in percent for the loads of the reduce tasks, and for the sizes of the partitions it gives the skewness,
// which is 1 - Balance(sizes). (It says "the closer the ratio is to 1 the less skewed"; by its formula that is 0.)
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
	return min(1, (sum/largest)/float64(len(sizes))) // rounding must not make it more than even
}
