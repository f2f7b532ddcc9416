package tracker

import "github.com/straggler-go/straggler/restart"

// How an event passes through the tracker. For example, task 7 reports that its attempt 0 has done half of the work:
//
//   - Apply sets the time. Then the account of trials is updated for the event (trials.go). A trial is a copy or a
//     restart that was made because a task was slow.
//   - phase.report (phase.go) finds the attempt in the book (book.go), and passes the report to three parts: the
//     forecast of run times (forecast.go), the progress totals of the machine (fleet.go), and the statistics of all
//     tasks (peers.go).
//   - judge.decide collects the facts of task 7 for the policy, and checks the policy's answer (judge.go). If the
//     task is worth a copy, it becomes a candidate for the next free slot (next.go).
//   - If the account of trials has changed, the changes go to the Experience, which phases of the same kind share
//     (experience.go).
//   - Config.OnEvent is called with the event and the answer.
//
// The forecast has four parts in other files: run times and ages (ages.go), even progress (even.go), machines with
// overdue attempts (suspects.go), and progress in wrong units (units.go).

// Apply passes one event to the tracker, and returns the tracker's answer. Every method with the name of an event,
// such as [Tracker.Start], calls Apply. Call Apply directly for an event that was stored or that comes from another
// process. An event of an unknown kind is ignored.
func (t *Tracker) Apply(e Event) (a Answer) {
	t.apply(&e, &a)
	return a
}

func (t *Tracker) apply(e *Event, a *Answer) {
	if t.judge.book == nil { // New did not make this tracker
		t.phase.ledger.Ignored++
		a.Task, a.Attempt, a.Ignored = none, none, true
		return
	}
	ignored := t.phase.ledger.Ignored
	t.phase.book.events++
	if e.Kind.Timed() {
		t.tick(e)
	}
	a.Task = max(e.Task, none)
	copiesBefore := t.phase.ledger.Copies
	if t.judge.trials.on {
		t.judge.trials.link.adopt(&t.judge.trials)
		t.judge.noteTrial(e)
	}
	switch e.Kind {
	case Recorded:
		t.phase.report(e)
	case Reported:
		if a.Reason = restart.NotRunning; t.phase.report(e) {
			t.decide(a, int32(e.Task), t.judge.phaseFacts())
		}
	case Asked:
		if a.Reason = restart.NotRunning; t.phase.known(e.Task) && t.phase.book.tasks[e.Task].newest != none {
			t.decide(a, int32(e.Task), t.judge.phaseFacts())
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
	case Retried:
		t.phase.retry(e.Task)
	case OutputLost:
		t.phase.loseOutput(e.Task)
	case EligibleSet:
		t.phase.setEligible(e)
	default:
		a.Task = none
		t.applyToAll(e, a)
	}
	// The ranking is the list of the tasks that are worth a copy, sorted by the gain of a copy. It stays valid only
	// while the events are offers of slots, and starts of copies on these slots. Any other event makes it invalid.
	t.judge.ranking.holds = t.judge.ranking.holds && (e.Kind == Offered || t.phase.ledger.Copies > copiesBefore)
	t.judge.trials.link.publish(t.phase.book.clock.Last, &t.judge.trials)
	a.Ignored = t.phase.ledger.Ignored != ignored
	if t.config.OnEvent != nil {
		t.config.OnEvent(*e, *a)
	}
}

// applyToAll applies an event that is not about a single task, such as the loss of a machine.
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

// tick sets the current time of the book to the time of an event. If the host's clock has stepped back, the book's
// time does not: it continues from the last time. An event without a time gets the last time, so that Config.OnEvent
// can record it.
func (t *Tracker) tick(e *Event) {
	t.phase.book.now = t.phase.book.clock.At(e.Time)
	if e.Time.IsZero() {
		e.Time = t.phase.book.clock.Last
	}
}

// decide decides about a running task, and stores the decision in the answer a. It adds the task to the list of
// candidates for a copy if the task is worth a copy, and otherwise removes it.
func (t *Tracker) decide(a *Answer, task int32, p *restart.Phase) {
	v := t.judge.decide(task, askNone, p)
	if v.wants {
		t.phase.book.candidates.add(task)
	} else {
		t.phase.book.candidates.drop(task)
	}
	t.answer(a, &v)
}

// answer copies a verdict into the answer a, and counts the verdict for [Tracker.Decisions].
func (t *Tracker) answer(a *Answer, v *verdict) {
	a.Decision, a.Task = v.Decision, v.task
	t.judge.counts.add(&v.Decision)
}

// sweep decides about every running task. It stores in a.Found the answers whose action is not Keep.
func (t *Tracker) sweep(a *Answer) {
	found, facts := t.found[:0], t.judge.phaseFacts()
	all := t.phase.book.attempts.all
	for i := range all {
		task := all[i].task
		if task == none || t.phase.book.tasks[task].newest != int32(i) {
			continue // a free entry, or not the newest attempt of its task
		}
		var one Answer // the answer about this task alone
		t.decide(&one, task, facts)
		if one.Action != restart.Keep {
			found = append(found, one)
		}
	}
	t.found = found
	a.Task, a.Found = none, found
}

// offer decides what to do with the free slot of an Offered event, and stores the decision in the answer a.
func (t *Tracker) offer(e *Event, a *Answer) {
	v := verdict{task: none}
	v.Reason = restart.NothingToDo
	machine := max(e.Machine, none)
	wanted := t.phase.book.waiting.waits + len(t.phase.book.candidates.list)
	switch {
	case t.phase.book.slots > 0:
		v = t.judge.best(machine)
		if v.task == none {
			t.startWaiting(&v, machine)
		}
	case wanted > 0: // tasks want a slot, but the phase has no slots: it is closed, or its slots are not set yet
		v.Reason = restart.NoFreeSlot
	}
	t.answer(a, &v)
}

// startWaiting finds a task to start on a free slot, and stores the verdict in v. It prefers a waiting task. If no
// task waits, it takes a running task that has fewer clones than Config.Clones. If the machine is refused for the
// task, the verdict contains the refusal.
func (t *Tracker) startWaiting(v *verdict, machine int) {
	index := t.phase.fleet.find(machine)
	task, why := t.phase.book.waiting.first(index), restart.NextWaiting
	if task == none {
		task, why = t.phase.book.nextClone(index), restart.Cloned
	}
	if task == none {
		return
	}
	d, unwanted := t.judge.unwanted(machine, task)
	if unwanted {
		v.Decision, index = d, t.phase.fleet.add(machine) // refuse, below, needs the index of the machine
	} else {
		v.Decision, v.task = restart.Decision{Action: restart.Start, Reason: why}, int(task)
	}
	t.phase.fleet.refuse(index, unwanted)
}
