package hedge

import (
	"math"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/check"
)

// leastGaps is the number of gaps from which a Grace is computed. With fewer, the longest gap would be too short for a
// healthy server.
const leastGaps = 100

// beyondLongest is a factor. If it is worth to wait for every gap of the curve, Wait is so many times the longest: the
// next gap may be longer than all before.
const beyondLongest = 2

// Grace says how long to wait for the next missing answer, once enough answers have come.
//
// For example, a query needs 49 of 50 answers, and the 50th usually comes 2 ms after the 49th, but in 1 % of the
// queries 80 ms later. If completeness is worth 10 ms, Wait is a few milliseconds: the answer that has not come by
// then will probably take 80 ms.
type Grace struct {
	// Wait is how long to wait, in the unit of the gaps. +Inf means to wait for the answer, because too little is
	// known.
	Wait float64
	// Comes is the probability that the answer comes within this time.
	Comes float64
	// Costs is the expected time until the answer comes or the wait is over.
	Costs float64
}

// NewGrace returns the wait w that is best on average: it maximises
//
//	worth P(G <= w) - E(min(G, w))
//
// G is the gap: the time from the answer before to the next one. The curve gaps contains the gaps of earlier
// operations in which the same number of answers was missing. A gap at which the host gave up is observed with ended =
// false. The argument worth is how much longer the operation may take for one more answer; a good value is the time of
// the operation so far. If it is worth to wait for every gap of the curve, Wait is twice the longest. Wait is +Inf if
// fewer than 100 gaps are known, or if no gap is known that is too long to wait for, although the host gave some up:
// then the host learns by waiting. NewGrace returns an error if gaps is nil, or if worth is not a number of at least 0.
// O(n) for n gaps, no allocation.
func NewGrace(gaps *survival.Curve, worth float64) (Grace, error) {
	if gaps == nil {
		return Grace{}, check.Bad("restart/hedge", "gaps", "nil", "a curve")
	}
	if !(worth >= 0) || math.IsInf(worth, 1) {
		return Grace{}, check.Bad("restart/hedge", "worth", worth, "a finite number of at least 0")
	}
	at, above := gaps.Steps()
	if gaps.Len() < leastGaps || len(at) == 0 {
		return Grace{Wait: math.Inf(1), Comes: gaps.CDF(gaps.Longest()), Costs: gaps.Mean()}, nil
	}
	var best Grace
	value, area, before, longer := 0.0, 0.0, 0.0, 1.0
	for i, x := range at {
		area += float64(longer * (x - before))
		before, longer = x, above[i]
		if v := float64(worth*(1-longer)) - area; v > value {
			value, best = v, Grace{Wait: x, Comes: 1 - longer, Costs: area}
		}
	}
	switch {
	case longer == 0 && best.Comes == 1:
		best.Wait *= beyondLongest
	case best.Wait == at[len(at)-1]:
		best.Wait = math.Inf(1)
	}
	return best, nil
}
