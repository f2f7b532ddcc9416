package tracker

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// judge decides about tasks. It collects the facts of a task, gives them to the policy, and checks the policy's
// answer; see [judge.decide].
type judge struct {
	book       *book
	fleet      *fleet
	forecast   *forecast
	peers      *peers
	policy     restart.Policy
	leastCost  *restart.LeastCost // the policy, if it is LeastCost, which obeys the limits itself; otherwise nil
	inFull     bool               // for tests: make every decision in full, without bounds
	reads      rules.Description  // the facts that the policy reads
	budget     Limiter            // bounds the copies of several phases; nil: no bound
	facts      restart.Phase      // memory of phaseFacts
	badAnswers int                // number of impossible answers of the policy
	counts     counts             // how often each answer was given
	trials     trials
	ranking    ranking
	scratch    []ranked           // memory of rank and weigh
	avoid      []int              // memory of addAvoid
	others     estimate.PeerTimes // memory of fillTask: the unit times without the task's own samples
	machines   [maxMachines]int   // memory of fillTask: machines of earlier attempts
	attempts   []restart.Attempt  // memory of fillTask: facts of the task's attempts
}

// verdict is the decision about a task.
type verdict struct {
	restart.Decision
	task  int
	wants bool // the task is worth a copy, or may be worth a copy when the next slot is free
}

// phaseFacts returns the current facts of the phase; a policy decides by them. The result is valid until the next call.
func (j *judge) phaseFacts() *restart.Phase {
	b, p := j.book, &j.facts
	p.Finished, p.Waiting, p.Copies = b.finished, b.waiting.waits, b.copies()
	p.Slots, p.FreeSlots = b.slots, max(max(b.slots-b.running, 0)-j.fleet.refusedSlots(b.slots), 0)
	p.Silent, p.Machines = !j.forecast.reported && !j.forecast.units.disbelieved, j.fleet.count
	if j.trials.on {
		p.Trials, p.Idle = j.account(), num.Sub(b.now, b.lastChange)
	}
	p.Peers = restart.Peers{}
	j.peers.fill(&p.Peers, b.working+b.finished)
	return p
}

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
func (j *judge) decide(task int32, machine int, p *restart.Phase) verdict {
	v := verdict{task: int(task)}
	s := &j.book.tasks[task]
	if !j.book.runs(s) { // its attempts wait in an engine's queue, which shows nothing about the task
		v.Reason = restart.NotRunning
		return v
	}
	if machine == askNone && j.keepByBounds(&v.Decision, task, p) {
		return v
	}
	var view restart.Task
	j.fillTask(&view, task, machine)
	d := &v.Decision
	*d = j.policy.Decide(view, *p)
	if j.leastCost == nil {
		j.sanitize(d, len(view.Attempts))
		*d = restart.Hold(*d, view, *p)
	}
	if d.Action == restart.Keep {
		j.explain(s, d)
		j.rescue(s, d, &view, p)
	}
	if d.Action == restart.Copy || d.Action == restart.Restart {
		j.addAvoid(d, &view, p)
	}
	if d.Action == restart.Copy && j.budget != nil && !j.budget.Allows() {
		*d = restart.Decision{Reason: restart.BudgetSpent, Remaining: d.Remaining, Fresh: d.Fresh, Bar: d.Bar}
	}
	if ends(d) {
		d.Attempt = j.book.attemptOf(s, d.Attempt) // the policy named the attempt by its index
	}
	v.wants = d.Action == restart.Copy || d.Action == restart.Keep && blocked(d.Reason)
	return v
}

// fillTask sets view to the current facts of a running task; a policy decides by them. Machine is the machine where a
// new attempt of the task would run. The view is valid until the next call, because it uses the scratch memory of j.
func (j *judge) fillTask(view *restart.Task, task int32, machine int) {
	b, f := j.book, j.forecast
	s := &b.tasks[task]
	attempts, leastResumed, oldest := j.attempts[:0], part(mostPart), time.Duration(0)
	var samples [maxForeseen]int
	for i := s.newest; i != none; i = b.attempts.all[i].next {
		a := &b.attempts.all[i]
		n := len(attempts)
		if n < len(samples) {
			samples[n] = int(a.sample)
		}
		w := s.stint(a.resumed)
		attempts = append(attempts, restart.Attempt{
			Machine: j.fleet.number(a.machine), Elapsed: b.age(a), Remaining: f.remaining(w, a), Score: a.score,
			Done: a.done, Resumed: a.resumed.of(s.work),
		})
		f.foresee(w, a, n, &attempts[n])
		if m := attempts[n].Machine; m >= 0 && j.trials.on {
			attempts[n].Location = j.fleet.location(b, task, m)
		}
		leastResumed, oldest = min(leastResumed, a.resumed), max(oldest, attempts[n].Elapsed)
		if b.isClone(a) {
			view.Clones++
		}
		if a.badUnits {
			attempts[n].Score = math.NaN()
		}
	}
	past := j.machines[:0]
	for _, m := range s.machines {
		if m != none {
			past = append(past, j.fleet.number(m))
		}
	}
	j.attempts = attempts
	view.Attempts, view.PastMachines = attempts, past
	if s.flags&knownWork != 0 {
		view.Work = s.work - leastResumed.of(s.work)
	}
	view.NoCopy, view.NoRestart = s.flags&noCopy != 0, s.flags&noRestart != 0
	location := j.fleet.location(b, task, machine)
	if j.trials.on {
		location = j.exchanged(s, location)
	}
	own, rest := samples[:min(len(attempts), len(samples))], s.stint(b.saved(s))
	view.Fresh = f.fresh(rest, location, oldest, own, &j.others)
	if j.trials.on {
		view.Longest = f.longest(rest)
		onSuspects := j.fleet.leavesSuspects(b, s, machine)
		for i := range attempts {
			if a := &attempts[i]; onSuspects && a.Remaining != estimate.Unknown {
				a.Location = j.blamedLocation(a.Location, num.Add(a.Elapsed, a.Remaining).Seconds(), view.Fresh)
			}
		}
	}
	if s.history != none {
		h := &b.histories[s.history]
		view.Restarts, view.Copies = int(h.restarts), int(h.copies)
		if h.lastCopy != noTime {
			view.SinceCopy = max(b.now-h.lastCopy, 1)
		}
	}
}

// blamedLocation returns the location factor of an attempt on a suspect machine: how many times longer the attempt
// takes there than elsewhere. It puts the blame for a slow attempt on the machine. So the factor is the predicted
// total time of the attempt (whole, in seconds), divided by the typical time of a new attempt, but at least location.
// If more trials were lost than won, the blame may be wrong, and the result is location.
func (j *judge) blamedLocation(location, whole float64, fresh estimate.Fresh) float64 {
	fresh.Location = 1
	typical := restart.Typical(&fresh).Seconds()
	if j.trials.Won < j.trials.Lost || !(typical > 0) {
		return location
	}
	return max(location, whole/typical)
}

// sanitize checks the answer of a policy that the host has written. It replaces an impossible answer by a decision to
// keep the task. An example is the kill of an attempt that does not exist. In other answers it clears values that a
// log cannot contain: a reason or a basis without a name, and NaN.
func (j *judge) sanitize(d *restart.Decision, attempts int) {
	switch {
	case d.Action == restart.Keep, d.Action == restart.Copy:
		d.Attempt = 0
	case d.Action > restart.Kill, d.Attempt < 0, d.Attempt >= attempts:
		j.badAnswers++
		*d = restart.Decision{Reason: restart.BadAnswer}
	}
	if d.Reason >= reasons {
		d.Reason = restart.NoReason
	}
	d.Comparison = restart.Compare(d.Measure, d.Value, d.Threshold)
	if d.Basis > restart.ByEarlyProgress {
		d.Basis = restart.NoBasis
	}
	if d.Won < 0 || d.Tried < d.Won {
		d.Won, d.Tried = 0, 0
	}
}

// explain changes the reason of a task that was kept without an estimate to BadUnits, if progress in a wrong unit is
// the cause.
func (j *judge) explain(s *taskState, d *restart.Decision) {
	units := &j.forecast.units
	if units.tooLarge+units.tooSmall == 0 || d.Reason != restart.NoEstimate {
		return
	}
	for i := s.newest; i != none; i = j.book.attempts.all[i].next {
		if j.book.attempts.all[i].badUnits || units.disbelieved {
			d.Reason = restart.BadUnits
		}
	}
}

// blocked reports whether a reason to keep a task is about the slot, and not about the task. Then the task may be
// worth a copy when the next slot is free.
func blocked(r restart.Reason) bool {
	switch r {
	case restart.NoFreeSlot, restart.CapReached, restart.BudgetSpent, restart.SlowMachine, restart.SameMachine:
		return true
	}
	return false
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
func (j *judge) keepByBounds(d *restart.Decision, task int32, p *restart.Phase) bool {
	b, f := j.book, j.forecast
	s, m := &b.tasks[task], &f.ages
	if j.leastCost == nil || j.inFull || f.hasPrior || j.fleet.leaving > 0 || b.several(s) || s.candidate != none {
		return false
	}
	a := &b.attempts.all[s.newest]
	if a.remaining != estimate.Unknown || a.badUnits || !f.reported || !(a.trail.Done() > 0) || standsStill(a) ||
		m.stale(b.now, f.interval) {
		return false
	}
	w, age := s.stint(a.resumed), b.age(a)
	left := f.remaining(w, a)
	if left == estimate.Unknown {
		return false
	}
	o, prediction := restart.Outline{Age: age}, f.predict(a, age, left, f.scale(float64(w)))
	// This is the same condition as in foresee.
	prediction.Expected = prediction.Expected || f.standsOut(w, a, prediction.Total)
	known := false
	o.Left, known = m.shape.AtMost(prediction, &m.curve)
	if !known && m.believesEven(&a.trail) {
		prediction.Even = true // with Even, AtMost has an answer more often, and its answers are the same
		o.Left, known = m.shape.AtMost(prediction, &m.curve)
	}
	if !known || o.Left > 0 && p.Tasks < boundsFrom || p.Stuck(f.longest(s.stint(b.saved(s)))) {
		return false
	}
	if machine := j.fleet.number(a.machine); machine >= 0 {
		o.Location = j.fleet.location(b, task, machine)
	}
	own, location := [1]int{int(a.sample)}, j.exchanged(s, j.fleet.location(b, task, askNone))
	o.Fresh = f.fresh(s.stint(b.saved(s)), location, age, own[:], &j.others)
	fresh := o.Fresh.Expected()
	if fresh == estimate.Unknown {
		return false
	}
	if j.fleet.leavesSuspects(b, s, askNone) {
		// o.Left is at least t_rem, so this factor is at least the factor of a full decision.
		o.Location = j.blamedLocation(o.Location, age.Seconds()+o.Left, o.Fresh)
	}
	value, threshold, sure := j.leastCost.NotSlow(&o, p)
	if !sure {
		return false
	}
	basis := restart.ByProgress
	if !prediction.Expected && m.curve.Ends() < survival.EnoughEnds { // too few ends to trust the prediction from progress
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

// rescue changes the decision to keep a task to a copy, if all attempts of the task run on machines that will leave
// before the attempts are expected to end. If nothing is known about an attempt, it is not expected to end in time.
// The Bar of the decision is the time until the last such machine leaves.
func (j *judge) rescue(s *taskState, d *restart.Decision, view *restart.Task, p *restart.Phase) {
	if j.fleet.leaving == 0 || view.NoCopy {
		return
	}
	stays, remaining := time.Duration(0), estimate.Unknown
	for i, k := s.newest, 0; i != none; i, k = j.book.attempts.all[i].next, k+1 {
		a := &j.book.attempts.all[i]
		left := j.fleet.stays(a.machine, j.book.now)
		needs := j.forecast.remainingOnLeaving(s.stint(a.resumed), a, view.Attempts[k].Remaining)
		if left == noTime || needs != estimate.Unknown && needs <= left {
			return
		}
		stays = max(stays, left)
		if needs != estimate.Unknown && (remaining == estimate.Unknown || needs < remaining) {
			remaining = needs
		}
	}
	*d = restart.Decision{Reason: restart.Leaving, Remaining: remaining, Fresh: d.Fresh, Bar: stays}
	if p.FreeSlots <= 0 {
		d.Reason = restart.NoFreeSlot
		return
	}
	d.Action, d.Gain, d.Avoid = restart.Copy, num.MaxDuration, restart.Avoid(*view, *p)
	certain := *p
	certain.Limits.LossShare = restart.Off // the machine certainly leaves, so this copy is not bounded as a guess
	*d = restart.Hold(*d, *view, certain)
}

// addAvoid adds machines to the Avoid of a decision, the list of machines on which a new attempt should not run. It
// adds the machines that will leave, that fail, or that are too slow. If Avoid would then contain all machines, the
// machines on which earlier attempts of the task ran are left out. So a hung task can get a copy on every machine
// that is not known to be bad.
func (j *judge) addAvoid(d *restart.Decision, view *restart.Task, p *restart.Phase) {
	if j.fleet.record == nil && j.fleet.leaving == 0 && j.reads.SlowNode == 0 {
		return
	}
	j.avoid = j.fleet.appendAvoid(j.avoid[:0], j.reads.SlowNode, j.book.events)
	bad := len(j.avoid)
	if bad == 0 {
		return
	}
	j.avoid = append(j.avoid, view.PastMachines...)
	most := len(j.avoid) + len(view.Attempts) // an upper bound of the result of distinct, computed first as it is cheap
	if p.Machines > 0 && most >= p.Machines && distinct(j.avoid, view.Attempts) >= p.Machines {
		j.avoid = j.avoid[:bad]
	}
	view.PastMachines = j.avoid
	d.Avoid = restart.Avoid(*view, *p)
}

// distinct returns how many different machines are in a list or run an attempt of a task.
func distinct(list []int, attempts []restart.Attempt) (n int) {
	for i, machine := range list {
		if machine >= 0 && slices.Index(list, machine) == i {
			n++
		}
	}
	for i := range attempts {
		machine := attempts[i].Machine
		on := func(a restart.Attempt) bool { return a.Machine == machine }
		if machine >= 0 && !slices.Contains(list, machine) && slices.IndexFunc(attempts, on) == i {
			n++
		}
	}
	return n
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
func (j *judge) unwanted(machine int, task int32) (d restart.Decision, is bool) {
	if machine < 0 || j.book.running == 0 {
		return d, false
	}
	s := &j.book.tasks[task]
	w := s.stint(j.book.saved(s))
	if left := j.fleet.stays(j.fleet.find(machine), j.book.now); left != noTime {
		if median, known := j.forecast.median(w); known && median > left {
			return restart.Decision{Reason: restart.Leaving, Fresh: median, Remaining: left}, true
		}
	}
	if j.fleet.record == nil {
		return d, false
	}
	waits := j.book.waiting.waits
	if j.reads.Has(rules.Trials) && waits <= j.book.slots && j.book.now < j.fleet.beatenUntil(machine) {
		d.Reason = restart.BeatenMachine
		d.Comparison = restart.Compare(restart.WaitingTasks, float64(waits), float64(j.book.slots))
		return d, true
	}
	v := j.fleet.record.Judge(machine)
	if !v.Avoid() || j.pays(machine, v) {
		return d, false
	}
	d.Reason, d.Comparison = restart.SlowMachine, restart.Compare(restart.SlowFactor, v.ClassFactor, v.Threshold)
	return d, true
}

// pays reports whether it pays to start a task on a slow machine now. It does if the task is expected to end there
// before the waiting tasks of the phase end elsewhere.
func (j *judge) pays(machine int, v machines.Verdict) bool {
	if !j.trials.on || v.Standing != machines.Slow {
		return false
	}
	waves := 1 + float64(j.book.waiting.waits)/float64(max(j.book.slots, 1))
	return j.fleet.record.Factor(machine) <= waves
}

// exchanged returns the location factor with which the time of a new attempt of the task is predicted: how many times
// longer an attempt takes on its machine than on an average machine. If other tasks wait, a kill frees a slot on the
// task's own machine, and a waiting task gets this slot. That task will be as slow on this machine. So the result is
// at least the factor of the task's own machine, unless no waiting task would start there.
func (j *judge) exchanged(s *taskState, location float64) float64 {
	if j.fleet.record == nil || j.book.waiting.waits == 0 || s.newest == none {
		return location
	}
	own := j.fleet.number(j.book.attempts.all[s.newest].machine)
	if own == none {
		return location
	}
	if v := j.fleet.record.Judge(own); v.Avoid() && !j.pays(own, v) {
		return location
	}
	return max(location, j.fleet.record.Factor(own))
}
