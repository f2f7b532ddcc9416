package estimate

import "math"

// maxOwn is the number of samples that an [Others] can leave out: as many as a task has running copies under Mantri.
const maxOwn = 3

// Others is the distribution of a phase's [Rates] without a few of its samples: those of one task's own running copies.
// What a new copy of a task would take is asked because its present copies are slow; in a phase of few tasks, to count
// them among the evidence would make the slowest task look normal. [Rates.Others] fills it; it holds until the Rates
// change. The zero value is that of a time that never comes. Not safe for concurrent use; one per phase.
type Others struct {
	rates *Rates
	own   [maxOwn]float64 // ascending
	n     int
}

// Others sets o to the distribution of r without the samples of the given ids, of which the first three in use count. If
// nothing would be left, nothing is left out. O(1), no allocation.
func (r *Rates) Others(o *Others, ids ...int) {
	*o = Others{rates: r}
	for _, id := range ids {
		if id < 0 || id >= len(r.samples) || r.samples[id].rate < 0 || o.n == maxOwn {
			continue
		}
		at := o.n
		for ; at > 0 && o.own[at-1] > r.samples[id].rate; at-- {
			o.own[at] = o.own[at-1]
		}
		o.own[at] = r.samples[id].rate
		o.n++
	}
	if !r.enough() || o.n >= r.all.Len() {
		o.n = 0
	}
}

// whole returns the distribution of which nothing is left out.
func (o *Others) whole() *Rates {
	if o.rates == nil {
		return &Rates{}
	}
	return o.rates
}

// Mean returns the expected time of a unit of work. O(1).
func (o *Others) Mean() float64 {
	if o.n == 0 {
		return o.whole().Mean()
	}
	sum := o.rates.all.sum
	for _, rate := range o.own[:o.n] {
		sum.add(-rate)
	}
	return max(0, sum.value()/float64(o.rates.all.Len()-o.n))
}

// Below returns the probability that a unit of work takes less than x seconds. O(log n).
func (o *Others) Below(x float64) float64 {
	if o.n == 0 {
		return o.whole().Below(x)
	}
	rank := o.rates.all.Rank(x)
	for _, rate := range o.own[:o.n] {
		if rate < x {
			rank--
		}
	}
	return float64(rank) / float64(o.rates.all.Len()-o.n)
}

// CDF returns the probability that a unit of work takes at most x seconds. O(log n).
func (o *Others) CDF(x float64) float64 {
	if o.n == 0 {
		return o.whole().CDF(x)
	}
	return o.Below(math.Nextafter(x, math.Inf(1)))
}

// Quantile returns the p-quantile of the time of a unit of work, as [Empirical.Quantile] defines it. O(log n).
func (o *Others) Quantile(p float64) float64 {
	if o.n == 0 {
		return o.whole().Quantile(p)
	}
	at := quantileIndex(p, o.rates.all.Len()-o.n)
	for _, rate := range o.own[:o.n] {
		if o.rates.all.Rank(rate) <= at {
			at++
		}
	}
	return o.rates.all.At(at)
}
