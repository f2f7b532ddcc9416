package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// decide gives the free slots away: first to copies that the policy wants, then to waiting tasks, then to
// clones. If all is true it asks the policy about every running attempt; otherwise it only fills slots.
func (p *Phase) decide(all bool) {
	p.tellLeaving()
	p.resubmitStranded()
	p.tellSlots()
	if all && !p.timing.isBlind(p.time.now) {
		p.decided = p.time.clock.Since
		p.tracker.Sweep(p.time.now, func(a tracker.Answer) { p.endAttempt(a) })
		p.submitCopies()
	}
	p.submitWaiting()
	p.submitClones()
}

// tellLeaving tells the tracker which machines leave and when, if that has changed.
func (p *Phase) tellLeaving() {
	set, noticed := p.machines.set, &p.noticed
	if noticed.departures == set.Departures {
		return
	}
	noticed.departures = set.Departures
	noticed.leaves = append(noticed.leaves, make([]time.Time, max(set.Len()-len(noticed.leaves), 0))...)
	for machine := range noticed.leaves {
		at := set.Leaves(machine)
		if noticed.leaves[machine].Equal(at) {
			continue
		}
		noticed.leaves[machine] = at
		if !at.IsZero() {
			at = p.time.now.Add(at.Sub(p.time.wall))
		}
		p.tracker.Leave(p.time.now, machine, at)
	}
}

// resubmitStranded cancels attempts that wait for a machine that is gone or rests, and submits their tasks
// again. After MaxLost such cancellations a task keeps its place in the queue. So machines that go down and
// come back again and again do not make the phase submit a task for ever.
func (p *Phase) resubmitStranded() {
	if p.noticed.losses == p.machines.set.Losses {
		return
	}
	p.noticed.losses = p.machines.set.Losses
	for i := range p.book.tasks {
		t := &p.book.tasks[i]
		for _, a := range slices.Clone(t.live) {
			if a.begun || p.canRun(a) || len(t.live) == 1 && t.withdrawn >= p.config.MaxLost {
				continue
			}
			if p.drop(a, restart.Decision{}); len(t.live) == 0 {
				t.withdrawn++
			}
		}
	}
}

// canRun reports whether a machine that is up may run the attempt, or no machine is known. An attempt that was
// submitted for one machine can run only there.
func (p *Phase) canRun(a *attempt) bool {
	if a.machine != nowhere {
		return p.machines.set.Eligible(a.machine)
	}
	return p.machines.set.AnyUp(a.avoid)
}

// tellSlots tells the tracker how many attempts may run: the live attempts, and one for each free slot.
func (p *Phase) tellSlots() {
	if p.closed {
		return
	}
	slots := max(p.slots-p.book.dying, 0)
	if p.machines.set.Placing() {
		slots = p.book.live + p.machines.set.Room()
	}
	if slots != p.told {
		p.told = slots
		p.tracker.SetSlots(slots)
	}
}

// freeSlots returns how many more attempts may be submitted.
func (p *Phase) freeSlots() int { return p.told - p.book.live }

// endAttempt carries out a decision to restart or to kill. The result is false for any other decision, and if
// the attempt does not exist.
func (p *Phase) endAttempt(answer tracker.Answer) bool {
	if answer.Action != restart.Restart && answer.Action != restart.Kill {
		return false
	}
	live := p.book.tasks[answer.Task].live
	i := slices.IndexFunc(live, func(a *attempt) bool { return a.number == answer.Attempt })
	if i < 0 {
		return false
	}
	p.drop(live[i], answer.Decision)
	p.tellSlots()
	return true
}

// drop cancels a live attempt. If it was the task's only one, the task waits again.
func (p *Phase) drop(a *attempt, why restart.Decision) {
	if why.Action == restart.Restart {
		p.tracker.Restart(p.time.now, a.task, a.number)
	} else {
		p.tracker.Kill(p.time.now, a.task, a.number)
	}
	kept := keep(why)
	p.cancel(a, kept)
	p.book.wait(a.task, kept)
}

// submitCopies submits the copies that the policy wants. The copy with the largest gain comes first.
func (p *Phase) submitCopies() {
	p.offerSlots(func(a tracker.Answer, machine int) (taken, over bool) {
		taken = a.Action == restart.Copy && p.submitCopy(a.Task, machine, a.Decision) || p.endAttempt(a)
		return taken, !taken && p.refusesAll(a.Reason)
	})
}

// offerSlots asks the tracker about the free slots, one machine after another, until take reports over.
// A machine whose answer is not taken is not asked again.
func (p *Phase) offerSlots(take func(a tracker.Answer, machine int) (taken, over bool)) {
	p.scratch.refused = p.scratch.refused[:0]
	for p.freeSlots() > 0 {
		machine := nowhere
		if p.machines.set.Placing() {
			if machine, _ = p.machines.set.Pick(func(int) bool { return false }, false); machine == nowhere {
				break
			}
		}
		taken, over := take(p.tracker.Next(p.time.now, machine), machine)
		if over || !taken && machine == nowhere {
			break
		}
		if !taken {
			p.scratch.refused = append(p.scratch.refused, machine)
			p.machines.set.Hide(machine, true)
		}
	}
	for _, machine := range p.scratch.refused {
		p.machines.set.Hide(machine, false)
	}
}

// refusesAll reports whether a refusal holds for every machine, so that no other machine is asked. Without this
// a poll that asks each idle machine about each straggler takes seconds once there are a thousand of both.
func (p *Phase) refusesAll(why restart.Reason) bool {
	switch why {
	case restart.NothingToDo, restart.CapReached, restart.NoFreeSlot:
		return true
	}
	return p.config.Budget != nil && !p.config.Budget.Allows() // where tasks wait, the answer is Start
}

// submitCopy submits a copy on the machine that asked. If this machine already has an attempt of the task, it
// takes another machine; this happens with policies that name no machines to avoid. The result is false if the
// other machines are full.
func (p *Phase) submitCopy(task, machine int, d restart.Decision) bool {
	if t := &p.book.tasks[task]; machine != nowhere && t.isOn(machine) {
		other, open := p.machines.set.Pick(t.isOn, false)
		if other == nowhere && open {
			return false
		}
		if other != nowhere {
			machine = other
		}
	}
	p.submit(task, machine, keep(d))
	return true
}

// submitWaiting submits the waiting tasks in their order, each where it may run.
func (p *Phase) submitWaiting() {
	if p.freeSlots() <= 0 && !p.config.Preloaded {
		return // sorting many waiting tasks would be wasted
	}
	p.sortWaiting()
	room := min(len(p.book.waiting), max(p.freeSlots(), 0))
	p.scratch.actions, p.book.pending = slices.Grow(p.scratch.actions, room), slices.Grow(p.book.pending, room)
	for _, task := range p.book.waiting {
		if p.freeSlots() <= 0 && !p.config.Preloaded {
			break
		}
		t := &p.book.tasks[task]
		if machine, ok := p.pickMachine(task); ok && !(t.noCopy && t.dying > 0) {
			p.submit(task, machine, t.why)
		}
	}
}

// sortWaiting drops the tasks that no longer wait, and sorts the others if they are not in order.
func (p *Phase) sortWaiting() {
	b := &p.book
	b.waiting = slices.DeleteFunc(b.waiting, func(task int) bool { return !b.tasks[task].waits })
	if !b.sorted {
		work := p.config.Work
		slices.SortFunc(b.waiting, func(x, y int) int {
			if work != nil && work[x] != work[y] {
				return cmp.Compare(work[y], work[x])
			}
			return cmp.Compare(x, y)
		})
		b.waiting, b.sorted = slices.Compact(b.waiting), true
	}
	if p.config.Order != nil && len(b.waiting) > 1 {
		p.applyOrder()
	}
}

// applyOrder puts the waiting tasks in the order of Config.Order. If Order did more than permute them, its
// result is ignored.
func (p *Phase) applyOrder() {
	b, s := &p.book, &p.scratch
	s.order = append(s.order[:0], b.waiting...)
	p.config.Order(p.time.wall, s.order)
	ok := true
	for _, task := range s.order {
		if ok = task >= 0 && task < len(b.tasks) && b.tasks[task].waits; !ok { // false at the second time
			break
		}
		b.tasks[task].waits = false
	}
	for _, task := range b.waiting {
		b.tasks[task].waits = true
	}
	if !ok {
		p.ignored++
		return
	}
	b.waiting, s.order, b.sorted = s.order, b.waiting, false
}

// pickMachine returns the machine for a waiting task; ok is false if no machine is free now. A task takes a
// machine where it was tried only if no other machine may get new attempts. Otherwise it waits for another
// machine.
func (p *Phase) pickMachine(task int) (machine int, ok bool) {
	if !p.machines.set.Placing() {
		return nowhere, true
	}
	t := &p.book.tasks[task]
	machine, open := p.machines.set.Pick(t.wasOn, p.config.Preloaded)
	if !open {
		machine, _ = p.machines.set.Pick(t.isOn, p.config.Preloaded)
	}
	return machine, machine != nowhere
}

// submitClones submits the clones that tasks lack, while slots are free and no task waits.
func (p *Phase) submitClones() {
	lacking := len(p.book.tasks)*(p.config.Clones-1) - p.tracker.Ledger().Clones
	if lacking <= 0 {
		return
	}
	p.offerSlots(func(a tracker.Answer, machine int) (taken, over bool) {
		taken = a.Action == restart.Start && a.Reason == restart.Cloned
		if taken {
			p.submit(a.Task, machine, keep(a.Decision))
			lacking--
		}
		return taken, lacking == 0 // if a clone was not taken, all tasks that lack one have been offered
	})
}

// submit requests a new attempt from the engine, and tells the tracker that the attempt is queued.
func (p *Phase) submit(task, machine int, why *restart.Decision) {
	avoid := p.avoid(task, machine)
	number := p.tracker.Submit(p.time.now, task, machine)
	a := p.add(attempt{
		id: p.book.newName(task, number), task: task, number: number, machine: machine, avoid: avoid,
		submitted: p.time.clock.Since, seen: never,
	})
	p.addLive(a)
	p.ask(a, Submit, why)
}

// avoid names the machines where a new attempt should not run, without the chosen machine. The method tries
// these lists and returns the first list that leaves a machine over:
//
//   - machines that run or ran an attempt of the task, and machines that rest, are slow or leave,
//   - machines with a live attempt of the task, and machines that rest, are slow or leave,
//   - machines with a live attempt of the task.
//
// O(machines that rest, are slow, leave or were tried).
func (p *Phase) avoid(task, chosen int) []string {
	t, s := &p.book.tasks[task], &p.scratch
	s.unwanted = p.machines.set.Unwanted(append(s.unwanted[:0], t.tried...))
	if names, left := p.machines.set.Names(s.unwanted, chosen); left {
		return names
	}
	s.unwanted = p.machines.set.Unwanted(t.on(s.unwanted))
	if names, left := p.machines.set.Names(s.unwanted, chosen); left {
		return names
	}
	names, _ := p.machines.set.Names(t.on(s.unwanted), chosen)
	return names
}

// repeatRequests repeats the requests that the engine has not yet carried out.
func (p *Phase) repeatRequests() {
	p.book.pending = slices.DeleteFunc(p.book.pending, func(a *attempt) bool {
		a.pending = p.repeatRequest(a)
		return !a.pending
	})
}

// repeatRequest repeats the open request about an attempt if it is time, and reports whether a request is still
// open. The pause between two repetitions starts at twice the recent lag and doubles each time.
func (p *Phase) repeatRequest(a *attempt) bool {
	op, open := a.request(&p.book.tasks[a.task])
	if !open {
		return false
	}
	now, trace := p.time.clock.Since, p.timing.maxMissing(&p.config)
	if op == Submit {
		trace <<= min(p.book.tasks[a.task].untraced, maxDoublings)
	}
	switch {
	case a.lastAsked == now:
	case a.lastAsked == never, op == Publish && p.restored: // the phase does not know whether the engine carried it out
		p.emit(a, op)
	case op != Publish && a.repeats >= 2 && now-max(a.firstAsked, a.seen) >= trace && !p.timing.isBlind(p.time.now):
		p.endMissing(a)
		return false
	case now-a.lastAsked >= p.timing.retryAfter(op, a.repeats):
		a.repeats = min(a.repeats+1, maxDoublings)
		p.emit(a, op)
	}
	return true
}

// endMissing ends an attempt that has been missing for too long. A cancelled attempt counts as ended. An
// attempt that was seen before counts as lost. An attempt that was never seen is cancelled, and its task is
// submitted again.
func (p *Phase) endMissing(a *attempt) {
	p.markEnded(a)
	a.gone = true
	if a.dying {
		return
	}
	a.why = nil
	p.emit(a, Cancel)
	if a.seen != never {
		p.lose(p.time.now, a, Lost)
		return
	}
	p.book.tasks[a.task].untraced++
	p.tracker.Kill(p.time.now, a.task, a.number)
	p.book.wait(a.task, nil)
}

// searchMissing looks for attempts that were seen and are missing now, while lists show other attempts. The
// search happens once in a quarter of the time that an attempt may be missing. O(attempts) at such a call.
func (p *Phase) searchMissing() {
	now, trace := p.time.clock.Since, p.timing.maxMissing(&p.config)
	if now-p.timing.lastChecked < trace/4 || p.timing.isBlind(p.time.now) {
		return
	}
	p.timing.lastChecked = now
	for i := range p.book.tasks {
		t := &p.book.tasks[i]
		for k := len(t.live) - 1; k >= 0; k-- {
			if a := t.live[k]; a.seen != never && p.timing.lastListed-a.seen >= trace {
				p.endMissing(a)
			}
		}
	}
}
