package estimate

import "math"

// maxOwn is the number of samples that an [Others] can leave out: as many as a task has running copies under Mantri.
const maxOwn = 3

// Others is the distribution of a phase's [Rates] without a few of its samples: those of one task's own running copies.
// What a new copy of a task would take is asked because its present copies are slow; in a phase of few tasks, to count
// them among the evidence would make the slowest task look normal. It holds until the Rates change. Not safe for
// concurrent use; one per phase.
type Others struct {
	rates *Rates
	own   [maxOwn]float64 // ascending
	n     int
}

// Others sets o to the distribution of r without the samples of the given numbers, of which the first three count; [None]
// is none. If nothing would be left, nothing is left out. No allocation.
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

// Mean returns the expected time of a unit of work.
func (o *Others) Mean() float64 {
	if o.n == 0 {
		return o.rates.Mean()
	}
	sum := o.rates.all.sum
	for _, rate := range o.own[:o.n] {
		sum.add(-rate)
	}
	return max(0, sum.value()/float64(o.rates.all.Len()-o.n))
}

// Below returns the probability that a unit of work takes less than x seconds.
func (o *Others) Below(x float64) float64 {
	if o.n == 0 {
		return o.rates.Below(x)
	}
	rank := o.rates.all.Rank(x)
	for _, rate := range o.own[:o.n] {
		if rate < x {
			rank--
		}
	}
	return float64(rank) / float64(o.rates.all.Len()-o.n)
}

// CDF returns the probability that a unit of work takes at most x seconds.
func (o *Others) CDF(x float64) float64 {
	if o.n == 0 {
		return o.rates.CDF(x)
	}
	return o.Below(math.Nextafter(x, math.Inf(1)))
}

// Quantile returns the p-quantile of the time of a unit of work, as [Empirical.Quantile] defines it.
func (o *Others) Quantile(p float64) float64 {
	if o.n == 0 {
		return o.rates.Quantile(p)
	}
	at := quantileIndex(p, o.rates.all.Len()-o.n)
	for _, rate := range o.own[:o.n] {
		if o.rates.all.Rank(rate) <= at {
			at++
		}
	}
	return o.rates.all.At(at)
}
