package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// pace is LATE's total progress of the machines, of which it calls those slow that are behind: that of this phase, or
// that of the cluster where there is a record. It costs nothing unless the policy reads it.
type pace struct {
	on     bool
	totals totals
	behind behind
}

// appear takes note that one more machine was heard of.
func (p *pace) appear() {
	if p.on {
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
	of := min(max(p, 0), 1) * float64(t.Len())
	i := max(int(math.Ceil(of-float64(of*0x1p-52)))-1, 0) // p = k/n is the k-th of n values, though p*n may be just above k
	if i < t.idle {
		return 0
	}
	return t.heard.At(i - t.idle)
}

// score exchanges a copy's progress score in the totals of its machine, of this phase and of the cluster. The paper's
// total is of tasks that run or have succeeded, so that of a copy that ends otherwise goes. Scores count in steps of
// 2^-24, which makes their sums exact: machines that have done the same compare equal, whatever the order of their
// reports.
func (f *fleet) score(at time.Time, c *copyState, score float64) {
	if c.machine == none {
		return
	}
	m := &f.list[c.machine]
	if f.pace.on {
		f.pace.totals.heard.Delete(m.total)
		m.total += step(score) - step(c.score)
		f.pace.totals.heard.Insert(m.total)
	}
	if f.record != nil && score != c.score {
		f.record.AddProgress(at, m.number, score-c.score)
	}
}

func step(score float64) float64 { return float64(math.Round(score*(1<<24)) / (1 << 24)) }

// asking describes the machine that asks for work: by what it did in the cluster if that is known, else in this phase.
func (f *fleet) asking(machine int) (m restart.MachineProgress) {
	switch {
	case !f.pace.on || machine < 0:
	case f.record != nil:
		if total, of := f.record.Progress(machine); of != nil && of.Len() > 0 {
			m.Total, m.Of = total, of
		}
	case f.pace.totals.Len() > 0:
		m.Of = &f.pace.totals
		if place := f.seen(machine); place != none {
			m.Total = f.list[place].total
		}
	}
	return m
}

// appendAvoid appends the machines on which no new copy should run: those that the record holds to be slow or failing,
// those behind a percentile of the machines' progress, as of the told-th event, and those that leave.
func (f *fleet) appendAvoid(dst []int, percentile float64, told int) []int {
	if f.record != nil {
		dst = f.record.AppendAvoid(dst)
	}
	dst = f.appendBehind(dst, percentile, told)
	if f.leaving > 0 {
		for i := range f.list {
			if f.list[i].leaves != noTime {
				dst = append(dst, f.list[i].number)
			}
		}
	}
	return dst
}

// appendBehind appends the machines whose total progress is below LATE's percentile, the one with the least first. They
// are the same for all tasks that one event asks about. O(machines) for the first of these.
func (f *fleet) appendBehind(dst []int, percentile float64, told int) []int {
	if percentile == 0 {
		return dst
	}
	if b := &f.pace.behind; b.told != told {
		b.told, b.n = told, 0
		var of estimate.Distribution
		bar := 0.
		for i := range f.list {
			m := f.asking(f.list[i].number)
			if m.Of == nil {
				continue
			}
			if m.Of != of {
				of, bar = m.Of, m.Of.Quantile(percentile)
			}
			if m.Total < bar {
				b.add(f.list[i].number, m.Total)
			}
		}
	}
	return append(dst, f.pace.behind.machines[:f.pace.behind.n]...)
}

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
