package tracker

import (
	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// avoidSlow adds the machines that are too slow or fail to those that a new copy should avoid.
func (t *Tracker) avoidSlow(d *restart.Decision, view *restart.Task, facts *restart.Phase) {
	if t.config.Record == nil && t.leaving == 0 && t.peers.reads.SlowNode == 0 {
		return
	}
	t.numbers = append(t.numbers[:0], view.Tried...)
	if t.config.Record != nil {
		t.numbers = t.config.Record.AppendAvoid(t.numbers)
	}
	t.numbers = t.appendBehind(t.numbers, t.peers.reads.SlowNode)
	if t.leaving > 0 {
		for place, leaves := range t.places.leaves {
			if leaves != noTime {
				t.numbers = append(t.numbers, t.places.numbers[place])
			}
		}
	}
	if len(t.numbers) > len(view.Tried) {
		view.Tried = t.numbers
		d.Avoid = restart.Avoid(*view, *facts)
	}
}

// appendBehind appends the machines whose total progress is below LATE's percentile, the one with the least first. They
// are the same for all tasks that one event asks about. O(machines) for the first of these.
func (t *Tracker) appendBehind(dst []int, percentile float64) []int {
	if percentile == 0 {
		return dst
	}
	if b := &t.behind; b.told != t.told {
		b.told, b.n = t.told, 0
		var of estimate.Distribution
		bar := 0.
		for place, machine := range t.places.numbers {
			m := t.peers.asking(machine, int32(place), t.config.Record)
			if m.Of == nil {
				continue
			}
			if m.Of != of {
				of, bar = m.Of, m.Of.Quantile(percentile)
			}
			if m.Total < bar {
				b.add(machine, m.Total)
			}
		}
	}
	return append(dst, t.behind.machines[:t.behind.n]...)
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
