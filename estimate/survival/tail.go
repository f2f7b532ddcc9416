package survival

import (
	"math"

	"github.com/straggler-go/straggler/internal/num"
)

const (
	// TailIndex is the index of the whole tail before half of the tasks have ended, and the least of a body's: by it
	// one that has run for a is expected to run for a/(TailIndex-1) more, which is half of it.
	TailIndex = 3
	// OutlierIndex is that of outliers: one that has run for a is expected to run for as long again. It is a choice
	// between TailIndex and the 1.2 that fits the tenth of the outliers that take over 10 medians [Mantri §4.1].
	OutlierIndex = 2
	// SilentIndex is that of outliers among tasks that report nothing: one that has run for a is expected to run for four
	// times as long again. It is next to that 1.2, and of a number its power by two square roots is the same everywhere.
	SilentIndex = 1.25
	// OutlierFrom is how many medians an outlier takes at least [Mantri §4.1].
	OutlierFrom = 1.5
	// OutlierShare is how many of all tasks are expected to be outliers, before any is seen: a choice.
	OutlierShare = 0.05

	mostIndex = 32 // of a body: no tasks are taken to be more alike than that
)

// quarterLeft is (t/median)^index where a quarter of the body is left: 1/(1+3).
const quarterLeft = 1/num.Quarter - 1

// tail is P(T > t | T > L) for t >= L: that of an outlier or of the body, by how probable it is which of them one of
// the age L is. Its hazard falls with the age, so that the expected total never does.
type tail struct {
	from    float64 // L
	outlier float64 // the probability that one that has run for L is an outlier
	index   int32   // of the body
	silent  bool    // outliers are of SilentIndex
}

// outliers returns the index of outliers.
func (t tail) outliers() float64 {
	if t.silent {
		return SilentIndex
	}
	return OutlierIndex
}

// slope returns q to the power of one less than that index.
func (t tail) slope(q float64) float64 {
	if t.silent {
		return math.Sqrt(math.Sqrt(q))
	}
	return q
}

// newTail weighs both by the times beyond which three quarters, half and a quarter are left; 0 if there is none. The
// body is taken to be log-logistic, P(T > t) = 1 / (1 + (t/median)^index), which ends in a Pareto tail of that index.
// The index is the one by which the quarter below the median is as wide as it is, or the quarter above it if that is
// wider.
func newTail(longest, lower, median, upper float64, silent bool) tail {
	t := tail{from: longest, index: TailIndex, silent: silent}
	if median > 0 {
		body := Body{median, indexOf(max(median/lower, upper/median))}
		t.index, t.outlier = int32(body.index), body.Outlier(longest)
	}
	return t
}

// indexOf returns the index of a body of which a quarter lies between the median and a time that differs by a factor.
func indexOf(wide float64) int {
	index := TailIndex
	for index < mostIndex && power(wide, index+1) <= quarterLeft {
		index++
	}
	return index
}

// Body is the log-logistic distribution of the times of the tasks that are no outliers. The zero value is that of a time of
// which nothing is known.
type Body struct {
	median float64
	index  int
}

// NewBody returns the body with a lower quartile and a median. It spreads as far above its median as below. O(1), no
// allocation.
func NewBody(quarter, median float64) Body {
	if !(median > 0) {
		return Body{}
	}
	return Body{median, indexOf(median / quarter)}
}

// Outlier returns the probability that a task which takes t in all, or has taken t, is an outlier; 0 if nothing is known of
// the body. O(1), no allocation.
func (b Body) Outlier(t float64) float64 {
	if b.index == 0 {
		return 0
	}
	t = max(t, b.median) // the shortest times are the body's as well
	body, outlier := 1/(1+power(t/b.median, b.index)), 1.0
	if q := OutlierFrom * b.median / t; q < 1 {
		outlier = float64(q * q)
	}
	// No fused multiply-add: one answer everywhere.
	outlier, body = float64(OutlierShare*outlier), float64((1-OutlierShare)*body)
	if !(body > 0) {
		return 1
	}
	return outlier / (outlier + body)
}

// power returns x^n for an n of 1 or more.
func power(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			y *= x
		}
		x *= x
	}
	return float64(y) // no fused multiply-add where it is inlined
}

// parts returns what of P(T > t) is the outliers' and what the body's.
func (t tail) parts(x float64) (outlier, body float64) {
	q := t.from / x
	return float64(t.outlier * (q * t.slope(q))), float64((1 - t.outlier) * power(q, int(t.index)))
}

// above returns P(T > x). x must be at least L.
func (t tail) above(x float64) float64 {
	outlier, body := t.parts(x)
	return outlier + body
}

// at returns the tail of one that has run for a, which must be at least L.
func (t tail) at(a float64) tail {
	if outlier, body := t.parts(a); outlier > 0 {
		t.outlier = outlier / (outlier + body)
	} else if t.outlier > 0 {
		t.outlier = 1 // too far out for a float64
	}
	t.from = a
	return t
}

// mean returns E(T - L).
func (t tail) mean() float64 {
	return t.from * (t.outlier/(t.outliers()-1) + (1-t.outlier)/float64(t.index-1))
}

// root returns no less than the n-th root of a share for an n of 3 or more, and hardly more: the bits of a float64 are its
// logarithm, by chords.
func root(share float64, n int) float64 {
	one := int64(math.Float64bits(1))
	return math.Float64frombits(uint64(one + (int64(math.Float64bits(share))-one)/int64(n)))
}

// quantile returns the time that only this share exceeds, by Newton's method. P(T > L/q) is convex in q, and so it
// closes in from above, in some five steps.
func (t tail) quantile(share float64) float64 {
	if !(share < 1) {
		return t.from
	}
	if share <= 0 {
		return math.Inf(1)
	}
	far := math.Sqrt(share / t.outlier) // 1 or more if it is none
	if t.silent {
		far *= math.Sqrt(min(far, 1)) // the power 3/4, which is no less than 1/SilentIndex of a share
	}
	q := min(1, far, root(share/(1-t.outlier), int(t.index))) // either of them alone is no more
	const steps = 500                                         // far more than it takes
	for range steps {
		power := power(q, int(t.index)-1)
		outlier, body := float64(t.outlier*t.slope(q)), float64((1-t.outlier)*power)
		over := float64((outlier+body)*q) - share
		next := q - over/(float64(t.outliers()*outlier)+float64(float64(t.index)*body))
		if !(next > 0 && next < q) {
			break
		}
		q = next
	}
	return t.from / q
}
