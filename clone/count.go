package clone

import (
	"fmt"
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// Count returns the smallest number of clones of each task with which a job straggles with at most the probability
// eps (the paper's ε). The job has n tasks. Each clone straggles with probability p, independently of all other
// clones. The number includes the first attempt [Dolly §3.2, Pseudocode 1 line 2]. For example, ten tasks with p =
// 0.1 and eps = 0.05 need 3 clones each.
//
// Count corrects rounding errors of binary arithmetic. For n = 1, p = 0.1 and eps = 0.1 the result is 1, although
// log(1-0.9)/log(0.1) is slightly above 1 in binary arithmetic. If such a quotient exceeds a whole number by less
// than one part in 10^9, Count uses the whole number. The probability may then exceed eps by less than one part in
// 10^6.
//
// If p is 0, or eps is 1 or more, the result is 1. If the number does not fit in an int, the result is
// [math.MaxInt].
//
// Count returns an error if n < 1, if p is not in [0, 1), or if eps is not positive. Cost: O(1), no allocation
// except for the error.
func Count(n int, p, eps float64) (int, error) {
	if err := checkTasksAndP(n, p); err != nil {
		return 0, err
	}
	if !(eps > 0) {
		return 0, fmt.Errorf("clone: eps is %v, want a risk above 0", eps)
	}
	return count(n, p, eps), nil
}

// checkTasksAndP returns an error if the number of tasks n, or the probability p, is out of range.
func checkTasksAndP(n int, p float64) error {
	if n < 1 {
		return fmt.Errorf("clone: n is %d, want 1 task or more", n)
	}
	if !(p >= 0 && p < 1) {
		return fmt.Errorf("clone: p is %v, want a probability in [0, 1)", p)
	}
	return nil
}

// tie is a relative difference. If a quotient of logarithms exceeds a whole number by at most this much, the
// difference is treated as a rounding error. So the result does not depend on the last digit of math.Log, which
// differs between processors.
const tie = 1e-9

// count does the same as Count. Its arguments must be within their ranges.
func count(n int, p, eps float64) int {
	if p == 0 || eps >= 1 {
		return 1
	}
	x := logMiss(n, eps) / num.Log(p)
	return toInt(max(1, math.Ceil(x-float64(tie*x))))
}

// logMiss returns log(1-(1-eps)^(1/n)): the logarithm of the probability with which each of n tasks may straggle,
// so that the job straggles with probability eps. eps must be in (0, 1).
func logMiss(n int, eps float64) float64 {
	per := math.Log1p(-eps) / float64(n)
	if per > -1e-300 { // 1-exp(per) is -per here, because per is so close to 0
		return num.Log(-math.Log1p(-eps)) - math.Log(float64(n))
	}
	return math.Log(-math.Expm1(per))
}

// toInt converts a positive whole number to an int. If the number is too large for an int, the result is the
// largest int, because Go does not define such a conversion.
func toInt(x float64) int {
	if x >= math.MaxInt {
		return math.MaxInt
	}
	return int(x)
}
