package tracker

import (
	"github.com/straggler-go/straggler/restart"
)

// Apply tells the tracker of an event, or asks it, and returns its answer. It is what the methods below stand for: use
// it for events that were stored, or that come from elsewhere. An event of no known kind is ignored.
func (t *Tracker) Apply(e Event) (a Answer) {
	t.apply(&e, &a)
	return a
}

func (t *Tracker) apply(e *Event, a *Answer) {
	if t.judge.book == nil { // New did not make it
		t.ledger.Ignored++
		a.Task, a.Attempt, a.Ignored = none, none, true
		return
	}
	ignored := t.ledger.Ignored
	t.book.told++
	if e.Kind.Timed() {
		t.tick(e)
	}
	a.Task = e.Task
	copies := t.ledger.Copies
	switch e.Kind {
	case Recorded:
		t.report(e)
	case Reported:
		if a.Reason = restart.NotRunning; t.report(e) {
			t.decide(a, e.Task)
		}
	case Asked:
		if a.Reason = restart.NotRunning; t.known(e.Task) && t.book.tasks[e.Task].copies != none {
			t.decide(a, e.Task)
		}
	case Offered:
		t.offer(e, a)
	case Swept:
		t.sweep(a)
	case Started, Submitted:
		a.Attempt = t.submit(e.Task, e.Machine, e.Kind == Started)
	case Begun:
		t.begin(e.Task, e.Attempt, e.Machine)
	case Finished:
		a.Overtaken = t.finish(e.Task, e.Attempt)
	case Failed:
		t.fail(e.Task, e.Attempt)
	case Killed, Restarted:
		t.kill(e.Task, e.Attempt, e.Kind == Restarted)
	case GivenUp:
		t.giveUp(e.Task)
	case OutputLost:
		t.loseOutput(e.Task)
	case EligibleSet:
		t.setEligible(e)
	default:
		a.Task = none
		t.applyToAll(e, a)
	}
	// The candidates stay in their order while slots are offered and given to them, and nothing else happens.
	t.judge.ranking.holds = t.judge.ranking.holds && (e.Kind == Offered || t.ledger.Copies > copies)
	a.Ignored = t.ledger.Ignored != ignored
	if t.config.OnEvent != nil {
		t.config.OnEvent(*e, *a)
	}
}

// applyToAll tells of an event that is about no task.
func (t *Tracker) applyToAll(e *Event, a *Answer) {
	switch e.Kind {
	case MachineLost:
		a.Waiting = t.loseMachine(e.Machine)
	case MachineLeaves:
		t.leave(e.Machine, e.Leaves)
	case SlotsSet:
		t.setSlots(e.Slots)
	case Closed:
		t.close()
	default:
		a.Task = e.Task
		t.ledger.Ignored++
	}
}

// tick takes the time of an event. Where the host's clock steps back, time goes on from there. An event without a time
// is given the last one, so that who observes it can record it.
func (t *Tracker) tick(e *Event) {
	t.book.now = t.book.clock.At(e.Time)
	if e.Time.IsZero() {
		e.Time = t.book.clock.Last
	}
}

// known reports whether there is such a task, and counts it if there is not.
func (t *Tracker) known(task int) bool {
	known := t.book.task(task) != nil
	if !known {
		t.ledger.Ignored++
	}
	return known
}

// decide decides about a running task, and keeps the list of candidates.
func (t *Tracker) decide(a *Answer, task int) { t.judged(a, int32(task), t.judge.phase()) }

func (t *Tracker) judged(a *Answer, task int32, p *restart.Phase) {
	v := t.judge.decide(task, askNone, p)
	if v.wants {
		t.book.candidates.add(task)
	} else {
		t.book.candidates.drop(task)
	}
	t.answer(a, &v)
}

// answer takes a verdict for the answer, and counts it.
func (t *Tracker) answer(a *Answer, v *verdict) {
	a.Decision, a.Task, a.Attempt = v.Decision, v.task, v.attempt
	t.judge.counts.add(&v.Decision)
}

// sweep decides about every running task.
func (t *Tracker) sweep(a *Answer) {
	found, p := t.found[:0], t.judge.phase()
	all := t.book.copies.all
	for i := range all {
		task := all[i].task
		if task == none || t.book.tasks[task].copies != int32(i) {
			continue // a free place, or not the first copy of its task
		}
		var one Answer
		if t.judged(&one, task, p); one.Action != restart.Keep {
			found = append(found, one)
		}
	}
	t.found = found
	a.Task, a.Found = none, found
}

// offer answers what to do with a free slot.
func (t *Tracker) offer(e *Event, a *Answer) {
	v := verdict{task: none}
	v.Reason = restart.NothingToDo
	if machine := max(e.Machine, none); t.book.slots > 0 {
		if v = t.judge.best(machine); v.task == none {
			t.start(&v, machine)
		}
	} else if t.book.waiting.waits+len(t.book.candidates.list) > 0 { // none may run: it is closed, or has no slots yet
		v.Reason = restart.NoFreeSlot
	}
	t.answer(a, &v)
}

// start finds a waiting task for a free slot, or else one that lacks a clone.
func (t *Tracker) start(v *verdict, machine int) {
	place := t.fleet.seen(machine)
	task, why := t.book.waiting.first(place), restart.LargestWork
	if task == none {
		task, why = t.book.nextClone(place), restart.Cloned
	}
	if task == none {
		return
	}
	d, unwanted := t.judge.unwanted(machine, task)
	if unwanted {
		v.Decision, place = d, t.fleet.of(machine) // it counts among those that are refused
	} else {
		v.Decision, v.task = restart.Decision{Action: restart.Start, Reason: why}, int(task)
	}
	t.fleet.refuse(place, unwanted)
}

func (t *Tracker) fail(task, attempt int) {
	if i := t.find(task, attempt); i != none {
		t.ledger.Failed++
		t.abandon(task, i, false)
	}
}

func (t *Tracker) giveUp(task int) {
	if !t.known(task) {
		return
	}
	s := &t.book.tasks[task]
	if s.flags&waits == 0 {
		t.ledger.Ignored++
		return
	}
	t.book.waiting.leave(s)
	s.flags |= givenUp
}

func (t *Tracker) setEligible(e *Event) {
	if !t.known(e.Task) {
		return
	}
	var dont taskFlags
	if e.NoDuplicate {
		dont |= noDuplicate
	}
	if e.NoRestart {
		dont |= noRestart
	}
	t.book.setEligible(int32(e.Task), dont)
}

func (t *Tracker) close() {
	for i := range t.book.tasks {
		s := &t.book.tasks[i]
		for s.copies != none {
			t.ledger.Pruned++
			t.abandon(i, s.copies, true)
		}
		if s.flags&waits != 0 {
			t.book.waiting.leave(s)
			s.flags |= givenUp
		}
	}
	t.setSlots(0)
}
