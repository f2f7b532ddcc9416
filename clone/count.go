package clone

import (
	"fmt"
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// Count returns c, the least number of copies of each of n tasks, the first copies included, with which a job straggles
// with probability at most eps (ε), if each copy straggles with probability p independently of all others [Dolly §3.2,
// Pseudocode 1 line 2].
//
// Decimals are meant as decimals: for n = 1, p = 0.1 and eps = 0.1 the answer is 1, although in binary
// log(1-0.9)/log(0.1) comes out above 1. To that end a quotient within one part in 10^9 above a whole number counts as
// that number, by which the risk may exceed eps by less than one part in 10^6. Nothing straggles if p is 0, and one
// copy meets a risk of 1 or more. A count that an int does not hold comes out as [math.MaxInt].
//
// It is an error if n < 1, if p is not in [0, 1), or if eps is not positive. O(1), no allocation except for the error.
func Count(n int, p, eps float64) (int, error) {
	if err := checkTasksAndP(n, p); err != nil {
		return 0, err
	}
	if !(eps > 0) {
		return 0, fmt.Errorf("clone: eps is %v, want a risk above 0", eps)
	}
	return count(n, p, eps), nil
}

func checkTasksAndP(n int, p float64) error {
	if n < 1 {
		return fmt.Errorf("clone: n is %d, want 1 task or more", n)
	}
	if !(p >= 0 && p < 1) {
		return fmt.Errorf("clone: p is %v, want a probability in [0, 1)", p)
	}
	return nil
}

// tie is how far above a whole number, relatively, a quotient of logarithms of decimals may come out by rounding alone.
// It also hides that math.Log may differ in its last digit between processors.
const tie = 1e-9

// count is Count for arguments that are in range.
func count(n int, p, eps float64) int {
	if p == 0 || eps >= 1 {
		return 1
	}
	x := logMiss(n, eps) / num.Log(p)
	return toInt(max(1, math.Ceil(x-float64(tie*x))))
}

// logMiss returns log(1-(1-eps)^(1/n)), the logarithm of the risk that each task may run, for any n and eps in (0, 1).
func logMiss(n int, eps float64) float64 {
	per := math.Log1p(-eps) / float64(n)
	if per > -1e-300 { // too small to be told from 0 soon; there 1-exp(per) is -per
		return num.Log(-math.Log1p(-eps)) - math.Log(float64(n))
	}
	return math.Log(-math.Expm1(per))
}

// toInt converts a positive whole number, saturating: the conversion of a float64 that is too large is undefined.
func toInt(x float64) int {
	if x >= math.MaxInt {
		return math.MaxInt
	}
	return int(x)
}
