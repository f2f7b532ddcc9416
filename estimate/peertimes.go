package estimate

import (
	"math"
	"slices"
)

// PeerTimes is the distribution of a phase's [UnitTimes] without the samples of one task's running attempts. A host
// asks how long a new attempt of a task would take because the present attempts of the task are slow. In a phase of
// few tasks, the samples of these attempts would make the slowest task look normal. [UnitTimes.Peers] fills a
// PeerTimes, which stays valid until the UnitTimes change. The zero value describes a time that never comes: its
// mean and quantiles are +Inf. Not safe for concurrent use: each phase needs a separate value.
type PeerTimes struct {
	from  *UnitTimes
	own   []float64    // unit times of the samples that are left out, ascending
	ranks []rankBounds // for each value in own, bounds of its rank among all samples
	ids   []int        // scratch memory: the ids passed to Peers
}

// rankBounds limits the rank of a sample that is left out, where the rank is the number of samples of the phase
// that are smaller. The rank is at least above and at most upTo. Each call of Quantile may narrow these limits,
// which saves work because a decision asks for many quantiles.
type rankBounds struct{ above, upTo int }

// Peers sets p to the distribution of u without the samples of the given ids. An id that occurs twice removes one
// sample, and an id that is not in use changes nothing. If no sample would be left, Peers leaves no sample out.
// Peers takes O(k log k) for k ids. Peers allocates only if p has never stored so many ids.
func (u *UnitTimes) Peers(p *PeerTimes, ids ...int) {
	p.from, p.own, p.ranks, p.ids = u, p.own[:0], p.ranks[:0], append(p.ids[:0], ids...)
	if len(ids) > 1 { // most tasks have a single attempt
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
		p.ranks = append(p.ranks, rankBounds{0, math.MaxInt})
	}
}

// whole returns the UnitTimes with all samples, or an empty UnitTimes if Peers was never called.
func (p *PeerTimes) whole() *UnitTimes {
	if p.from == nil {
		return &UnitTimes{}
	}
	return p.from
}

// Mean returns the expected time of a unit of work, in seconds. O(k) for k samples that are left out.
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

// Below returns the probability that a unit of work takes less than x seconds. O(log n) for n samples.
func (p *PeerTimes) Below(x float64) float64 {
	if len(p.own) == 0 {
		return p.whole().Below(x)
	}
	below, _ := slices.BinarySearch(p.own, x)
	return float64(p.from.all.Rank(x)-below) / float64(p.from.all.Len()-len(p.own))
}

// CDF returns the probability that a unit of work takes at most x seconds. O(log n) for n samples.
func (p *PeerTimes) CDF(x float64) float64 {
	if len(p.own) == 0 {
		return p.whole().CDF(x)
	}
	return p.Below(math.Nextafter(x, math.Inf(1)))
}

// Quantile returns the q-quantile of the time of a unit of work, in seconds, as [Empirical.Quantile] defines it.
// O(k log n) for n samples of which k are left out.
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
		case value < x: // so at least at+1 values are below x
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
