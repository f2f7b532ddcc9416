package tracker

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// rescue replaces the decision to keep a task whose copies are all on machines that leave before they are expected to
// end by one to copy it. Its bar is how long the last of these stays. A task of which nothing is known is not expected
// to end.
func (j *judge) rescue(s *taskState, d *restart.Decision, view *restart.Task, p *restart.Phase) {
	if j.fleet.leaving == 0 || view.NoDuplicate {
		return
	}
	stays, remaining := time.Duration(0), estimate.Unknown
	for i, k := s.copies, 0; i != none; i, k = j.book.copies.all[i].next, k+1 {
		c := &j.book.copies.all[i]
		left := j.fleet.stays(c.machine, j.book.now)
		needs := j.forecast.needs(s.stint(c.resumed), c, view.Copies[k].Remaining)
		if left == noTime || needs != estimate.Unknown && needs <= left {
			return
		}
		if stays = max(stays, left); needs != estimate.Unknown && (remaining == estimate.Unknown || needs < remaining) {
			remaining = needs
		}
	}
	*d = restart.Decision{Reason: restart.Leaving, Remaining: remaining, Fresh: d.Fresh, Bar: stays}
	if p.FreeSlots <= 0 {
		d.Reason = restart.NoFreeSlot
		return
	}
	d.Action, d.Gain, d.Avoid = restart.Duplicate, num.MaxDuration, restart.Avoid(*view, *p)
}

// withAvoid adds the machines that leave, fail or are too slow to those that a new copy should avoid. Where that leaves
// only machines on which the task was tried, it goes back to one of those: a task that hangs gets its copy on every
// machine that is not known to be bad.
func (j *judge) withAvoid(d *restart.Decision, view *restart.Task, p *restart.Phase) {
	if j.fleet.record == nil && j.fleet.leaving == 0 && j.reads.SlowNode == 0 {
		return
	}
	j.avoid = j.fleet.appendAvoid(j.avoid[:0], j.reads.SlowNode, j.book.told)
	bad := len(j.avoid)
	if bad == 0 {
		return
	}
	j.avoid = append(j.avoid, view.Tried...)
	most := len(j.avoid) + len(view.Copies) // they may be as many, if each is another
	if p.Machines > 0 && most >= p.Machines && distinct(j.avoid, view.Copies) >= p.Machines {
		j.avoid = j.avoid[:bad]
	}
	view.Tried = j.avoid
	d.Avoid = restart.Avoid(*view, *p)
}

// distinct counts the machines of a list and of the copies of a task, each once.
func distinct(list []int, copies []restart.Copy) (n int) {
	for i, machine := range list {
		if machine >= 0 && slices.Index(list, machine) == i {
			n++
		}
	}
	for i := range copies {
		machine := copies[i].Machine
		on := func(c restart.Copy) bool { return c.Machine == machine }
		if machine >= 0 && !slices.Contains(list, machine) && slices.IndexFunc(copies, on) == i {
			n++
		}
	}
	return n
}

// unwanted returns the answer that a task should not start on a machine, if that is so: it is too slow, it fails, or it
// leaves. Nothing is unwanted where nothing runs: one bad machine is better than none.
func (j *judge) unwanted(machine int, task int32) (d restart.Decision, is bool) {
	if machine < 0 || j.book.running == 0 {
		return d, false
	}
	if left := j.fleet.stays(j.fleet.seen(machine), j.book.now); left != noTime {
		s := &j.book.tasks[task]
		if usual, known := j.forecast.usual(s.stint(j.book.saved(s))); known && usual > left {
			return restart.Decision{Reason: restart.Leaving, Fresh: usual, Remaining: left}, true
		}
	}
	if j.fleet.record == nil {
		return d, false
	}
	v := j.fleet.record.Judge(machine)
	if !v.Avoid() || j.pays(machine, v) {
		return d, false
	}
	return restart.Decision{Reason: restart.SlowMachine, Value: v.ClassFactor, Threshold: v.Threshold}, true
}

// pays reports whether a task that starts on a slow machine now is expected to end there before the phase does.
func (j *judge) pays(machine int, v machines.Verdict) bool {
	if !j.trials.on || v.Standing != machines.Slow {
		return false
	}
	waves := 1 + float64(j.book.waiting.waits)/float64(max(j.book.slots, 1))
	return j.fleet.record.Factor(machine) <= waves
}

// exchanged returns the location factor of a task that is killed while others wait: the slot that it leaves goes to one
// of them, which will be as slow there.
func (j *judge) exchanged(s *taskState, location float64) float64 {
	if j.fleet.record == nil || j.book.waiting.waits == 0 || s.copies == none {
		return location
	}
	own := j.fleet.number(j.book.copies.all[s.copies].machine)
	if own == none {
		return location
	}
	if v := j.fleet.record.Judge(own); v.Avoid() && !j.pays(own, v) {
		return location
	}
	return max(location, j.fleet.record.Factor(own))
}
