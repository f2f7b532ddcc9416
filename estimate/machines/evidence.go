package machines

import (
	"math"
	"time"
)

// kind says how a piece of evidence describes the machine's speed.
type kind uint8

const (
	silent kind = iota // says nothing about speed
	point              // the ratio itself
	bound              // the ratio is at least this large
)

// seenAt is a share of the typical time: an unfinished attempt counts in full after this. Before that, it has shown
// little more than how tasks start.
const seenAt = .25

// evidence is one attempt as the record keeps it.
type evidence struct {
	at     time.Duration // instant since the record began; of shared evidence, since 1970
	ratio  float32       // x typical time; the attempt's time, or the time that its progress implies
	seen   uint16        // weight of the attempt without fading, in parts of full
	kind   kind
	failed bool
}

const full = math.MaxUint16

// evidence returns the evidence of an attempt at an instant. finished says that the attempt has done all its work.
func (a Attempt) evidence(at time.Duration, finished bool, limit float64) evidence {
	e := evidence{at: at}
	if a.Usual <= 0 || a.Ran < 0 {
		return e
	}
	e.kind, e.seen = bound, full
	ratio := float64(a.Ran) / float64(a.Usual)
	if !finished {
		e.seen = uint16(full * min(ratio/seenAt, 1))
	}
	switch {
	case finished:
		e.kind = point
	case a.Done > 0:
		e.kind = point
		ratio /= min(a.Done, 1)
	}
	e.ratio = float32(min(max(ratio, 1/limit), limit))
	return e
}

// near reports whether a new report of a running attempt changes its evidence so little that the machine's factor
// need not be computed again.
func (e evidence) near(other evidence) bool {
	const same = 1. / 32
	change := math.Abs(float64(e.ratio) - float64(other.ratio))
	more := math.Abs(float64(e.seen) - float64(other.seen))
	return e.kind == other.kind && change <= same*float64(e.ratio) && more <= same*full
}

// weight returns the weight of a piece of evidence now, in attempts.
func (e evidence) weight(now, memory time.Duration) float64 {
	return float64(float64(e.seen) / full * fade(now-e.at, memory)) // no fused multiply-add: one answer everywhere
}

// fade returns the remaining weight of evidence of the given age. The weight is a half at the age of memory, and
// then falls more slowly. A rational function is equal to the last bit on all architectures.
func fade(age, memory time.Duration) float64 {
	// evidence of the future, by another process's clock, counts as evidence of now
	x := max(float64(age)/float64(memory), 0)
	return 1 / (1 + float64(x*x))
}

// weightedRatio is a ratio and its weight.
type weightedRatio struct {
	ratio, weight float64
	bound         bool
}

// sample is a small weighted sample of ratios, and some ratios are lower bounds. The ratios are in ascending order,
// and points stand before equal bounds.
type sample struct {
	values [recent + MostRunning + 1]weightedRatio
	n      int
	weight float64
}

func (s *sample) add(v weightedRatio) {
	if !(v.weight > 0) {
		return
	}
	i := s.n
	for ; i > 0 && v.before(s.values[i-1]); i-- {
		s.values[i] = s.values[i-1]
	}
	s.values[i] = v
	s.n++
	s.weight += v.weight
}

func (v weightedRatio) before(other weightedRatio) bool {
	return v.ratio < other.ratio || v.ratio == other.ratio && !v.bound && other.bound
}

// median returns the smallest ratio that half of the sample does not exceed, by the product-limit estimate. This
// estimate distributes the weight of a lower bound over the larger ratios [Kaplan and Meier 1958]. median reports
// false if the bounds leave the median open. The first case is that too many bounds keep the sum below a half. The
// second case is that the median would be smaller by over a step of the grid, had each attempt ended at its bound.
func (s *sample) median() (ratio float64, ok bool) {
	const half = .5 + 1e-9 // rounding must not move an exact half beyond this
	left, risk, sum, least := 1., s.weight, 0., 0.
	for _, v := range s.values[:s.n] {
		if sum += v.weight; least == 0 && sum >= s.weight*(1-half) {
			least = v.ratio
		}
		if !v.bound {
			left *= 1 - v.weight/risk
			if left <= half {
				return v.ratio, v.ratio < least*roots[gridStep]
			}
		}
		risk -= v.weight
	}
	return 0, false
}
