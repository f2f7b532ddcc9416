package machines

import (
	"math"
	"time"
)

// kind says what a piece of evidence tells of the machine's speed.
type kind uint8

const (
	silent kind = iota // nothing
	point              // the ratio itself
	bound              // the ratio is at least so much
)

// seenAt is the share of its usual time after which an attempt that has not finished counts in full: before that it has
// shown little more than how it starts.
const seenAt = .25

// evidence is what one attempt has shown.
type evidence struct {
	at     time.Duration // when, since the record began; of one that is shared, since 1970
	ratio  float32       // its time, or the time that its progress implies, against the usual time
	seen   uint16        // how much of it counts, in parts of full
	kind   kind
	failed bool
}

const full = math.MaxUint16

// shows returns what an attempt shows at an instant; finished says that it has done all its work.
func (a Attempt) shows(at time.Duration, finished bool, limit float64) evidence {
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

// near reports whether a running attempt shows so nearly the same that the machine's factor need not be found again.
func (e evidence) near(other evidence) bool {
	const same = 1. / 32
	change := math.Abs(float64(e.ratio) - float64(other.ratio))
	more := math.Abs(float64(e.seen) - float64(other.seen))
	return e.kind == other.kind && change <= same*float64(e.ratio) && more <= same*full
}

// weight returns how much a piece of evidence counts now.
func (e evidence) weight(now, memory time.Duration) float64 {
	return float64(float64(e.seen) / full * fade(now-e.at, memory)) // no fused multiply-add: one answer everywhere
}

// fade returns what is left of evidence of the given age: half when it is as old as memory, and then less quickly. A
// rational function is the same to the last bit on all architectures.
func fade(age, memory time.Duration) float64 {
	x := max(float64(age)/float64(memory), 0) // what is of the future, by another's clock, is of now
	return 1 / (1 + float64(x*x))
}

// weighed is a ratio and how much it counts.
type weighed struct {
	ratio, weight float64
	bound         bool
}

// sample is a small weighed sample of which some values are lower bounds only, in ascending order, points before
// bounds.
type sample struct {
	values [recent + MostRunning + 1]weighed
	n      int
	weight float64
}

func (s *sample) add(v weighed) {
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

func (v weighed) before(other weighed) bool {
	return v.ratio < other.ratio || v.ratio == other.ratio && !v.bound && other.bound
}

// median returns the smallest ratio that half of the sample does not exceed, by the product-limit estimate: what is
// known to be at least so much is shared out among what is more [Kaplan and Meier 1958]. It reports false where the
// bounds leave that open: where there are so many that half is never reached, or where the median would be smaller by
// over a step of the grid if each had taken no longer than it shows.
func (s *sample) median() (ratio float64, ok bool) {
	const half = .5 + 1e-9 // rounding must not take it beyond an exact half
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
