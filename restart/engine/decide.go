package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// decide asks the policy about what runs, and gives the free slots away: to copies first, as far as the policy wants
// any while tasks wait, then to waiting tasks, then to clones. Between two times of all it fills slots alone.
func (p *Phase) decide(all bool) {
	p.leavings()
	p.stranded()
	p.tellSlots()
	if all && !p.sight.isBlind(p.time.now) {
		p.decided = p.time.clock.Since
		p.tracker.Sweep(p.time.now, func(a tracker.Answer) { p.giveUpCopy(a) })
		p.copies()
	}
	p.starts()
	p.clones()
}

// leavings tells the tracker which machines leave, and when, as far as it has not been told.
func (p *Phase) leavings() {
	set, heard := p.machines.set, &p.heard
	if heard.departures == set.Departures {
		return
	}
	heard.departures = set.Departures
	heard.leaves = append(heard.leaves, make([]time.Time, max(set.Len()-len(heard.leaves), 0))...)
	for machine := range heard.leaves {
		at := set.Leaves(machine)
		if heard.leaves[machine].Equal(at) {
			continue
		}
		heard.leaves[machine] = at
		if !at.IsZero() {
			at = p.time.now.Add(at.Sub(p.time.wall))
		}
		p.tracker.Leave(p.time.now, machine, at)
	}
}

// stranded cancels attempts that wait for machines of which none is left, or for one that rests since it has lost another,
// and lets their tasks be submitted anew. A task that this has befallen MaxLost times keeps its place in the queue:
// machines that go down and come back do not have it submitted for ever.
func (p *Phase) stranded() {
	if p.heard.losses == p.machines.set.Losses {
		return
	}
	p.heard.losses = p.machines.set.Losses
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

// canRun reports whether there is a machine that is up on which the attempt may run; also if no machine is known. One that
// was submitted to a machine waits for that alone.
func (p *Phase) canRun(a *attempt) bool {
	if a.machine != nowhere {
		return p.machines.set.Eligible(a.machine)
	}
	return p.machines.set.AnyUp(a.avoid)
}

// tellSlots tells the tracker how many attempts may run: those that do, and as many as there is room for.
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

func (p *Phase) free() int { return p.told - p.book.live }

// giveUpCopy carries a decision to restart or to kill out. It reports false if it is none, or there is no such copy.
func (p *Phase) giveUpCopy(answer tracker.Answer) bool {
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

// drop cancels an attempt that goes on, and lets its task wait if it was the only one.
func (p *Phase) drop(a *attempt, why restart.Decision) {
	if why.Action == restart.Restart {
		p.tracker.Restart(p.time.now, a.task, a.number)
	} else {
		p.tracker.Kill(p.time.now, a.task, a.number)
	}
	kept := because(why)
	p.cancel(a, kept)
	p.book.wait(a.task, kept)
}

// copies submits the copies that the policy wants, the largest gain first.
func (p *Phase) copies() {
	p.offer(func(a tracker.Answer, machine int) (taken, over bool) {
		taken = a.Action == restart.Copy && p.submitCopy(a.Task, machine, a.Decision) || p.giveUpCopy(a)
		return taken, !taken && p.refused(a.Reason)
	})
}

// offer asks the tracker about the free slots, one machine after the other, until it is over with all. A machine whose answer is
// not taken is asked no more.
func (p *Phase) offer(take func(a tracker.Answer, machine int) (taken, over bool)) {
	p.scratch.served = p.scratch.served[:0]
	for p.free() > 0 {
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
			p.scratch.served = append(p.scratch.served, machine)
			p.machines.set.Hide(machine, true)
		}
	}
	for _, machine := range p.scratch.served {
		p.machines.set.Hide(machine, false)
	}
}

// refused reports whether no other machine would get a copy either, so that none is asked: a poll in which each idle machine
// is asked about each straggler takes seconds once there are a thousand of both.
func (p *Phase) refused(why restart.Reason) bool {
	switch why {
	case restart.NothingToDo, restart.CapReached, restart.NoFreeSlot:
		return true
	}
	return p.config.Budget != nil && !p.config.Budget.Allows() // where tasks wait, the answer is to start one
}

// submitCopy submits a copy on the machine that asked, or on another one if a copy of the task is there already: a policy
// of the caller's own need not say what to avoid. It reports false if there is another one, but it is full.
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
	p.submit(task, machine, because(d))
	return true
}

// starts submits waiting tasks, in their order, each where it may run.
func (p *Phase) starts() {
	if p.free() <= 0 && !p.config.Preloaded {
		return // there may be many that wait
	}
	p.arrange()
	room := min(len(p.book.waiting), max(p.free(), 0))
	p.scratch.actions, p.book.pending = slices.Grow(p.scratch.actions, room), slices.Grow(p.book.pending, room)
	for _, task := range p.book.waiting {
		if p.free() <= 0 && !p.config.Preloaded {
			break
		}
		t := &p.book.tasks[task]
		if machine, ok := p.place(task); ok && !(t.alone && t.dying > 0) {
			p.submit(task, machine, t.why)
		}
	}
}

// arrange puts the waiting tasks in order, unless they stand in it but for those that do not wait any more.
func (p *Phase) arrange() {
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
		p.follow()
	}
}

// follow puts the waiting tasks in the caller's order. One that does more than exchange places is not followed.
func (p *Phase) follow() {
	b, s := &p.book, &p.scratch
	s.order = append(s.order[:0], b.waiting...)
	p.config.Order(p.time.wall, s.order)
	ok := true
	for _, task := range s.order {
		if ok = task >= 0 && task < len(b.tasks) && b.tasks[task].waits; !ok { // or it stands there twice
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

// place returns where a waiting task should run, if anywhere now. A machine on which it was tried is the last resort: it
// is better to wait for another one.
func (p *Phase) place(task int) (machine int, ok bool) {
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

// clones submits the clones that tasks lack, while there is room and no task waits for it.
func (p *Phase) clones() {
	lacking := len(p.book.tasks)*(p.config.Clones-1) - p.tracker.Ledger().Clones
	if lacking <= 0 {
		return
	}
	p.offer(func(a tracker.Answer, machine int) (taken, over bool) {
		taken = a.Action == restart.Start && a.Reason == restart.Cloned
		if taken {
			p.submit(a.Task, machine, because(a.Decision))
			lacking--
		}
		return taken, lacking == 0 // not taken: the tasks that lack a clone have been there
	})
}

// submit hands a new attempt to the engine, and tells the tracker that it waits there.
func (p *Phase) submit(task, machine int, why *restart.Decision) {
	avoid := p.avoid(task, machine)
	number := p.tracker.Submit(p.time.now, task, machine)
	a := p.add(attempt{
		id: p.book.name(task, number), task: task, number: number, machine: machine, avoid: avoid,
		submitted: p.time.clock.Since, seen: never,
	})
	p.enter(a)
	p.ask(a, Submit, why)
}

// avoid names the machines where a new attempt should not run, but not all that there are, nor the one that was chosen: those
// where the task was tried, unless no other is left that may get something new; those that may not; and those where it is.
// O(machines that rest, or were tried).
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

// remind compares what was asked for with what was seen, and asks again for what is missing.
func (p *Phase) remind() {
	p.book.pending = slices.DeleteFunc(p.book.pending, func(a *attempt) bool {
		a.pending = p.remindOf(a)
		return !a.pending
	})
}

// remindOf asks again for what is missing of an attempt, and reports whether it is still open. A request is repeated
// after twice the lag that was seen lately, then after twice that, and so on.
func (p *Phase) remindOf(a *attempt) bool {
	op, open := a.request(&p.book.tasks[a.task])
	if !open {
		return false
	}
	now, trace := p.time.clock.Since, p.sight.trace(&p.config)
	if op == Submit {
		trace <<= min(p.book.tasks[a.task].untraced, maxDoublings)
	}
	switch {
	case a.asked == now:
	case a.asked == never, op == Publish && p.restored: // then it is not known whether it was carried out
		p.say(a, op)
	case op != Publish && a.again >= 2 && now-max(a.since, a.seen) >= trace && !p.sight.isBlind(p.time.now):
		p.miss(a)
		return false
	case now-a.asked >= p.sight.patience(op, a.again):
		a.again = min(a.again+1, maxDoublings)
		p.say(a, op)
	}
	return true
}

// miss takes an attempt to be over that is missing: one that was told to end has done so; one that never arrived is
// withdrawn, and its task goes on elsewhere.
func (p *Phase) miss(a *attempt) {
	p.retire(a)
	a.gone = true
	if a.dying {
		return
	}
	a.why = nil
	p.say(a, Cancel)
	if a.seen != never {
		p.lose(p.time.now, a, Lost)
		return
	}
	p.book.tasks[a.task].untraced++
	p.tracker.Kill(p.time.now, a.task, a.number)
	p.book.wait(a.task, nil)
}

// searchMissing looks for attempts that were seen to go on, and are in no list any more, while others are: once in a
// quarter of the time that they may be missing. O(attempts) then.
func (p *Phase) searchMissing() {
	now, trace := p.time.clock.Since, p.sight.trace(&p.config)
	if now-p.sight.checked < trace/4 || p.sight.isBlind(p.time.now) {
		return
	}
	p.sight.checked = now
	for i := range p.book.tasks {
		t := &p.book.tasks[i]
		for k := len(t.live) - 1; k >= 0; k-- {
			if a := t.live[k]; a.seen != never && p.sight.listed-a.seen >= trace {
				p.miss(a)
			}
		}
	}
}
