package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// MachineRecord is what is known of the machines of a cluster; [machines.Record] is one. The tracker tells it of what
// runs and ends, and asks it where a copy would be as slow. Share one among the phases of a cluster; to share it among
// trackers on several goroutines, wrap it in a MachineRecord of your own that locks.
type MachineRecord interface {
	estimate.Factors
	Running(now time.Time, machine int, key uint64, a machines.Attempt) bool
	End(now time.Time, machine int, key uint64, a machines.Attempt, how machines.Outcome) bool
	Elsewhere(machines ...int) (factor float64, known int)
	Judge(machine int) machines.Verdict
	AppendAvoid(dst []int) []int
	AddProgress(now time.Time, machine int, change float64) bool
	Progress(machine int) (total float64, of *estimate.Empirical)
}

// places numbers the machines that the tracker has heard of in the order of their appearance: the host's numbers may be
// any.
type places struct {
	index   map[int]int32
	numbers []int
	leaves  []time.Duration // when a machine leaves; noTime if that is not known
	refused []bool          // a slot of it was offered for waiting tasks, and not wanted
	refuses int             // machines that are refused
}

// refuse notes whether a machine's slots are wanted.
func (p *places) refuse(place int32, refused bool) {
	if place == none || p.refused[place] == refused {
		return
	}
	if p.refused[place] = refused; refused {
		p.refuses++
	} else {
		p.refuses--
	}
}

// of returns the place of a machine; none if it is negative.
func (p *places) of(machine int) int32 {
	if machine < 0 {
		return none
	}
	i, ok := p.index[machine]
	if !ok {
		if p.index == nil {
			p.index = map[int]int32{}
		}
		i = int32(len(p.numbers))
		p.index[machine] = i
		p.numbers, p.leaves, p.refused = append(p.numbers, machine), append(p.leaves, noTime), append(p.refused, false)
	}
	return i
}

// seen is of for a machine that may never have been heard of, which is none as well.
func (p *places) seen(machine int) int32 {
	if i, ok := p.index[machine]; ok {
		return i
	}
	return none
}

// number returns the host's number of a place; -1 for none.
func (p *places) number(place int32) int {
	if place == none {
		return none
	}
	return p.numbers[place]
}

// location returns locationFactor of a copy of the task on a machine: that of the machine and that of the way to the
// data. Where no machine asks, it is that of the best place that is open to the copy; 0 if nothing is known of places.
func (t *Tracker) location(s *taskState, task, machine int) float64 {
	if t.config.Record == nil && t.config.Path == nil {
		return 0
	}
	factor := 1.0
	switch {
	case t.config.Record == nil:
	case machine >= 0:
		factor = t.config.Record.Factor(machine)
	default:
		factor = t.elsewhere(s)
	}
	return factor * t.path(task, max(machine, none))
}

// elsewhere returns the factor of the best machine on which no copy of the task runs: an average one if there are
// machines of which nothing is known.
func (t *Tracker) elsewhere(s *taskState) float64 {
	taken := t.tried[:0]
	for i := s.copies; i != none && len(taken) < cap(taken); i = t.copies.all[i].next {
		if machine := t.places.number(t.copies.all[i].machine); machine != none {
			taken = append(taken, machine)
		}
	}
	factor, known := t.config.Record.Elsewhere(taken...)
	if known == 0 || t.config.Machines == 0 || known < t.config.Machines-len(taken) {
		return 1
	}
	return factor
}

// path returns what the way to its data costs a copy of the task on a machine.
func (t *Tracker) path(task, machine int) float64 {
	if t.config.Path == nil {
		return 1
	}
	if factor := t.config.Path(task, machine); factor > 0 && num.Finite(factor) {
		return factor
	}
	return 1
}

// run is what is known of a copy's run.
func (t *Tracker) run(s *taskState, c *copyState) estimate.Run {
	machine := t.places.number(c.machine)
	r := estimate.Run{Age: t.age(c), Work: s.work, Done: c.progress.Done() / t.bias(c), Machine: machine}
	if c.badUnits {
		r.Done = 0
	}
	if t.config.Path != nil {
		r.Path = t.path(int(c.task), machine)
	}
	return r
}

// shown is the age of a copy as of which its progress implies its whole time: that of its last report, since a copy
// that is silent since then has not stopped. But it has taken at least its age.
func (t *Tracker) shown(s *taskState, c *copyState) (age time.Duration, done float64) {
	age, done = t.age(c), c.progress.Done()/t.bias(c)
	at := c.progress.At()
	switch {
	case c.badUnits || t.smallUnits:
		return age, 0
	case done <= 0 || at <= 0:
		return age, done
	case at.Seconds()*s.units() < age.Seconds()*done:
		return age, s.units()
	}
	return at, done
}

// attempt is what the record of the machines is told of a copy.
func (t *Tracker) attempt(s *taskState, c *copyState) machines.Attempt {
	age, done := t.shown(s, c)
	a := machines.Attempt{Ran: age, Done: min(done/s.units(), 1)}
	if t.rates.Known() {
		work := t.rates.Work(s.work) * t.path(int(c.task), t.places.number(c.machine))
		a.Usual, _ = num.Duration(t.rates.Quantile(0.5) * work)
	}
	return a
}

// key tells an attempt from the others on its machine, also from those of other phases. It is that of the task's attempt
// of 65,536 attempts ago as well, which is long over.
func (t *Tracker) key(c *copyState) uint64 {
	return t.config.Phase<<48 ^ uint64(c.task)<<16 ^ uint64(uint16(c.attempt))
}

// tellRunning tells the record how a copy gets on, if it has shown much more since the last time.
func (t *Tracker) tellRunning(s *taskState, c *copyState) {
	age := t.age(c)
	told := time.Duration(float64(c.told) * 1e9)
	if t.config.Record == nil || c.machine == none || age < told+told/8+t.config.Interval/2 {
		return
	}
	c.told = float32(age.Seconds())
	t.config.Record.Running(t.clock.Last, t.places.number(c.machine), t.key(c), t.attempt(s, c))
}

// tellEnd tells the record that a copy has ended, and how. Long says that the task is known to be long wherever it
// runs: then the copy's time says nothing about the machine.
func (t *Tracker) tellEnd(s *taskState, c *copyState, how machines.Outcome, long bool) {
	if t.config.Record == nil || c.machine == none || !c.begun {
		return
	}
	a := t.attempt(s, c)
	if how == machines.Finished {
		a.Ran, a.Done = t.age(c), 1
	}
	if long {
		a.Usual = 0
	}
	t.config.Record.End(t.clock.Last, t.places.number(c.machine), t.key(c), a, how)
}

// unwanted returns the answer that a task should not start on a machine, if that is so: it is too slow, it fails, or it
// leaves. Nothing is unwanted where nothing runs: one bad machine is better than none.
func (t *Tracker) unwanted(machine int, task int32) (d restart.Decision, is bool) {
	if machine < 0 || t.running == 0 {
		return d, false
	}
	if left := t.leavesIn(t.places.seen(machine)); left != noTime && t.rates.Known() {
		s := &t.tasks[task]
		usual, _ := num.Duration(t.rates.Quantile(0.5) * t.rates.Work(t.asFound(s, t.saved(s)).work))
		if usual > left {
			return restart.Decision{Reason: restart.Leaving, Fresh: usual, Remaining: left}, true
		}
	}
	if t.config.Record == nil {
		return d, false
	}
	v := t.config.Record.Judge(machine)
	if !v.Avoid() {
		return d, false
	}
	return restart.Decision{Reason: restart.SlowMachine, Value: v.Factor, Threshold: v.Threshold}, true
}

// leavesIn returns how long a machine stays; noTime if nothing is said of it.
func (t *Tracker) leavesIn(place int32) time.Duration {
	if t.leaving == 0 || place == none || t.places.leaves[place] == noTime {
		return noTime
	}
	return max(num.Sub(t.places.leaves[place], t.now), 0)
}

// strands reports whether all copies of a task are on machines that leave before they are expected to end, how long the
// last of these stays, and t_rem of the fastest copy. It goes by t_rem as the policy sees it, once ends have shown how
// far off that is, by plain extrapolation before, and otherwise by what the longest took that has ended; a task of
// which nothing at all is known is not expected to end.
func (t *Tracker) strands(s *taskState, view *restart.Task) (stays, remaining time.Duration, is bool) {
	if t.leaving == 0 {
		return 0, 0, false
	}
	remaining = estimate.Unknown
	for i, k := s.copies, 0; i != none; i, k = t.copies.all[i].next, k+1 {
		c := &t.copies.all[i]
		found := t.asFound(s, c.resumed)
		left, needs := t.leavesIn(c.machine), t.remaining(found, c)
		if needs == estimate.Unknown || t.times.sure() {
			needs = view.Copies[k].Remaining
		}
		if needs == estimate.Unknown {
			needs = t.atMost(found, c)
		}
		if left == noTime || needs != estimate.Unknown && needs <= left {
			return 0, 0, false
		}
		if stays = max(stays, left); needs != estimate.Unknown && (remaining == estimate.Unknown || needs < remaining) {
			remaining = needs
		}
	}
	return stays, remaining, true
}

// rescue replaces the decision about a task that will not end where it runs by one to copy it, as far as that may be.
func (t *Tracker) rescue(s *taskState, d *restart.Decision, view *restart.Task, facts *restart.Phase) {
	if d.Action != restart.Keep || view.NoDuplicate {
		return
	}
	stays, remaining, is := t.strands(s, view)
	if !is {
		return
	}
	*d = restart.Decision{Reason: restart.Leaving, Remaining: remaining, Fresh: d.Fresh, Bar: stays}
	if facts.FreeSlots <= 0 {
		d.Reason = restart.NoFreeSlot
		return
	}
	d.Action, d.Gain, d.Avoid = restart.Duplicate, num.MaxDuration, restart.Avoid(*view, *facts)
	*d = t.limits.Hold(*d, *view)
}
