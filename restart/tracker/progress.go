package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// How far the machines are, and which of them a copy should avoid.

// score exchanges a copy's progress score in the totals of its machine, of this phase and of the cluster. The paper's
// total is of tasks that run or have succeeded, so that of a copy that ends otherwise goes. Scores count in steps of
// 2^-24, which makes their sums exact: machines that have done the same compare equal, whatever the order of their
// reports.
func (f *fleet) score(at time.Time, c *copyState, score float64) {
	if c.machine == none {
		return
	}
	m := &f.list[c.machine]
	if f.pace != nil {
		f.pace.totals.heard.Delete(m.total)
		m.total += step(score) - step(c.score)
		f.pace.totals.heard.Insert(m.total)
	}
	if f.record != nil && score != c.score && (f.own == nil || f.pace != nil) { // of its own nobody else asks for it
		f.slow.asOf = 0
		f.record.AddProgress(at, m.number, score-c.score)
	}
}

// asking describes the machine that asks for work: by what it did in the cluster if that is known, else in this phase.
func (f *fleet) asking(machine int) (m restart.MachineProgress) {
	switch {
	case f.pace == nil || machine < 0:
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
		dst = append(dst, f.avoided(told)...)
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

// avoided returns the machines that the record holds to be slow or failing, as many as a decision can name, as of the
// told-th event; of a record of the tracker's own, which nobody else tells, as of when it was last told.
func (f *fleet) avoided(told int) []int {
	s := &f.slow
	if s.asOf != told && (s.asOf == 0 || f.own == nil) {
		s.asOf, s.machines = told, f.record.AppendAvoid(s.machines[:0])
		s.machines = s.machines[:min(len(s.machines), restart.MaxAvoid)]
	}
	return s.machines
}

// appendBehind appends the machines whose total progress is below LATE's percentile, the one with the least first. They
// are the same for all tasks that one event asks about. O(machines) for the first of these.
func (f *fleet) appendBehind(dst []int, percentile float64, told int) []int {
	if percentile == 0 || f.pace == nil {
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
