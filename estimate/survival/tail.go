package survival

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

// The index of a Pareto tail says how fast the tail falls: P(T > t) is proportional to t^-index.
const (
	// TailIndex is the index of the whole tail before half of the tasks have ended, and the least index of a body. A
	// task that has run for a is expected to run for a/(TailIndex-1) more, which is a/2.
	TailIndex = 3
	// OutlierIndex is the index of the tail of outliers: an outlier is expected to run for as long again as it has
	// run. The number is a choice between TailIndex and 1.2. The index 1.2 fits the tenth of the outliers that take
	// more than 10 medians [Mantri §4.1].
	OutlierIndex = 2
	// SilentIndex is the index of the tail of outliers if tasks report no progress: an outlier is expected to run for
	// four times as long again. The number is close to the 1.2 of [OutlierIndex]. A power of 1.25 needs two square
	// roots only, so that every machine gives the same answer.
	SilentIndex = 1.25
	// OutlierFrom is the least time of an outlier, in medians [Mantri §4.1].
	OutlierFrom = 1.5
	// OutlierShare is the share of all tasks that are expected to be outliers, before any outlier is seen. It is a
	// choice.
	OutlierShare = 0.05

	mostIndex = 32 // the largest index of a body; a larger index would mean that all tasks take almost the same time
)

// quarterLeft is the (t/median)^index at which a quarter of the body is left: 1/(1+3) = 1/4.
const quarterLeft = 1/num.Quarter - 1

// tail is the distribution P(T > t | T > L) for t >= L. It is a mixture of outliers and the body, each with a Pareto
// tail. Its hazard falls with the age, so that the expected total never falls.
type tail struct {
	from    float64 // L
	outlier float64 // the probability that a task which has run for L is an outlier
	index   int32   // index of the body
	silent  bool    // the outliers have the index SilentIndex
}

// outlierIndex returns the index of the outliers.
func (t tail) outlierIndex() float64 {
	if t.silent {
		return SilentIndex
	}
	return OutlierIndex
}

// powerOfOutliers returns q to the power of the outliers' index less 1.
func (t tail) powerOfOutliers(q float64) float64 {
	if t.silent {
		return math.Sqrt(math.Sqrt(q))
	}
	return q
}

// newTail returns the tail beyond the longest value. lower, median and upper are the times beyond which three
// quarters, half and a quarter of the tasks are left; each is 0 if the curve has no such time. The body is
// log-logistic with P(T > t) = 1 / (1 + (t/median)^index), and so it ends in a Pareto tail of that index. The index
// follows from the quarter of the tasks below the median, or from the quarter above the median if that quarter is
// wider.
func newTail(longest, lower, median, upper float64, silent bool) tail {
	t := tail{from: longest, index: TailIndex, silent: silent}
	if median > 0 {
		body := Body{median, bodyIndex(max(median/lower, upper/median))}
		t.index, t.outlier = int32(body.index), body.Outlier(longest)
	}
	return t
}

// bodyIndex returns the index of a body with a quarter of its tasks between the median and the median times the
// factor wide, or divided by it.
func bodyIndex(wide float64) int {
	index := TailIndex
	for index < mostIndex && power(wide, index+1) <= quarterLeft {
		index++
	}
	return index
}

// Body is the log-logistic distribution of the times of tasks that are no outliers. The zero value knows nothing.
// Body is immutable.
type Body struct {
	median float64
	index  int
}

// NewBody returns the body with the given lower quartile and median, in the same unit. The body spreads as far above
// its median as below. If the median is not positive, NewBody returns the zero value. O(1), no allocation.
func NewBody(quarter, median float64) Body {
	if !(median > 0) {
		return Body{}
	}
	return Body{median, bodyIndex(median / quarter)}
}

// Outlier returns the probability that a task is an outlier, if it takes t in all, or has run for t. The zero Body
// returns 0. O(1), no allocation.
func (b Body) Outlier(t float64) float64 {
	if b.index == 0 {
		return 0
	}
	t = max(t, b.median) // the shortest tasks belong to the body as well
	body, outlier := 1/(1+power(t/b.median, b.index)), 1.0
	if q := OutlierFrom * b.median / t; q < 1 {
		outlier = float64(q * q)
	}
	// No fused multiply-add: every machine gives the same answer.
	outlier, body = float64(OutlierShare*outlier), float64((1-OutlierShare)*body)
	if !(body > 0) {
		return 1
	}
	return outlier / (outlier + body)
}

// power returns x^n for n >= 1.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y *= x
		}
		x *= x
	}
	return float64(y) // no fused multiply-add after inlining
}

// shares returns the two parts of P(T > x): the part of the outliers, and the part of the body.
func (t tail) shares(x float64) (outlier, body float64) {
	q := t.from / x
	return float64(t.outlier * (q * t.powerOfOutliers(q))), float64((1 - t.outlier) * power(q, int(t.index)))
}

// above returns P(T > x). x must be at least L.
func (t tail) above(x float64) float64 {
	outlier, body := t.shares(x)
	return outlier + body
}

// at returns the tail of a task that has run for a. a must be at least L.
func (t tail) at(a float64) tail {
	if outlier, body := t.shares(a); outlier > 0 {
		t.outlier = outlier / (outlier + body)
	} else if t.outlier > 0 {
		t.outlier = 1 // a is so large that the body's share is 0 as a float64
	}
	t.from = a
	return t
}

// mean returns E(T - L).
func (t tail) mean() float64 {
	return t.from * (t.outlier/(t.outlierIndex()-1) + (1-t.outlier)/float64(t.index-1))
}

// root returns a number that is hardly above the n-th root of a share, and never below it; n must be at least 3. The
// bits of a float64 approximate its logarithm by straight lines.
func root(share float64, n int) float64 {
	one := int64(math.Float64bits(1))
	return math.Float64frombits(uint64(one + (int64(math.Float64bits(share))-one)/int64(n)))
}

// quantile returns the time that only the given share of tasks exceeds. P(T > L/q) is convex in q, so Newton's method
// approaches q from above, in about five steps.
func (t tail) quantile(share float64) float64 {
	if !(share < 1) {
		return t.from
	}
	if share <= 0 {
		return math.Inf(1)
	}
	far := math.Sqrt(share / t.outlier) // above 1 if outliers alone do not reach the share
	if t.silent {
		far *= math.Sqrt(min(far, 1)) // share^(3/4), for 3/4 is less than 1/SilentIndex
	}
	q := min(1, far, root(share/(1-t.outlier), int(t.index))) // outliers alone, or the body alone, give no larger q
	const steps = 500                                         // far more steps than needed
	for range steps {
		power := power(q, int(t.index)-1)
		outlier, body := float64(t.outlier*t.powerOfOutliers(q)), float64((1-t.outlier)*power)
		over := float64((outlier+body)*q) - share
		next := q - over/(float64(t.outlierIndex()*outlier)+float64(float64(t.index)*body))
		if !(next > 0 && next < q) {
			break
		}
		q = next
	}
	return t.from / q
}
