package tracker

import (
	"math"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// pace is LATE's total progress of the machines, of which it calls those slow that are behind: that of this phase, or
// that of the cluster where there is a record. It is kept only if the policy reads it.
type pace struct {
	totals totals
	behind behind
}

// appear takes note that one more machine was heard of.
func (p *pace) appear() {
	if p != nil {
		p.totals.heard.Insert(0)
		p.totals.idle = max(p.totals.idle-1, 0)
	}
}

// totals are the total progress of all machines, also of those of which nothing was heard yet: these have done nothing,
// and are only counted.
type totals struct {
	heard estimate.Empirical
	idle  int
}

func (t *totals) Len() int { return t.heard.Len() + t.idle }

func (t *totals) Mean() float64 { return t.heard.Mean() * (float64(t.heard.Len()) / float64(t.Len())) }

func (t *totals) CDF(x float64) float64 {
	if x < 0 || t.Len() == 0 {
		return 0
	}
	below := t.idle + t.heard.Rank(math.Nextafter(x, math.Inf(1)))
	return float64(below) / float64(t.Len())
}

// Quantile is that of all values, of which the idle ones, which are 0, come first.
func (t *totals) Quantile(p float64) float64 {
	of := float64(min(max(p, 0), 1) * float64(t.Len()))
	i := max(int(math.Ceil(of-float64(of*0x1p-52)))-1, 0) // p = k/n is the k-th of n values, though p*n may be just above k
	if i < t.idle {
		return 0
	}
	return t.heard.At(i - t.idle)
}

func step(score float64) float64 { return float64(math.Round(score*(1<<24)) / (1 << 24)) }

// behind are the machines that have made least progress, as of an event.
type behind struct {
	told     int // the event; 0 for none
	n        int
	machines [restart.MaxAvoid]int
	totals   [restart.MaxAvoid]float64 // ascending
}

// add puts a machine behind those that have made as little progress, if it is among the least.
func (b *behind) add(machine int, total float64) {
	if b.n == len(b.totals) {
		if total >= b.totals[b.n-1] {
			return
		}
		b.n--
	}
	i := b.n
	for ; i > 0 && b.totals[i-1] > total; i-- {
		b.machines[i], b.totals[i] = b.machines[i-1], b.totals[i-1]
	}
	b.machines[i], b.totals[i] = machine, total
	b.n++
}
