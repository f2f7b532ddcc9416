package tracker

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// askNone, as the machine that asks for work, says that no machine asks. In contrast, none says that a slot on an
// unknown machine asks for work.
const askNone = none - 1

// decide decides about a running task now. Machine is the machine that asks for work; askNone if no machine asks. A
// decision has five steps, and each step may change the answer of the step before. A step that refuses an action sets
// the reason.
//
//   - The policy answers. An impossible answer becomes Keep.
//   - The limits of the phase are applied, by [restart.Hold].
//   - If the answer is Keep, but all machines of the task will leave before the task is expected to end, the task gets
//     a copy.
//   - The machines on which a new attempt should not run are added to Avoid.
//   - If the answer is Copy, and the budget allows no copy now, it becomes Keep.
func (x *phase) decide(task int32, machine int, p *restart.Phase) verdict {
	v := verdict{task: x.book.index(task)}
	s := &x.book.tasks[task]
	if !x.book.runs(s) { // its attempts wait in an engine's queue, which shows nothing about the task
		v.Reason = restart.NotRunning
		return v
	}
	if machine == askNone && x.keepByBounds(&v.Decision, task, p) {
		return v
	}
	var view restart.Task
	x.taskFacts(&view, task, machine)
	d := &v.Decision
	*d = x.judge.answer(&view, p)
	if d.Action == restart.Keep {
		x.explain(s, d)
		x.rescue(s, d, &view, p)
	}
	if d.Action == restart.Copy || d.Action == restart.Restart {
		x.judge.addAvoid(d, &view, p, x.badMachines())
	}
	if d.Action == restart.Copy && !x.budget.Allows() {
		*d = restart.Decision{Reason: restart.BudgetSpent, Remaining: d.Remaining, Fresh: d.Fresh, Bar: d.Bar}
	}
	if ends(d) {
		d.Attempt = x.book.attemptOf(s, d.Attempt) // the policy named the attempt by its index
	}
	v.wants = d.Action == restart.Copy || d.Action == restart.Keep && blocked(d.Reason)
	return v
}

// explain changes the reason of a task that was kept without an estimate to BadUnits, if progress in a wrong unit is
// the cause.
func (x *phase) explain(s *taskState, d *restart.Decision) {
	for i := s.newest; i != none && d.Reason == restart.NoEstimate; i = x.book.attempts.all[i].next {
		if x.book.attempts.all[i].unit.bad || !x.units.believes() {
			d.Reason = restart.BadUnits
		}
	}
}

// rescue changes the decision to keep a task, if all attempts of the task run on machines that will leave before the
// attempts are expected to end. If nothing is known about an attempt, it is not expected to end in time.
func (x *phase) rescue(s *taskState, d *restart.Decision, view *restart.Task, p *restart.Phase) {
	if x.fleet.leaving == 0 || view.NoCopy {
		return
	}
	stays, remaining := time.Duration(0), estimate.Unknown
	for i, k := s.newest, 0; i != none; i, k = x.book.attempts.all[i].next, k+1 {
		a := &x.book.attempts.all[i]
		left := x.fleet.stays(a.machine, x.book.now)
		needs := x.remainingOnLeaving(x.run(a), view.Attempts[k].Remaining)
		if left == noTime || needs != estimate.Unknown && needs <= left {
			return
		}
		stays = max(stays, left)
		if needs != estimate.Unknown && (remaining == estimate.Unknown || needs < remaining) {
			remaining = needs
		}
	}
	*d = rescue(d.Fresh, stays, remaining, view, p)
}

// badMachines returns the machines on which no new attempt should run: machines that will leave, that fail, or that are
// too slow.
func (x *phase) badMachines() []int {
	if x.fleet.record == nil && x.fleet.leaving == 0 && x.judge.reads.SlowNode == 0 {
		return nil
	}
	return x.fleet.appendAvoid(x.judge.avoid[:0], x.judge.reads.SlowNode, x.book.events)
}

// unwanted reports whether a waiting task should not start on a machine, and returns the decision that refuses it.
// There are three causes:
//
//   - The machine will leave too soon.
//   - The record of machines says that the machine fails or is too slow.
//   - All waiting tasks could start in one more wave, and the last attempt that ended on the machine was overtaken by
//     a copy elsewhere. The machine may be the cause, and other slots will be free soon. A single case proves little,
//     so the machine is refused only for as long as the longest run time so far.
//
// While no attempt of the phase runs, no machine is refused, because a bad machine is better than none.
func (x *phase) unwanted(machine int, task int32) (d restart.Decision, is bool) {
	if machine < 0 || x.book.running == 0 {
		return d, false
	}
	s := &x.book.tasks[task]
	w := s.stint(x.book.saved(s))
	if left := x.fleet.stays(x.fleet.find(machine), x.book.now); left != noTime {
		if median, known := x.median(w); known && median > left {
			return restart.Decision{Reason: restart.Leaving, Fresh: median, Remaining: left}, true
		}
	}
	if x.fleet.record == nil {
		return d, false
	}
	waits := x.book.waiting.waits
	if x.judge.reads.Has(rules.Trials) && waits <= x.book.slots && x.book.now < x.fleet.beatenUntil(machine) {
		d.Reason = restart.BeatenMachine
		d.Comparison = restart.Compare(restart.WaitingTasks, float64(waits), float64(x.book.slots))
		return d, true
	}
	v := x.fleet.record.Judge(machine)
	if !v.Avoid() || x.pays(machine, v) {
		return d, false
	}
	d.Reason, d.Comparison = restart.SlowMachine, restart.Compare(restart.SlowFactor, v.ClassFactor, v.Threshold)
	return d, true
}

// pays reports whether it pays to start a task on a slow machine now. It does if the task is expected to end there
// before the waiting tasks of the phase end elsewhere.
func (x *phase) pays(machine int, v machines.Verdict) bool {
	if !x.trials.on || v.Standing != machines.Slow {
		return false
	}
	waves := 1 + float64(x.book.waiting.waits)/float64(max(x.book.slots, 1))
	return x.fleet.record.Factor(machine) <= waves
}

// Most reports come from attempts that are far from slow. For the default policy, LeastCost, cheap bounds can show
// this, at a small part of the cost of a full decision.

// boundsFrom is the least number of tasks of a phase in which cheap bounds replace full decisions. In a smaller
// phase, full decisions cost little. And a full decision contains exactly the numbers that [restart.LeastCost.Decide]
// compares, while bounds only enclose these numbers.
const boundsFrom = 64

// keepByBounds keeps a task that is certainly not slow, without a full decision. It returns true if it has done so.
// It needs two bounds. [survival.Shape.AtMost] gives an upper bound of the remaining time (t_rem).
// [restart.LeastCost.NotSlow] then says whether an attempt with this remaining time is certainly not slow. If
// keepByBounds returns false, a full decision is needed. It then has changed only state that a full decision changes
// as well.
//
// The bounds hold for a task with a single attempt, which reports progress. The task must not be a candidate for a
// copy. In these cases, too, a full decision is needed:
//
//   - The curve of run times must be fitted again.
//   - A machine of the phase will leave.
//   - The phase is stuck: nothing has begun or ended for far longer than an attempt takes.
//   - The host has given the remaining time of the attempt, or a prior distribution of unit times.
func (x *phase) keepByBounds(d *restart.Decision, task int32, p *restart.Phase) bool {
	b, f := &x.book, &x.forecast
	s, curve := &b.tasks[task], &x.ages.curve
	if x.judge.leastCost == nil || x.judge.inFull || f.hasPrior || x.fleet.leaving > 0 || b.several(s) || s.candidate != none {
		return false
	}
	a := &b.attempts.all[s.newest]
	r := x.run(a)
	if r.track.remaining != estimate.Unknown || r.bad || !f.reported || !(r.trail.Done() > 0) || r.standsStill() ||
		x.isStale() {
		return false
	}
	left := f.remaining(r, b.now)
	if left == estimate.Unknown {
		return false
	}
	o, prediction := restart.Outline{Age: r.age}, x.predict(r, s, left, x.scale(r.work))
	known := false
	o.Left, known = f.shape.AtMost(prediction, curve)
	if !known && x.even.believes(&r.trail) {
		prediction.Even = true // with Even, AtMost has an answer more often, and its answers are the same
		o.Left, known = f.shape.AtMost(prediction, curve)
	}
	rest := s.stint(b.saved(s))
	if !known || o.Left > 0 && p.Tasks < boundsFrom || p.Stuck(x.longest(rest)) {
		return false
	}
	if machine := x.fleet.number(a.machine); machine >= 0 {
		o.Location = x.location(task, machine)
	}
	own, location := [1]int{int(r.sample)}, x.exchanged(s, x.location(task, askNone))
	o.Fresh = x.fresh(rest, location, r.age, own[:])
	fresh := o.Fresh.Expected()
	if fresh == estimate.Unknown {
		return false
	}
	if x.leavesSuspects(s, askNone) {
		// o.Left is at least t_rem, so this factor is at least the factor of a full decision.
		o.Location = x.blamedLocation(o.Location, r.age.Seconds()+o.Left, o.Fresh)
	}
	value, threshold, sure := x.judge.leastCost.NotSlow(&o, p)
	if !sure {
		return false
	}
	basis := restart.ByProgress
	if !prediction.Expected && curve.Ends() < survival.EnoughEnds { // too few ends to trust the prediction from progress
		left, _ = num.Duration(o.Left)
		basis = restart.ByEarlyProgress
	}
	*d = restart.Decision{
		Reason: restart.NotSlow, Remaining: left, Fresh: fresh, Basis: basis,
		Comparison: restart.Compare(restart.SlotSeconds, value, threshold),
	}
	d.Won, d.Tried = p.Trials.Counts()
	return true
}
