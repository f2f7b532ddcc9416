package machines

import (
	"math"
	"time"
)

// kind says how an attempt describes the speed of its machine.
type kind uint8

const (
	silent kind = iota // the attempt does not show how fast the machine is
	point              // the ratio of the attempt is known
	bound              // the ratio is not known, but is at least this large
)

// seenAt is a share of the typical time of an attempt. An unfinished attempt has its full weight after it has run
// this long. Before that, the attempt has shown little more than how tasks start.
const seenAt = .25

// evidence is one attempt in the form in which the record stores it.
type evidence struct {
	at     time.Duration // time since the record began; for evidence that processes share, time since 1970
	ratio  float32       // time of the attempt, or the time that its progress implies, divided by its typical time
	seen   uint16        // weight of the attempt when it was new, as a number from 0 to full
	kind   kind
	failed bool
}

const full = math.MaxUint16

// evidence returns the evidence that an attempt gives. The argument at is the instant of the report. finished says
// that the attempt has done all its work. The ratio is limited to the range from 1/limit to limit.
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

// near reports whether a new report of a running attempt changes the evidence of the attempt so little that the
// machine's factor need not be computed again.
func (e evidence) near(other evidence) bool {
	const same = 1. / 32
	change := math.Abs(float64(e.ratio) - float64(other.ratio))
	more := math.Abs(float64(e.seen) - float64(other.seen))
	return e.kind == other.kind && change <= same*float64(e.ratio) && more <= same*full
}

// weight returns the weight of an attempt at the instant now: 1 is the weight of a new attempt. memory is the age
// at which the weight is a half.
func (e evidence) weight(now, memory time.Duration) float64 {
	// The conversion prevents a fused multiply-add.
	return float64(float64(e.seen) / full * fade(now-e.at, memory))
}

// fade returns the part of its weight that an attempt of the given age still has. At the age memory the part is a
// half; after that it falls more slowly. The function is a fraction of polynomials, because such a function gives
// the same result, to the last bit, on all architectures.
func fade(age, memory time.Duration) float64 {
	// if another process's clock is ahead, the age may be negative, and is treated as 0
	x := max(float64(age)/float64(memory), 0)
	return 1 / (1 + float64(x*x))
}

// weightedRatio is the ratio of an attempt and its weight. If bound is true, the ratio is only a lower bound.
type weightedRatio struct {
	ratio, weight float64
	bound         bool
}

// sample is a small list of ratios with weights, in ascending order of the ratios. Some ratios are lower bounds.
// Known ratios are before lower bounds of the same size.
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

// median returns a weighted median: the smallest known ratio for which at least half of the sample's weight is at or
// below it. For this, the weight of each lower bound is distributed over the larger ratios, by the product-limit
// estimate [Kaplan and Meier 1958]. ok is false if the lower bounds leave the median open, in one of two cases:
//
//   - There are so many bounds that the known ratios do not reach half of the weight.
//   - If each attempt had ended at its bound, the median would be smaller by more than a quarter of an octave, that
//     is, by more than 2^(1/4).
func (s *sample) median() (ratio float64, ok bool) {
	// A little more than a half, because rounding must not move an exact half beyond the limit.
	const half = .5 + 1e-9
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
