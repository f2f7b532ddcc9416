package survival

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// A Pareto tail falls like a power of the time: P(T > t) is proportional to t^-index. The larger the index is, the
// faster the tail falls.
const (
	// TailIndex is the index of the whole tail before half of the tasks have ended. It is also the least index of a
	// body (the ordinary tasks). A task that has run for a is expected to run for a/(TailIndex-1) more, which is a/2.
	TailIndex = 3
	// OutlierIndex is the index of the tail of outliers (tasks that take much longer than others). An outlier is
	// expected to run for as long again as it has run. The number is a choice between TailIndex and 1.2. The index
	// 1.2 fits the tenth of the outliers that take more than 10 times the median [Mantri §4.1].
	OutlierIndex = 2
	// SilentIndex is the index of the tail of outliers if tasks report no progress. An outlier is expected to run for
	// four times as long again as it has run. The number is close to the 1.2 that is measured for the longest
	// outliers [Mantri §4.1]. A power of 1.25 needs only two square roots, so that every machine gives the same
	// result.
	SilentIndex = 1.25
	// OutlierFrom is the least time of an outlier, as a multiple of the median time [Mantri §4.1].
	OutlierFrom = 1.5
	// OutlierShare is the share of all tasks that are expected to be outliers, before any outlier is seen. The number
	// is a choice.
	OutlierShare = 0.05

	// mostIndex is the largest index of a body. A larger index would mean that all tasks take almost the same time.
	mostIndex = 32
)

// quarterLeft is a constant of the log-logistic distribution, P(T > t) = 1/(1 + (t/median)^index). A quarter of the
// tasks take longer than t if (t/median)^index is 3, because 1/(1+3) = 1/4.
const quarterLeft = 1/num.Quarter - 1

// tail is the distribution of the times beyond the longest value L of a curve: P(T > t | T > L) for t >= L. It is a
// mixture of two Pareto tails: of the outliers, and of the ordinary tasks (the body). The longer a task has run, the
// less probably it ends in the next moment. So its expected total time never falls.
type tail struct {
	// The time at which the tail begins: the longest value of the curve.
	from float64
	// The probability that a task is an outlier if it has run until the beginning of the tail.
	outlier float64
	// The Pareto index of the ordinary tasks (the body), an exponent: the larger it is, the faster their tail falls.
	index int32
	// True if the outliers have the Pareto index SilentIndex. Otherwise they have OutlierIndex.
	silent bool
}

// outlierIndex returns the Pareto index of the outliers, an exponent: the larger it is, the faster their tail falls.
func (t tail) outlierIndex() float64 {
	if t.silent {
		return SilentIndex
	}
	return OutlierIndex
}

// powerOfOutliers returns q to the power i-1, where i is the Pareto index of the outliers.
func (t tail) powerOfOutliers(q float64) float64 {
	if t.silent {
		return math.Sqrt(math.Sqrt(q))
	}
	return q
}

// newTail returns the tail beyond the longest value of a curve. The arguments lower, median and upper are quartiles:
// three quarters of the tasks take longer than lower, half of them longer than median, and a quarter longer than
// upper. A quartile is 0 if the curve does not know it.
//
// The body is log-logistic: P(T > t) = 1 / (1 + (t/median)^index). So it ends in a Pareto tail of that index. The
// index is computed from the wider of two ratios: median/lower and upper/median.
func newTail(longest, lower, median, upper float64, silent bool) tail {
	t := tail{from: longest, index: TailIndex, silent: silent}
	if median > 0 {
		body := ordinary{median, bodyIndex(max(median/lower, upper/median))}
		t.index, t.outlier = int32(body.index), body.outlier(longest)
	}
	return t
}

// bodyIndex returns the index of a body, given the ratio wide of two neighbouring quartiles: a quarter of the tasks
// take between median and median*wide, or between median/wide and median.
func bodyIndex(wide float64) int {
	index := TailIndex
	for index < mostIndex && num.Power(wide, index+1) <= quarterLeft {
		index++
	}
	return index
}

// ordinary is the distribution of the times of ordinary tasks, which are no outliers. It is log-logistic. The median is
// above 0.
type ordinary struct {
	median float64
	index  int
}

// outlier returns the probability that a task is an outlier, if it takes the time t in all.
func (b ordinary) outlier(t float64) float64 {
	// The shortest tasks are not outliers, so times below the median are treated like the median.
	t = max(t, b.median)
	q := min(1, OutlierFrom*b.median/t)
	// The conversions prevent fused multiply-adds, so that every machine gives the same result.
	outlier := float64(OutlierShare * float64(q*q))
	body := float64((1 - OutlierShare) * (1 / (1 + num.Power(t/b.median, b.index))))
	if !(body > 0) {
		return 1
	}
	return outlier / (outlier + body)
}

// shares returns the probability that a task takes longer than x, P(T > x), in two parts: the part of the outliers
// and the part of the body.
func (t tail) shares(x float64) (outlier, body float64) {
	q := t.from / x
	return float64(t.outlier * (q * t.powerOfOutliers(q))), float64((1 - t.outlier) * num.Power(q, int(t.index)))
}

// above returns the probability that a task takes longer than x, P(T > x). Argument x must be at least the time at
// which the tail begins.
func (t tail) above(x float64) float64 {
	outlier, body := t.shares(x)
	return outlier + body
}

// at returns the tail for a task that has run for the time a. Argument a must be at least the time at which the tail
// begins.
func (t tail) at(a float64) tail {
	if outlier, body := t.shares(a); outlier > 0 {
		t.outlier = outlier / (outlier + body)
	} else if t.outlier > 0 {
		// The time a is so large that the share of the body is 0 as a float64.
		t.outlier = 1
	}
	t.from = a
	return t
}

// mean returns the expected remaining time of a task that has run until the beginning of the tail.
func (t tail) mean() float64 {
	return t.from * (t.outlier/(t.outlierIndex()-1) + (1-t.outlier)/float64(t.index-1))
}

// root returns a number that is a little above the n-th root of a share, and never below it. Argument n must be at
// least 3. The bits of a float64, read as an integer, approximate the logarithm of the number by straight lines.
func root(share float64, n int) float64 {
	one := int64(math.Float64bits(1))
	return math.Float64frombits(uint64(one + (int64(math.Float64bits(share))-one)/int64(n)))
}

// quantile returns the time that only the given share of the tasks exceeds. It finds the time L/q with Newton's
// method, where L is the beginning of the tail. P(T > L/q) is convex in q, so q is approached from above, in about
// five steps. q is at most 1, so a share of 1 or more gives L.
func (t tail) quantile(share float64) float64 {
	if share <= 0 {
		return math.Inf(1)
	}
	// far is an upper bound of q: the solution for the outliers alone, without the body. It is above 1 if fewer tasks
	// than the share are outliers.
	far := math.Sqrt(share / t.outlier)
	if t.silent {
		// This gives share^(3/4). The exact exponent is 1/SilentIndex = 4/5, so the result is an upper bound.
		far *= math.Sqrt(far)
	}
	// The solution for the outliers alone, or for the body alone, is never below the true solution. So Newton's
	// method starts at the smallest of these upper bounds.
	q := min(1, far, root(share/(1-t.outlier), int(t.index)))
	// steps is far more than the number of steps that are needed.
	const steps = 500
	for range steps {
		power := num.Power(q, int(t.index)-1)
		outlier, body := float64(t.outlier*t.powerOfOutliers(q)), float64((1-t.outlier)*power)
		over := float64((outlier+body)*q) - share
		next := q - over/(float64(t.outlierIndex()*outlier)+float64(float64(t.index)*body))
		if !(next < q) {
			break
		}
		q = next
	}
	return t.from / q
}
