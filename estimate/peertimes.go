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
	from *UnitTimes
	own  []float64 // unit times of the samples that are left out, ascending
	ids  []int     // scratch memory: the ids passed to Peers
}

// Peers sets p to the distribution of u without the samples of the given ids. An id that occurs twice removes one
// sample, and an id that is not in use changes nothing. If no sample would be left, Peers leaves no sample out.
// Peers takes O(k log k) for k ids. Peers allocates only if p has never stored so many ids.
func (u *UnitTimes) Peers(p *PeerTimes, ids ...int) {
	p.from, p.own, p.ids = u, p.own[:0], append(p.ids[:0], ids...)
	if len(ids) > 1 { // most tasks have a single attempt
		slices.Sort(p.ids)
		p.ids = slices.Compact(p.ids)
	}
	for _, id := range p.ids {
		if u.holds(id) && u.samples[id].unitTime >= 0 {
			p.own = append(p.own, u.samples[id].unitTime)
		}
	}
	if len(p.own) > 1 {
		slices.Sort(p.own)
	}
	if !u.enough() || len(p.own) >= u.all.Len() {
		p.own = p.own[:0]
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
	for _, x := range p.own {
		if value < x { // so more than at values are below x
			break
		}
		at++
		value = all.At(at)
	}
	return value
}
