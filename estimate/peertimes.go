package estimate

import (
	"math"
	"slices"
)

// PeerTimes is the distribution of a phase's [UnitTimes] without some of its samples: those of one task's own running
// copies. What a new copy of a task would take is asked because its present copies are slow; in a phase of few tasks,
// to count them among the evidence would make the slowest task look normal. [UnitTimes.Peers] fills it; it holds until
// the UnitTimes change. The zero value is that of a time that never comes. Not safe for concurrent use; one per phase.
type PeerTimes struct {
	from  *UnitTimes
	own   []float64 // ascending
	ranks []ranked  // of own
	ids   []int     // scratch: of own
}

// ranked says of a sample what quantiles have shown of its rank, since a decision asks for many: it is at least above, and
// at most upTo.
type ranked struct{ above, upTo int }

// Peers sets p to the distribution of u without the samples of the given ids, each of which counts once; an id that is
// not in use changes nothing. If nothing would be left, nothing is left out. O(k log k) for k ids; it allocates only if
// p has never held as many.
func (u *UnitTimes) Peers(p *PeerTimes, ids ...int) {
	p.from, p.own, p.ranks, p.ids = u, p.own[:0], p.ranks[:0], append(p.ids[:0], ids...)
	if len(ids) > 1 { // most tasks have one copy
		slices.Sort(p.ids)
		p.ids = slices.Compact(p.ids)
	}
	for _, id := range p.ids {
		if u.holds(id) {
			p.own = append(p.own, u.samples[id].unitTime)
		}
	}
	if len(p.own) > 1 {
		slices.Sort(p.own)
	}
	if !u.enough() || len(p.own) >= u.all.Len() {
		p.own = p.own[:0]
	}
	for range p.own {
		p.ranks = append(p.ranks, ranked{0, math.MaxInt})
	}
}

// whole returns the distribution of which nothing is left out.
func (p *PeerTimes) whole() *UnitTimes {
	if p.from == nil {
		return &UnitTimes{}
	}
	return p.from
}

// Mean returns the expected time of a unit of work. O(k) for k samples that are left out.
func (p *PeerTimes) Mean() float64 {
	if len(p.own) == 0 {
		return p.whole().Mean()
	}
	sum := p.from.all.sum
	for _, x := range p.own {
		sum.Add(-x)
	}
	return max(0, sum.Value()/float64(p.from.all.Len()-len(p.own)))
}

// Below returns the probability that a unit of work takes less than x seconds. O(log n).
func (p *PeerTimes) Below(x float64) float64 {
	if len(p.own) == 0 {
		return p.whole().Below(x)
	}
	below, _ := slices.BinarySearch(p.own, x)
	return float64(p.from.all.Rank(x)-below) / float64(p.from.all.Len()-len(p.own))
}

// CDF returns the probability that a unit of work takes at most x seconds. O(log n).
func (p *PeerTimes) CDF(x float64) float64 {
	if len(p.own) == 0 {
		return p.whole().CDF(x)
	}
	return p.Below(math.Nextafter(x, math.Inf(1)))
}

// Quantile returns the q-quantile of the time of a unit of work, as [Empirical.Quantile] defines it. O(k log n) for k samples
// that are left out.
func (p *PeerTimes) Quantile(q float64) float64 {
	if len(p.own) == 0 {
		return p.whole().Quantile(q)
	}
	all := &p.from.all
	at := quantileIndex(q, all.Len()-len(p.own))
	value := all.At(at)
	for i, x := range p.own {
		switch rank := &p.ranks[i]; {
		case rank.upTo <= at:
		case rank.above > at:
			return value
		case value < x: // so that more than at values are below x
			rank.above = at + 1
			return value
		default:
			rank.upTo = at
		}
		at++
		value = all.At(at)
	}
	return value
}
