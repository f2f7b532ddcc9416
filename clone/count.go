package clone

import (
	"fmt"
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// Count returns c, the smallest number of clones of each task that keeps the risk of a job within eps (ε). The job has n
// tasks. Each clone straggles with probability p, independently of all others. c includes the first attempt [Dolly §3.2,
// Pseudocode 1 line 2]. For example, ten tasks with p = 0.1 and eps = 0.05 need 3 clones each.
//
// Arguments are decimal numbers. For n = 1, p = 0.1 and eps = 0.1 the answer is 1, although the binary value of
// log(1-0.9)/log(0.1) is above 1. So Count takes a quotient as a whole number if it exceeds that number by less than one
// part in 10^9. The risk may then exceed eps by less than one part in 10^6.
//
// If p is 0, or eps is 1 or more, the answer is 1. If c does not fit into an int, the answer is [math.MaxInt].
//
// The error names the argument if n < 1, if p is not in [0, 1), or if eps is not positive. O(1), no allocation except for
// the error.
func Count(n int, p, eps float64) (int, error) {
	if err := checkTasksAndP(n, p); err != nil {
		return 0, err
	}
	if !(eps > 0) {
		return 0, fmt.Errorf("clone: eps is %v, want a risk above 0", eps)
	}
	return count(n, p, eps), nil
}

// checkTasksAndP returns an error if n or p is out of range.
func checkTasksAndP(n int, p float64) error {
	if n < 1 {
		return fmt.Errorf("clone: n is %d, want 1 task or more", n)
	}
	if !(p >= 0 && p < 1) {
		return fmt.Errorf("clone: p is %v, want a probability in [0, 1)", p)
	}
	return nil
}

// tie is a relative distance. A quotient of logarithms of decimal numbers may exceed a whole number by this much, only
// because of rounding. tie also hides that math.Log may differ in its last digit between processors.
const tie = 1e-9

// count is Count for arguments within their ranges.
func count(n int, p, eps float64) int {
	if p == 0 || eps >= 1 {
		return 1
	}
	x := logMiss(n, eps) / num.Log(p)
	return toInt(max(1, math.Ceil(x-float64(tie*x))))
}

// logMiss returns log(1-(1-eps)^(1/n)), the logarithm of the risk allowed to each task, for any n and eps in (0, 1).
func logMiss(n int, eps float64) float64 {
	per := math.Log1p(-eps) / float64(n)
	if per > -1e-300 { // per is so close to 0 that 1-exp(per) equals -per
		return num.Log(-math.Log1p(-eps)) - math.Log(float64(n))
	}
	return math.Log(-math.Expm1(per))
}

// toInt converts a positive whole number to an int. Large numbers saturate, because Go does not define the conversion
// of a float64 that is too large.
func toInt(x float64) int {
	if x >= math.MaxInt {
		return math.MaxInt
	}
	return int(x)
}
