package tracker

import "github.com/straggler-go/straggler/restart"

// offer answers what to do with a free slot.
func (t *Tracker) offer(e *Event, a *Answer) {
	machine := max(e.Machine, none)
	place := t.places.seen(machine)
	if t.phase.Slots == 0 { // none may run: it is closed, or has no slots yet
		*a = Answer{Task: none, Decision: restart.Decision{Reason: restart.NothingToDo}}
		if t.waiting.waits+len(t.candidates.list) > 0 {
			a.Reason = restart.NoFreeSlot
		}
		return
	}
	if t.bestCandidate(a, machine); a.Task != none {
		return
	}
	task := t.waiting.first(place)
	why := restart.LargestWork
	if task == none {
		task, why = t.nextClone(place), restart.Cloned
	}
	if task == none {
		return
	}
	d, unwanted := t.unwanted(machine, task)
	if unwanted {
		place = t.heardOf(machine) // it counts among those that are refused
	}
	t.places.refuse(place, unwanted)
	if unwanted {
		a.Decision = d
		return
	}
	*a = Answer{Task: int(task), Decision: restart.Decision{Action: restart.Start, Reason: why}}
}

// nextClone returns a task that lacks one of its first copies, has none on the machine, and still runs; none if there
// is none. It passes over the tasks that run on the machine, and once over each that lacks none any more.
func (t *Tracker) nextClone(place int32) int32 {
	kept, list := 0, t.cloning
	for i, task := range list {
		if s := &t.tasks[task]; !t.lacksClone(s) {
			s.flags &^= cloning
			continue
		} else if !s.wasTried(place) {
			copy(list[i-kept:i], list[:kept])
			t.cloning = list[i-kept:]
			return task
		}
		list[kept] = task
		kept++
	}
	t.cloning = list[:kept]
	return none
}

// mayLackClones puts a task into the list of those that may lack some of their first copies.
func (t *Tracker) mayLackClones(task int32) {
	if s := &t.tasks[task]; s.flags&cloning == 0 && int(s.attempts) < t.config.Clones {
		s.flags |= cloning
		t.cloning = append(t.cloning, task)
	}
}

// lacksClone reports whether a task is to have one more of its first copies. Once one of its attempts has ended it is
// too late for that.
func (t *Tracker) lacksClone(s *taskState) bool {
	return s.copies != none && s.flags&(finished|noDuplicate) == 0 && int(s.attempts) < t.config.Clones
}

// bestCandidate decides anew about each candidate, since its last decision is as old as its last report. Those that it
// finds wanting are dropped. But a slot that is refused to one task, by a policy that refuses it to all, is asked about
// no further, and nothing changes: it would be the same for each, slot after slot.
func (t *Tracker) bestCandidate(best *Answer, machine int) {
	*best = Answer{Task: none, Decision: restart.Decision{Reason: restart.NothingToDo}}
	wanting := t.lost[:0]
	var facts restart.Phase
	if t.facts(&facts); len(t.candidates.list) > 0 {
		facts.FreeSlots = max(facts.FreeSlots, 1)
		facts.Peers.Machine = t.peers.asking(machine, t.places.seen(machine), t.config.Record)
	}
	for _, task := range t.candidates.list {
		var a Answer
		if !t.decide(&a, int(task), machine, &facts) {
			wanting = append(wanting, task)
		}
		if a.Action == restart.Duplicate && machine != none && a.Avoid.Has(machine) {
			a.Decision = restart.Decision{Reason: restart.SameMachine}
		}
		switch {
		case a.Action == restart.Keep:
			if best.Task == none && blocked(a.Reason) {
				best.Decision = refusal(&a.Decision)
			}
			if t.refused(a.Reason) {
				t.lost = wanting
				return
			}
		case best.Task == none || a.Gain > best.Gain || a.Gain == best.Gain && a.Task < best.Task:
			*best = a
		}
	}
	for _, task := range wanting {
		t.candidates.drop(task)
	}
	t.lost = wanting
}

// refusal returns what a decision says of the slot, without the numbers of the task that happened to be asked about.
func refusal(d *restart.Decision) restart.Decision {
	if d.Reason == restart.BudgetSpent {
		return restart.Decision{Reason: d.Reason}
	}
	return restart.Decision{Reason: d.Reason, Value: d.Value, Threshold: d.Threshold}
}

// refused reports whether a slot is refused to all tasks for the reason for which it is refused to one. A machine that
// leaves may be one task's reason to have a copy in spite of the policy.
func (t *Tracker) refused(why restart.Reason) bool {
	return t.peers.reads.CopiesOnly && t.leaving == 0 && blocked(why) && why != restart.SameMachine
}
