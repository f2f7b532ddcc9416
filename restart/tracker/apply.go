package tracker

// Apply tells the tracker of an event, or asks it, and returns its answer. It is what the methods below stand for: use
// it for events that were stored, or that come from elsewhere. An event of no known kind is ignored.
func (t *Tracker) Apply(e Event) (a Answer) {
	t.apply(&e, &a)
	return a
}

func (t *Tracker) apply(e *Event, a *Answer) {
	ignored := t.ledger.Ignored
	t.told++
	if e.Kind.Timed() {
		t.tick(e)
	}
	a.Task = e.Task
	switch e.Kind {
	case Reported:
		t.report(e, a)
	case Asked:
		t.ask(e, a)
	case Offered:
		t.offer(e, a)
	case Swept:
		t.sweep(a)
	case Started, Submitted:
		a.Attempt = t.submit(e.Task, e.Machine, e.Kind == Started)
	case Begun:
		t.beginNow(e.Task, e.Attempt, e.Machine)
	case Finished:
		a.Overtaken = t.finish(e.Task, e.Attempt)
	case Failed:
		t.fail(e.Task, e.Attempt)
	case Killed:
		t.kill(e.Task, e.Attempt)
	case Restarted:
		t.restart(e.Task, e.Attempt)
	case GivenUp:
		t.giveUp(e.Task)
	case MachineLost:
		a.Task, a.Waiting = none, t.loseMachine(e.Machine)
	case OutputLost:
		t.loseOutput(e.Task)
	case MachineLeaves:
		a.Task = none
		t.leave(e.Machine, e.Leaves)
	case SlotsSet:
		a.Task = none
		t.setSlots(e.Slots)
	case EligibleSet:
		t.setEligible(e)
	case Closed:
		a.Task = none
		t.close()
	default:
		t.ledger.Ignored++
	}
	a.Ignored = t.ledger.Ignored != ignored
	if t.config.Observe != nil {
		t.config.Observe(*e, *a)
	}
}
