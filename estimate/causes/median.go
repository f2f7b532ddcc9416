package causes

import (
	"math/bits"
	"slices"
)

// Median returns the median of x: the smallest value in x such that at least half of the values are not larger. Of 5 s
// and 9 s it is 5 s. So the median of a phase is the time of one of its tasks, as in "1.5x the median task" [Mantri
// §4.1]. A host that compares tasks with the median of their phase, as [Explain] does, should use Median for it.
//
// It returns 0 if x is empty. Median changes the order of x, and x must not contain NaN. O(n), and O(n log n) at worst.
func Median[T ~int64 | ~float64](x []T) T {
	if len(x) == 0 {
		var none T
		return none
	}
	return selectAt(x, middleOf(len(x)))
}

// middleOf returns the index of the median among n sorted values.
func middleOf(n int) int { return (n - 1) / 2 }

// selectAt returns the value that would be at index k if x were sorted. selectAt changes the order of x: afterwards
// no value before index k is larger than the value at k, and no value after index k is smaller.
func selectAt[T ~int64 | ~float64](x []T, k int) T {
	all := x
	at := k
	for rounds := 2 * bits.Len(uint(len(x))); len(x) > 12 && rounds > 0; rounds-- {
		low, high := partition(x, pivot(x))
		switch {
		case at < low:
			x = x[:low]
		case at >= high:
			x, at = x[high:], at-high
		default:
			return x[at]
		}
	}
	slices.Sort(x)
	return all[k]
}

// pivot returns the median of three values of x. If x is long, pivot returns the median of three such medians.
func pivot[T ~int64 | ~float64](x []T) T {
	n := len(x)
	if n < 200 {
		return middle(x[0], x[n/2], x[n-1])
	}
	k := n / 8
	return middle(middle(x[0], x[k], x[2*k]), middle(x[3*k], x[4*k], x[5*k]), middle(x[6*k], x[7*k], x[n-1]))
}

func middle[T ~int64 | ~float64](a, b, c T) T { return max(min(a, b), min(max(a, b), c)) }

// partition changes the order of x: first the values less than p, then the values equal to p, then the values
// greater than p. It returns the index at which the second part begins and the index at which the third part
// begins.
func partition[T ~int64 | ~float64](x []T, p T) (low, high int) {
	high = len(x)
	for i := 0; i < high; {
		switch v := x[i]; {
		case v < p:
			x[i], x[low] = x[low], v
			low++
			i++
		case v > p:
			high--
			x[i], x[high] = x[high], v
		default:
			i++
		}
	}
	return low, high
}
