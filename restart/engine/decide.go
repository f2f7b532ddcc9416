package engine

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// decide uses the free slots: first for copies that the policy wants, then for waiting tasks, then for clones
// (further first attempts). If all is true, decide also asks the policy about every running attempt. If all is false,
// it only fills free slots.
func (p *Phase) decide(all bool) {
	p.tellLeaving()
	p.resubmitStranded()
	p.endOverdue(all)
	p.endRests()
	p.tellSlots()
	if all && !p.timing.isBlind(p.time.now) {
		p.decided = p.time.clock.Since
		p.tracker.Sweep(p.time.now, func(a tracker.Answer) { p.endAttempt(a) })
		p.submitCopies()
	}
	p.submitWaiting()
	p.submitClones()
	p.moveWaiting()
}

// tellLeaving reports to the tracker which machines will leave and when, if that has changed since the last call.
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

// resubmitStranded cancels queued attempts whose machine is down or gets no new attempts. Their tasks are submitted
// again, for other machines. After MaxLost such cancellations a task's last attempt stays in its queue. So a task is
// not submitted for ever if machines go down and come back again and again.
func (p *Phase) resubmitStranded() {
	if p.noticed.losses == p.machines.set.Losses {
		return
	}
	p.noticed.losses = p.machines.set.Losses
	for _, t := range p.book.all {
		p.scratch.live = t.live(p.scratch.live)
		for _, a := range p.scratch.live {
			if a.begun || p.canRun(a) {
				continue
			}
			only := t.hasOne()
			if only && int(t.withdrawn) >= p.config.MaxLost {
				continue
			}
			if p.drop(a, restart.Decision{}); only {
				t.withdrawn++
			}
		}
	}
}

// endOverdue cancels the attempts that have run for longer than their timeout. They count as failed. It looks at all
// tasks only when the first running attempt of the last look would be overdue, or at each decision about all attempts if
// timeouts are learned.
func (p *Phase) endOverdue(all bool) {
	now := p.time.clock.Since
	if now < p.overdue && !(all && p.config.Patience > 0) {
		return
	}
	p.overdue = num.MaxDuration
	for i, t := range p.book.all {
		var next *attempt
		for a := t.newest; a != nil; a = next {
			next = a.older
			switch {
			case a.since == never:
			case now-a.since >= p.timeout(i):
				p.cancel(a, &restart.Decision{Action: restart.Kill, Reason: restart.Overdue})
				p.lose(p.time.now, a, Failed)
			default:
				p.overdue = min(p.overdue, num.Add(a.since, p.timeout(i)))
			}
		}
	}
}

// timeout returns the longest time that an attempt of a task may run.
func (p *Phase) timeout(task int) time.Duration {
	limit := check.Or(p.config.Timeout, num.MaxDuration)
	if p.config.Patience == 0 || p.config.Kind == "" {
		return limit
	}
	longest, known := p.machines.knowledge.Longest(p.config.Kind, p.work(task))
	if known < enoughRunTimes {
		return limit
	}
	learned, _ := num.Duration(math.Ldexp(p.config.Patience*longest, int(p.book.task(task).failed)))
	return min(max(learned, num.Times(p.config.Interval, traceIntervals)), limit)
}

// endRests lets failed tasks wait for a slot again when their back-off is over.
func (p *Phase) endRests() {
	p.book.resting = slices.DeleteFunc(p.book.resting, func(task int) bool {
		if t := p.book.task(task); t.resting && t.rests <= p.time.clock.Since {
			p.endRest(p.time.now, task)
		}
		p.book.task(task).listed = p.book.task(task).resting
		return !p.book.task(task).resting
	})
}

// endRest lets a task wait for a slot again, if it rests after a failure.
func (p *Phase) endRest(at time.Time, task int) {
	if t := p.book.task(task); t.resting {
		t.resting = false
		p.tracker.Retry(at, task)
	}
}

// canRun reports whether a queued attempt can begin on a machine that is up. An attempt that was submitted for a
// certain machine can run only there. If no machine is known, canRun returns true.
func (p *Phase) canRun(a *attempt) bool {
	if a.machine != nowhere {
		return p.machines.set.Eligible(a.machine)
	}
	return p.machines.set.AnyUp(a.avoid)
}

// tellSlots reports to the tracker how many attempts may run: the number of live attempts plus the number of free
// slots.
func (p *Phase) tellSlots() {
	if p.closed {
		return
	}
	slots := max(p.slots-p.book.dying, 0)
	if p.machines.set.Placing() {
		slots = p.tracker.Running() + p.machines.set.Room()
	}
	if slots != p.told {
		p.told = slots
		p.tracker.SetSlots(slots)
	}
}

// freeSlots returns how many more attempts may be submitted.
func (p *Phase) freeSlots() int { return p.told - p.tracker.Running() }

// endAttempt carries out a decision to restart a task or to kill an attempt. It returns false for any other decision,
// and if the attempt does not exist.
func (p *Phase) endAttempt(answer tracker.Answer) bool {
	if answer.Action != restart.Restart && answer.Action != restart.Kill || p.showOnly(answer) {
		return false
	}
	a := p.book.task(answer.Task).newest
	for a != nil && a.number != answer.Attempt {
		a = a.older
	}
	if a == nil {
		return false
	}
	p.drop(a, answer.Decision)
	p.tellSlots()
	return true
}

// showOnly reports whether the phase is in shadow mode, and then calls Config.Shadow with the first decision about each
// task. Afterwards the task is not eligible, so that the next slot is offered to the next task.
func (p *Phase) showOnly(answer tracker.Answer) bool {
	if p.config.Shadow == nil {
		return false
	}
	if !p.shown[answer.Task] {
		if p.shown == nil {
			p.shown = map[int]bool{}
		}
		p.shown[answer.Task] = true
		p.config.Shadow(answer.Task, answer.Decision)
	}
	p.tracker.SetEligible(answer.Task, false, false)
	return true
}

// drop cancels a live attempt. If the attempt was the only attempt of its task, the task waits again to be submitted.
func (p *Phase) drop(a *attempt, why restart.Decision) {
	if why.Action == restart.Restart {
		p.tracker.Restart(p.time.now, a.task, a.number)
	} else {
		p.tracker.Kill(p.time.now, a.task, a.number)
	}
	kept := keep(why)
	p.cancel(a, kept)
	p.wait(a.task, kept)
}

// submitCopies submits the copies that the policy wants. The copy with the largest gain comes first.
func (p *Phase) submitCopies() {
	p.offerSlots(func(a tracker.Answer, machine int) (taken, over bool) {
		isCopy := a.Action == restart.Copy && !p.showOnly(a)
		taken = isCopy && p.submitCopy(a.Task, machine, a.Decision) || p.endAttempt(a)
		return taken, !taken && p.refusesAll(a.Reason)
	})
}

// offerSlots asks the tracker what to do with the free slots of one machine after another. It calls take with each
// answer. Result taken says whether the answer was carried out; if not, the machine is not asked again in this call.
// Result over ends the loop.
func (p *Phase) offerSlots(take func(a tracker.Answer, machine int) (taken, over bool)) {
	p.scratch.refused = p.scratch.refused[:0]
	for p.freeSlots() > 0 {
		machine := nowhere
		if p.machines.set.Placing() {
			if machine, _ = p.machines.set.Pick(func(int) bool { return false }, 0); machine == nowhere {
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

// refusesAll reports whether a reason against a copy applies to every machine, so that no other machine need be
// asked. Without this check, a poll would ask each idle machine about each straggler. That takes seconds if there are
// a thousand of both.
func (p *Phase) refusesAll(why restart.Reason) bool {
	switch why {
	case restart.NothingToDo, restart.CapReached, restart.NoFreeSlot:
		return true
	}
	// If tasks wait, the tracker answers Start, so the reason does not show that the budget is spent.
	return p.config.Budget != nil && !p.config.Budget.Allows()
}

// submitCopy submits a copy of a task on the machine that asked for work. If this machine already has an attempt of
// the task, another machine is used. That happens with policies that return no machines to avoid. submitCopy returns
// false if all other machines are full.
func (p *Phase) submitCopy(task, machine int, d restart.Decision) bool {
	if t := p.book.task(task); machine != nowhere && t.isOn(machine) {
		other, open := p.machines.set.Pick(t.isOn, 0)
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

// submitWaiting submits the waiting tasks in their order, each on a machine that it may use. O(log n) for each task
// that it looks at; with Config.Order it sorts all waiting tasks.
func (p *Phase) submitWaiting() {
	if p.places() <= 0 {
		return // to sort many waiting tasks would be wasted
	}
	b, s := &p.book, &p.scratch
	room := min(p.tracker.Phase().Waiting, p.places())
	if p.config.Preloaded {
		room = min(room, len(b.again))
	}
	s.actions, b.pending = slices.Grow(s.actions, room), slices.Grow(b.pending, room)
	ignoring := p.ignoringEnd()
	try := func(task int) (more bool) {
		t := b.task(task)
		if t.alone && int(t.dying) > ignoring[task] {
			return true
		}
		if machine, ok := p.pickMachine(task); ok {
			p.submit(task, machine, t.why)
		}
		return p.places() > 0
	}
	switch {
	case p.config.Order != nil:
		p.sortWaiting()
	case p.config.Preloaded:
		p.listWaiting()
	default:
		p.tracker.Waiting()(try)
		return
	}
	for _, task := range s.order {
		if !try(task) {
			break
		}
	}
}

// ignoringEnd returns, by task, the number of attempts that were cancelled and have gone on for a timeout since then.
// Such a task gets another attempt, even if two attempts of it must not run at once: otherwise it would never
// end.
func (p *Phase) ignoringEnd() (byTask map[int]int) {
	if p.config.Timeout == 0 && p.config.Patience == 0 {
		return nil
	}
	for _, a := range p.book.pending {
		if a.dying && !a.ended && a.begun && p.time.clock.Since-a.firstAsked >= p.timeout(a.task) {
			if byTask == nil {
				byTask = map[int]int{}
			}
			byTask[a.task]++
		}
	}
	return byTask
}

// places returns how many waiting tasks may be submitted.
func (p *Phase) places() int {
	switch {
	case p.config.Preloaded:
		return len(p.book.again)
	case p.machines.set.Placing() && !p.closed:
		return p.machines.set.Places()
	}
	return p.freeSlots()
}

// moveWaiting withdraws attempts that wait on a machine without a free slot, if another machine has a free slot, and
// submits their tasks there. That happens to a task at most MaxLost times.
func (p *Phase) moveWaiting() {
	set, free := p.machines.set, p.freeSlots()
	if !set.Placing() || !set.AnyBehind() || free <= 0 {
		return
	}
	withdrawn := map[int]int{} // by machine: attempts that are cancelled and still count there
	for _, a := range p.book.pending {
		if a.dying && !a.ended && a.machine != nowhere {
			withdrawn[a.machine]++
		}
	}
	for _, t := range p.book.all {
		if free == 0 {
			break
		}
		a := t.newest
		if !t.hasOne() || int(t.withdrawn) >= p.config.MaxLost {
			continue
		}
		if a.begun || a.machine == nowhere || set.Behind(a.machine) <= withdrawn[a.machine] {
			continue
		}
		if other, _ := set.Pick(t.wasOn, 0); other != nowhere {
			withdrawn[a.machine]++
			t.withdrawn++
			free--
			p.drop(a, restart.Decision{})
		}
	}
	p.submitWaiting()
}

// listWaiting lists the tasks to submit, in their order, into scratch.order.
func (p *Phase) listWaiting() {
	b, s := &p.book, &p.scratch
	s.order = s.order[:0]
	if !p.config.Preloaded {
		for task := range p.tracker.Waiting() {
			s.order = append(s.order, task)
		}
		return
	}
	b.again = slices.DeleteFunc(b.again, func(task int) bool {
		t := b.task(task)
		t.again = t.resting || p.waits(task)
		return !t.again
	})
	for _, task := range b.again {
		if p.waits(task) {
			s.order = append(s.order, task)
		}
	}
	slices.SortFunc(s.order, p.before)
}

// sortWaiting sorts the waiting tasks with the function Config.Order, into scratch.order. If the function did not
// return a permutation of the tasks, its result is ignored.
func (p *Phase) sortWaiting() {
	s := &p.scratch
	p.listWaiting()
	if len(s.order) < 2 {
		return
	}
	for _, task := range s.order {
		p.book.task(task).marked = true
	}
	p.config.Order(p.time.wall, s.order)
	ok := true
	for _, task := range s.order {
		// A task that occurs a second time has no mark any more, so ok is false.
		if ok = p.book.has(task) && p.book.task(task).marked; !ok {
			break
		}
		p.book.task(task).marked = false
	}
	if ok {
		return
	}
	p.ignored++
	p.listWaiting()
	for _, task := range s.order {
		p.book.task(task).marked = false
	}
}

// pickMachine returns the machine for a waiting task. Result ok is false if no machine is free now. A task gets a
// machine on which it already ran only if no other machine may get new attempts. Otherwise the task waits for another
// machine.
func (p *Phase) pickMachine(task int) (machine int, ok bool) {
	if !p.machines.set.Placing() {
		return nowhere, true
	}
	t := p.book.task(task)
	beyond := p.machines.set.Prefetch()
	if p.config.Preloaded {
		beyond = math.MaxInt32
	}
	machine, open := p.machines.set.Pick(t.wasOn, beyond)
	if !open {
		machine, _ = p.machines.set.Pick(t.isOn, beyond)
	}
	return machine, machine != nowhere
}

// submitClones submits clones, which are further first attempts of tasks that have fewer than Config.Clones. It does
// so only while slots are free and no task waits.
func (p *Phase) submitClones() {
	lacking := p.book.next()*(p.config.Clones-1) - p.tracker.Ledger().Clones
	if lacking <= 0 {
		return
	}
	p.offerSlots(func(a tracker.Answer, machine int) (taken, over bool) {
		taken = a.Action == restart.Start && a.Reason == restart.Cloned
		if taken {
			p.submit(a.Task, machine, keep(a.Decision))
			lacking--
		}
		// If the answer is not a clone, the tracker has already returned each task that lacks a clone.
		return taken, lacking == 0
	})
}

// submit requests a new attempt from the engine, and reports to the tracker that the attempt is queued.
func (p *Phase) submit(task, machine int, why *restart.Decision) {
	avoid := p.avoid(task, machine)
	number := p.tracker.Submit(p.time.now, task, machine)
	a := p.add(attempt{
		id: p.book.newName(task, number), task: task, number: number, machine: machine, avoid: avoid,
		submitted: p.time.clock.Since, since: never, until: never, seen: never,
	})
	p.ask(a, Submit, why)
}

// avoid returns the names of the machines on which a new attempt of the task should not run. The machine chosen for
// the attempt is not included. There are three lists. avoid returns the first list that does not contain all
// machines:
//
//   - machines that run or ran an attempt of the task, and machines that rest, are slow or will leave,
//   - machines with a live attempt of the task, and machines that rest, are slow or will leave,
//   - machines with a live attempt of the task.
//
// The cost is O(n log n), where n is the number of machines that rest, are slow, will leave or ran an attempt of the task.
func (p *Phase) avoid(task, chosen int) []string {
	t, s := p.book.task(task), &p.scratch
	s.unwanted = p.machines.set.Unwanted(t.on(s.unwanted, true))
	if names, left := p.machines.set.Names(s.unwanted, chosen); left {
		return names
	}
	s.unwanted = p.machines.set.Unwanted(t.on(s.unwanted, false))
	if names, left := p.machines.set.Names(s.unwanted, chosen); left {
		return names
	}
	names, _ := p.machines.set.Names(t.on(s.unwanted, false), chosen)
	return names
}

// repeatRequests repeats the requests that the engine has not carried out yet.
func (p *Phase) repeatRequests() {
	p.book.pending = slices.DeleteFunc(p.book.pending, func(a *attempt) bool {
		a.pending = p.repeatRequest(a)
		return !a.pending
	})
}

// repeatRequest repeats the open request about an attempt if the time for that has come. It reports whether a request
// about the attempt is still open. The pause before the first repetition is twice the longest time that the engine
// recently took to carry out such a request. Each further pause is twice as long.
func (p *Phase) repeatRequest(a *attempt) bool {
	op, open := a.request(p.book.task(a.task))
	if !open {
		return false
	}
	now, trace := p.time.clock.Since, p.timing.maxMissing(&p.config)
	if op == Submit {
		trace <<= min(p.book.task(a.task).untraced, maxDoublings)
	}
	switch {
	case a.lastAsked == now:
	case a.lastAsked == never, op == Publish && p.restored:
		// The phase does not know whether the engine has carried out the request.
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

// endMissing ends an attempt that has been missing from the engine's lists for too long. There are three cases. A
// cancelled attempt is treated as ended. An attempt that was listed before is treated as lost. An attempt that was
// never listed is cancelled, and its task is submitted again.
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
	p.book.task(a.task).untraced++
	p.tracker.Kill(p.time.now, a.task, a.number)
	p.wait(a.task, nil)
}

// searchMissing looks for attempts that were listed before and are missing now, although lists show other attempts.
// The search runs at most four times in the period for which an attempt may be missing. Each search costs
// O(attempts).
func (p *Phase) searchMissing() {
	now, trace := p.time.clock.Since, p.timing.maxMissing(&p.config)
	if now-p.timing.lastChecked < trace/4 || p.timing.isBlind(p.time.now) {
		return
	}
	p.timing.lastChecked = now
	for _, t := range p.book.all {
		var next *attempt
		for a := t.newest; a != nil; a = next {
			if next = a.older; a.seen != never && p.timing.lastListed-a.seen >= trace {
				p.endMissing(a)
			}
		}
	}
}
