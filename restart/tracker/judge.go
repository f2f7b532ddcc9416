package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

// askNone says that nobody asks for work. It is not none, which stands for a free slot on a machine that is not known.
const askNone = none - 1

func (t *Tracker) report(e *Event, a *Answer) {
	i := t.find(e.Task, e.Attempt)
	if i == none {
		a.Reason = restart.NotRunning
		return
	}
	s, c := &t.tasks[e.Task], &t.copies.all[i]
	if !c.begun {
		t.begin(s, c)
	}
	if e.Report.valid() {
		t.take(s, c, e.Report)
	} else {
		t.ledger.Ignored++
	}
	t.judge(a, e.Task)
}

func (t *Tracker) ask(e *Event, a *Answer) {
	if s := t.task(e.Task); s == nil || s.copies == none {
		a.Reason = restart.NotRunning
		return
	}
	t.judge(a, e.Task)
}

// sweep decides about every running task.
func (t *Tracker) sweep(a *Answer) {
	found := t.found[:0]
	for i := range t.copies.all {
		task := t.copies.all[i].task
		if task == none || t.tasks[task].copies != int32(i) {
			continue // a free place, or not the first copy of its task
		}
		var one Answer
		if t.judge(&one, int(task)); one.Action != restart.Keep {
			found = append(found, one)
		}
	}
	t.found = found
	a.Task, a.Found = none, found
}

// judge decides about a task and keeps the list of candidates.
func (t *Tracker) judge(a *Answer, task int) {
	var facts restart.Phase
	t.facts(&facts)
	if t.decide(a, task, askNone, &facts) {
		t.candidates.add(int32(task))
	} else {
		t.candidates.drop(int32(task))
	}
}

// decide asks the policy about a running task, holds its answer against the budget, and reports whether the task is a
// candidate for the next free slot.
func (t *Tracker) decide(a *Answer, task, machine int, facts *restart.Phase) (candidate bool) {
	a.Task = task
	s := &t.tasks[task]
	if !t.runs(s) { // its copies wait in an engine's queue, which says nothing about them
		a.Reason = restart.NotRunning
		return false
	}
	d := &a.Decision
	var view restart.Task
	t.look(&view, s, task, machine)
	*d = t.policy.Decide(view, *facts)
	t.meant(d, len(view.Copies))
	if d.Action != restart.Keep {
		*d = t.limits.Hold(*d, view)
	}
	t.explain(s, d)
	t.rescue(s, d, &view, facts)
	if d.Action == restart.Duplicate || d.Action == restart.Restart {
		t.avoidSlow(d, &view, facts)
	}
	if d.Action == restart.Duplicate && t.config.Budget != nil && !t.config.Budget.Allows() {
		*d = restart.Decision{
			Reason: restart.BudgetSpent, Remaining: d.Remaining, Fresh: d.Fresh, Bar: d.Bar, Value: d.Value,
			Threshold: d.Threshold,
		}
	}
	t.counts.add(d)
	if a.ends() {
		a.Attempt = t.attemptOf(s, d.Copy)
	}
	return d.Action == restart.Duplicate || d.Action == restart.Keep && blocked(d.Reason)
}

// explain says why nothing is known of a task whose reports make no sense.
func (t *Tracker) explain(s *taskState, d *restart.Decision) {
	if t.ledger.BadUnits+t.ledger.SmallUnits == 0 || d.Action != restart.Keep || d.Reason != restart.NoEstimate {
		return
	}
	for i := s.copies; i != none; i = t.copies.all[i].next {
		if t.copies.all[i].badUnits || t.smallUnits {
			d.Reason = restart.BadUnits
		}
	}
}

// meant replaces an answer that can't be meant, which no policy of this library gives, by one that keeps the task, and
// drops of any other answer what has no place in a log: a reason or a basis without a name, a number that is none.
func (t *Tracker) meant(d *restart.Decision, copies int) {
	switch {
	case d.Action == restart.Keep, d.Action == restart.Duplicate:
		d.Copy = 0
	case d.Action > restart.Kill, d.Copy < 0, d.Copy >= copies:
		t.ledger.BadAnswers++
		*d = restart.Decision{Reason: restart.BadAnswer}
	}
	if d.Reason >= reasons {
		d.Reason = restart.NoReason
	}
	if !num.Finite(d.Value) || !num.Finite(d.Threshold) {
		d.Value, d.Threshold = 0, 0
	}
	if d.Basis > restart.ByAge {
		d.Basis = restart.NoBasis
	}
}

// blocked lists the reasons that concern the slot and not the task: it may well be worth a copy on the next one.
func blocked(r restart.Reason) bool {
	switch r {
	case restart.NoFreeSlot, restart.CapReached, restart.BudgetSpent, restart.SlowMachine, restart.SameMachine:
		return true
	}
	return false
}

// attemptOf turns the index of a copy in the view into the number of the attempt.
func (t *Tracker) attemptOf(s *taskState, index int) int {
	i := s.copies
	for range index {
		if t.copies.all[i].next == none {
			break
		}
		i = t.copies.all[i].next
	}
	return int(t.copies.all[i].attempt)
}

// facts fills in the phase with the distributions that the policy reads.
func (t *Tracker) facts(p *restart.Phase) {
	*p = t.phase
	p.Waiting, p.Silent = t.waiting.waits, !t.reported && !t.smallUnits
	if t.places.refuses > 0 { // a slot where no waiting task may start is not free
		machines := max(p.Machines, len(t.places.numbers)) // those heard of, if nobody has said how many there are
		p.FreeSlots = max(p.FreeSlots-t.places.refuses*max(1, p.Slots/machines), 0)
	}
	t.peers.fill(&p.Peers, t.working+p.Finished)
}

// look fills in a running task as a policy sees it, if a copy were to run on the given machine. It holds until the next
// call.
func (t *Tracker) look(view *restart.Task, s *taskState, task, machine int) {
	copies, least := t.scratch[:0], part(mostPart)
	var samples [scratchCopies]int
	for i := s.copies; i != none; i = t.copies.all[i].next {
		c := &t.copies.all[i]
		if len(copies) < len(samples) {
			samples[len(copies)] = int(c.sample)
		}
		found := t.asFound(s, c.resumed)
		copies = append(copies, restart.Copy{
			Machine: t.places.number(c.machine), Elapsed: t.age(c), Remaining: t.remaining(found, c), Score: c.score,
			Done: t.done(found, c), Resumed: c.resumed.of(s.work),
		})
		t.foresee(found, c, copies)
		least = min(least, c.resumed)
		if t.isClone(c) {
			view.Clones++
		}
		if c.badUnits {
			copies[len(copies)-1].Score = math.NaN()
		}
	}
	location := t.location(s, task, machine)
	tried := t.tried[:0]
	for _, m := range s.tried {
		if m != none {
			tried = append(tried, t.places.number(m))
		}
	}
	view.Copies, view.Work, view.Tried = copies, s.work-least.of(s.work), tried
	view.NoDuplicate, view.NoRestart = s.flags&noDuplicate != 0, s.flags&noRestart != 0
	rest := t.asFound(s, t.saved(s))
	view.Fresh = estimate.Fresh{Work: t.rates.Work(rest.work), Lag: t.lag.mean(), Location: location}
	if t.rates.Known() {
		t.rates.Peers(&t.others, samples[:min(len(copies), len(samples))]...)
		view.Fresh.UnitTime = &t.others
	}
	t.byAges(rest, view)
	if s.history != none {
		h := &t.histories[s.history]
		view.Restarts, view.Duplicates = int(h.restarts), int(h.duplicates)
		if h.lastCopy != noTime {
			view.SinceCopy = max(t.now-h.lastCopy, 1)
		}
	}
}

// remaining returns t_rem of a copy of a task as it found it: the host's, or the model's, which is unknown at the age
// of 0 and so before the begin. In a phase of which no copy has ever reported progress nothing is known; one silent
// copy among others that report is another matter.
func (t *Tracker) remaining(s *taskState, c *copyState) time.Duration {
	if c.badUnits {
		return estimate.Unknown
	}
	if c.remaining != estimate.Unknown {
		return max(num.Sub(c.remaining, t.now), 0)
	}
	if !t.reported {
		return estimate.Unknown
	}
	return t.model.Remaining(&c.progress, t.age(c), s.units())
}
