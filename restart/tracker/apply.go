package tracker

import (
	"github.com/straggler-go/straggler/restart"
)

// Apply tells the tracker of an event, or asks it, and returns its answer. It is what each method of an event calls: use
// it for events that were stored, or that come from elsewhere. An event of no known kind is ignored.
func (t *Tracker) Apply(e Event) (a Answer) {
	t.apply(&e, &a)
	return a
}

func (t *Tracker) apply(e *Event, a *Answer) {
	if t.judge.book == nil { // New did not make it
		t.phase.ledger.Ignored++
		a.Task, a.Attempt, a.Ignored = none, none, true
		return
	}
	ignored := t.phase.ledger.Ignored
	t.phase.book.told++
	if e.Kind.Timed() {
		t.tick(e)
	}
	a.Task = max(e.Task, none)
	copies := t.phase.ledger.Copies
	if t.judge.trials.on {
		t.judge.trials.pupil.hear(&t.judge.trials)
		t.judge.hears(e)
	}
	switch e.Kind {
	case Recorded:
		t.phase.report(e)
	case Reported:
		if a.Reason = restart.NotRunning; t.phase.report(e) {
			t.decide(a, e.Task)
		}
	case Asked:
		if a.Reason = restart.NotRunning; t.phase.known(e.Task) && t.phase.book.tasks[e.Task].copies != none {
			t.decide(a, e.Task)
		}
	case Offered:
		t.offer(e, a)
	case Swept:
		t.sweep(a)
	case Started, Submitted:
		a.Attempt = t.phase.submit(e.Task, e.Machine, e.Kind == Started)
	case Begun:
		t.phase.begin(e.Task, e.Attempt, e.Machine)
	case Finished:
		a.Overtaken = t.phase.finish(e.Task, e.Attempt)
	case Failed:
		t.phase.fail(e.Task, e.Attempt)
	case Killed, Restarted:
		t.phase.kill(e.Task, e.Attempt, e.Kind == Restarted)
	case GivenUp:
		t.phase.giveUp(e.Task)
	case OutputLost:
		t.phase.loseOutput(e.Task)
	case EligibleSet:
		t.phase.setEligible(e)
	default:
		a.Task = none
		t.applyToAll(e, a)
	}
	// The candidates stay in their order while slots are offered and given to them, and nothing else happens.
	t.judge.ranking.holds = t.judge.ranking.holds && (e.Kind == Offered || t.phase.ledger.Copies > copies)
	t.judge.trials.pupil.tell(t.phase.book.clock.Last, &t.judge.trials)
	a.Ignored = t.phase.ledger.Ignored != ignored
	if t.config.OnEvent != nil {
		t.config.OnEvent(*e, *a)
	}
}

// applyToAll tells of an event that is about no task.
func (t *Tracker) applyToAll(e *Event, a *Answer) {
	switch e.Kind {
	case MachineLost:
		a.Waiting = t.phase.loseMachine(e.Machine)
	case MachineLeaves:
		t.phase.leave(e.Machine, e.Leaves)
	case SlotsSet:
		t.phase.setSlots(e.Slots)
	case Closed:
		t.phase.close()
	case Merged:
		if t.phase.fleet.merge(e) != nil {
			t.phase.ledger.Ignored++
		}
	default:
		a.Task = e.Task
		t.phase.ledger.Ignored++
	}
}

// tick takes the time of an event. Where the host's clock steps back, time goes on from there. An event without a time
// is given the last one, so that who observes it can record it.
func (t *Tracker) tick(e *Event) {
	t.phase.book.now = t.phase.book.clock.At(e.Time)
	if e.Time.IsZero() {
		e.Time = t.phase.book.clock.Last
	}
}

// decide decides about a running task, and keeps the list of candidates.
func (t *Tracker) decide(a *Answer, task int) { t.judged(a, int32(task), t.judge.phase()) }

func (t *Tracker) judged(a *Answer, task int32, p *restart.Phase) {
	v := t.judge.decide(task, askNone, p)
	if v.wants {
		t.phase.book.candidates.add(task)
	} else {
		t.phase.book.candidates.drop(task)
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
	all := t.phase.book.copies.all
	for i := range all {
		task := all[i].task
		if task == none || t.phase.book.tasks[task].copies != int32(i) {
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
	if machine := max(e.Machine, none); t.phase.book.slots > 0 {
		if v = t.judge.best(machine); v.task == none {
			t.start(&v, machine)
		}
	} else if t.phase.book.waiting.waits+len(t.phase.book.candidates.list) > 0 { // none may run: it is closed, or has no slots yet
		v.Reason = restart.NoFreeSlot
	}
	t.answer(a, &v)
}

// start finds a waiting task for a free slot, or else one that lacks a clone.
func (t *Tracker) start(v *verdict, machine int) {
	place := t.phase.fleet.seen(machine)
	task, why := t.phase.book.waiting.first(place), restart.LargestWork
	if task == none {
		task, why = t.phase.book.nextClone(place), restart.Cloned
	}
	if task == none {
		return
	}
	d, unwanted := t.judge.unwanted(machine, task)
	if unwanted {
		v.Decision, place = d, t.phase.fleet.of(machine) // it counts among those that are refused
	} else {
		v.Decision, v.task = restart.Decision{Action: restart.Start, Reason: why}, int(task)
	}
	t.phase.fleet.refuse(place, unwanted)
}
