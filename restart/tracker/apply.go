package tracker

import "github.com/straggler-go/straggler/restart"

// How an event passes through the tracker. For example, task 7 reports that its attempt 0 has done half of the work:
//
//   - Apply sets the time. phase.report (phase.go) finds the attempt in the book (book.go).
//   - phase.learnReport (learn.go) passes the report to the parts that learn from it: the forecast (forecast.go), the
//     check of units (units.go), and the record of machines (fleet.go). The score goes to the totals of the machine
//     (fleet.go) and to the statistics of all tasks (peers.go).
//   - phase.decide (decide.go) collects the facts of task 7 from the parts (facts.go). The judge gives them to the policy,
//     and checks the policy's answer (judge.go). If the task is worth a copy, it becomes a candidate for the next free
//     slot (next.go).
//   - If the account of trials has changed, the changes go to the Knowledge, which phases share (link.go,
//     knowledge.go).
//   - Config.OnEvent is called with the event and the answer.
//
// An event that copies, restarts or ends an attempt first changes the account of trials (trials.go). A trial is a copy or
// a restart that was made because a task was slow.

// Apply passes one event to the tracker, and returns the tracker's answer. Every method with the name of an event,
// such as [Tracker.Start], calls Apply. Call Apply directly for an event that was stored or that comes from another
// process. An event of an unknown kind is ignored.
func (t *Tracker) Apply(e Event) (a Answer) {
	t.apply(&e, &a)
	return a
}

func (t *Tracker) apply(e *Event, a *Answer) {
	if t.phase.judge.policy == nil { // New did not make this tracker
		t.phase.ledger.Ignored++
		a.Task, a.Attempt, a.Ignored = none, none, true
		return
	}
	ignored := t.phase.ledger.Ignored
	x := &t.phase
	x.book.tick(e.Time, e.Kind.Timed())
	if e.Kind.Timed() && e.Time.IsZero() {
		e.Time = x.book.clock.Last // so that Config.OnEvent can record it
	}
	task := x.book.row(e.Task)
	a.Task = max(e.Task, none)
	copiesBefore := x.ledger.Copies
	x.expire()
	x.adoptTrials()
	switch e.Kind {
	case Recorded:
		x.report(task, e)
	case Reported:
		if a.Reason = restart.NotRunning; x.report(task, e) {
			t.decide(a, int32(task), x.phaseFacts())
		}
	case Asked:
		if a.Reason = restart.NotRunning; x.known(task) && x.book.tasks[task].newest != none {
			t.decide(a, int32(task), x.phaseFacts())
		}
	case Offered:
		t.offer(e, a)
	case Swept:
		t.sweep(a)
	case Started, Submitted:
		a.Attempt = x.submit(task, e.Machine, e.Kind == Started)
	case Begun:
		x.begin(task, e.Attempt, e.Machine)
	case Finished:
		a.Overtaken = x.finish(task, e.Attempt)
	case Failed:
		x.fail(task, x.find(task, e.Attempt))
	case Killed, Restarted:
		x.kill(task, e.Attempt, e.Kind == Restarted)
	case GivenUp:
		x.giveUp(task)
	case Retried:
		x.retry(task)
	case OutputLost:
		x.loseOutput(task)
	case EligibleSet:
		x.setEligible(task, e)
	case Forgotten:
		x.forget(task)
	case Merged:
		if a.Task = none; x.fleet.merge(t.config.Knowledge, e) != nil {
			x.ledger.Ignored++
		}
	default:
		a.Task = none
		x.applyToAll(e, a)
	}
	// The ranking is the list of the tasks that are worth a copy, sorted by the gain of a copy. It stays valid only
	// while the events are offers of slots, and starts of copies on these slots. Any other event makes it invalid.
	x.ranking.keep(e.Kind == Offered || x.ledger.Copies > copiesBefore)
	x.publishTrials()
	a.Ignored = x.ledger.Ignored != ignored
	if t.config.OnEvent != nil {
		t.config.OnEvent(*e, *a)
	}
}

// applyToAll applies an event that is not about a single task, such as the loss of a machine.
func (x *phase) applyToAll(e *Event, a *Answer) {
	switch e.Kind {
	case Added:
		a.Task = x.add(e.Work)
	case MachineLost:
		a.Waiting = x.loseMachine(e.Machine)
	case MachineLeaves:
		x.leave(e.Machine, e.Leaves)
	case SlotsSet:
		x.setSlots(e.Slots)
	case Closed:
		x.close()
	default:
		a.Task = e.Task
		x.ledger.Ignored++
	}
}

// decide decides about a running task, and stores the decision in the answer a. It adds the task to the list of
// candidates for a copy if the task is worth a copy, and otherwise removes it.
func (t *Tracker) decide(a *Answer, task int32, p *restart.Phase) {
	x := &t.phase
	v := x.decide(task, askNone, p)
	if v.wants {
		x.book.addCandidate(task)
	} else {
		x.book.dropCandidate(task)
	}
	t.answer(a, &v)
}

// answer copies a verdict into the answer a, and counts the verdict for [Tracker.Decisions].
func (t *Tracker) answer(a *Answer, v *verdict) {
	a.Decision, a.Task = v.Decision, v.task
	t.phase.judge.counts.add(&v.Decision)
}

// sweep decides about every running task. It stores in a.Found the answers whose action is not Keep.
func (t *Tracker) sweep(a *Answer) {
	x := &t.phase
	found, facts := t.found[:0], x.phaseFacts()
	all := x.book.attempts.all
	for i := range all {
		task := all[i].task
		if task == none || x.book.tasks[task].newest != int32(i) {
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
	x, v := &t.phase, verdict{task: none}
	v.Reason = restart.NothingToDo
	machine := max(e.Machine, none)
	wanted := x.book.waiting.waits + len(x.book.candidates)
	switch {
	case x.book.slots > 0:
		v = x.best(machine)
		if v.task == none {
			x.startWaiting(&v, machine)
		}
	case wanted > 0: // tasks want a slot, but the phase has no slots: it is closed, or its slots are not set yet
		v.Reason = restart.NoFreeSlot
	}
	t.answer(a, &v)
}

// startWaiting finds a task to start on a free slot, and stores the verdict in v. It prefers a waiting task. If no
// task waits, it takes a running task that has fewer clones than Config.Clones. If the machine is refused for the
// task, the verdict contains the refusal.
func (x *phase) startWaiting(v *verdict, machine int) {
	index := x.fleet.find(machine)
	task, why := x.book.firstWaiting(index), restart.NextWaiting
	if task == none {
		task, why = x.book.nextClone(index), restart.Cloned
	}
	if task == none {
		return
	}
	d, unwanted := x.unwanted(machine, task)
	if unwanted {
		v.Decision, index = d, x.fleet.add(machine) // refuse, below, needs the index of the machine
	} else {
		v.Decision, v.task = restart.Decision{Action: restart.Start, Reason: why}, x.book.index(task)
	}
	x.fleet.refuse(index, unwanted)
}
