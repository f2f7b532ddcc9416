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
		p.moves.decided = p.time.clock.Since
		p.sweep()
		p.copies()
	}
	p.starts()
	p.clones()
}

// leavings tells the tracker which hosts leave, and when, as far as it has not been told.
func (p *Phase) leavings() {
	set, heard := p.hosts.set, &p.heard
	if heard.departures == set.Departures {
		return
	}
	heard.departures = set.Departures
	heard.leaves = append(heard.leaves, make([]time.Time, max(set.Len()-len(heard.leaves), 0))...)
	for host := range heard.leaves {
		at := set.Leaves(host)
		if heard.leaves[host].Equal(at) {
			continue
		}
		heard.leaves[host] = at
		if !at.IsZero() {
			at = p.time.now.Add(at.Sub(p.time.wall))
		}
		p.tracker.Leave(p.time.now, host, at)
	}
}

// sweep carries out what the policy wants to end. A decision changes the facts for those behind it, which are asked
// anew.
func (p *Phase) sweep() {
	p.tracker.Sweep(p.time.now, func(a tracker.Answer) {
		if (a.Action == restart.Restart || a.Action == restart.Kill) && p.giveUpCopy(a) {
			p.tellSlots()
		}
	})
}

// stranded cancels attempts that wait for hosts of which none is left, or for one that rests since it has lost another,
// and lets their tasks be submitted anew. A task that this has befallen MaxLost times keeps its place in the queue:
// hosts that go down and come back do not have it submitted for ever.
func (p *Phase) stranded() {
	if p.heard.losses == p.hosts.set.Losses {
		return
	}
	p.heard.losses = p.hosts.set.Losses
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

// canRun reports whether there is a host that is up on which the attempt may run; also if no host is known. One that
// was submitted to a host waits for that alone.
func (v *view) canRun(a *attempt) bool {
	if a.host != nowhere {
		return v.hosts.set.Eligible(a.host)
	}
	return v.hosts.set.AnyUp(a.avoid)
}

// tellSlots tells the tracker how many attempts may run: those that do, and as many as there is room for.
func (p *Phase) tellSlots() {
	if p.closed {
		return
	}
	slots := max(p.slots-p.book.dying, 0)
	if p.hosts.set.Placing() {
		slots = p.book.live + p.hosts.set.Room()
	}
	if slots != p.told {
		p.told = slots
		p.tracker.SetSlots(slots)
	}
}

func (p *Phase) free() int { return p.told - p.book.live }

// giveUpCopy carries a decision to restart or to kill out. It reports false if there is no such copy.
func (p *Phase) giveUpCopy(answer tracker.Answer) bool {
	a := p.book.tasks[answer.Task].numbered(answer.Attempt)
	if a == nil {
		return false
	}
	p.drop(a, answer.Decision)
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
	if len(p.book.tasks[a.task].live) == 0 {
		p.book.wait(a.task, kept)
	}
}

// copies submits the copies that the policy wants, the largest gain first.
func (p *Phase) copies() {
	p.offer(func() bool { return true }, func(a tracker.Answer, host int) (taken, over bool) {
		switch {
		case a.Action == restart.Duplicate && p.submitCopy(a.Task, host, a.Decision):
		case (a.Action == restart.Restart || a.Action == restart.Kill) && p.giveUpCopy(a):
			p.tellSlots()
		default:
			return false, p.refused(a.Reason)
		}
		return true, false
	})
}

// offer asks the tracker about the free slots, one host after the other, as long as more are wanted. A host whose answer
// is not taken is asked no more, unless it is over with all.
func (p *Phase) offer(wants func() bool, take func(a tracker.Answer, host int) (taken, over bool)) {
	p.scratch.served = p.scratch.served[:0]
	for wants() && p.free() > 0 {
		host := nowhere
		if p.hosts.set.Placing() {
			if host, _ = p.hosts.set.Pick(func(int) bool { return false }, false); host == nowhere {
				break
			}
		}
		taken, over := take(p.tracker.Next(p.time.now, host), host)
		if !taken && (over || host == nowhere) {
			break
		}
		if !taken {
			p.scratch.served = append(p.scratch.served, host)
			p.hosts.set.Hide(host, true)
		}
	}
	for _, host := range p.scratch.served {
		p.hosts.set.Hide(host, false)
	}
}

// refused reports whether no other host would get a copy either, so that none is asked: a poll in which each idle host
// is asked about each straggler takes seconds once there are a thousand of both.
func (p *Phase) refused(why restart.Reason) bool {
	switch why {
	case restart.NothingToDo, restart.CapReached, restart.NoFreeSlot:
		return true
	}
	return p.config.Budget != nil && !p.config.Budget.Allows() // where tasks wait, the answer is to start one
}

// submitCopy submits a copy on the host that asked, or on another one if a copy of the task is there already: a policy
// of the caller's own need not say what to avoid. It reports false if there is another one, but it is full.
func (p *Phase) submitCopy(task, host int, d restart.Decision) bool {
	if t := &p.book.tasks[task]; host != nowhere && t.isOn(host) {
		other, open := p.hosts.set.Pick(t.isOn, false)
		if other == nowhere && open {
			return false
		}
		if other != nowhere {
			host = other
		}
	}
	p.submit(task, host, because(d))
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
		if t.alone && t.dying > 0 {
			continue
		}
		host, ok := p.place(task)
		if !ok {
			continue
		}
		p.submit(task, host, t.why)
	}
}

// arrange puts the waiting tasks in order, unless they stand in it but for those that do not wait any more.
func (v *view) arrange() {
	b := &v.book
	b.waiting = slices.DeleteFunc(b.waiting, func(task int) bool { return !b.tasks[task].waits })
	if !b.sorted {
		work := v.config.Work
		slices.SortFunc(b.waiting, func(x, y int) int {
			if work != nil && work[x] != work[y] {
				return cmp.Compare(work[y], work[x])
			}
			return cmp.Compare(x, y)
		})
		b.waiting, b.sorted = slices.Compact(b.waiting), true
	}
	if v.config.Order != nil && len(b.waiting) > 1 {
		v.follow()
	}
}

// follow puts the waiting tasks in the caller's order. One that does more than exchange places is not followed.
func (v *view) follow() {
	b, s := &v.book, &v.scratch
	s.order = append(s.order[:0], b.waiting...)
	v.config.Order(v.time.wall, s.order)
	for _, task := range s.order {
		if task < 0 || task >= len(b.tasks) || !b.tasks[task].waits {
			v.ignored++
			return
		}
	}
	s.numbers = append(s.numbers[:0], s.order...)
	slices.Sort(s.numbers)
	if len(slices.Compact(s.numbers)) != len(b.waiting) {
		v.ignored++
		return
	}
	b.waiting, s.order, b.sorted = s.order, b.waiting, false
}

// place returns where a waiting task should run, if anywhere now. A host on which it was tried is the last resort: it
// is better to wait for another one.
func (v *view) place(task int) (host int, ok bool) {
	if !v.hosts.set.Placing() {
		return nowhere, true
	}
	t := &v.book.tasks[task]
	host, open := v.hosts.set.Pick(t.wasOn, v.config.Preloaded)
	if !open {
		host, _ = v.hosts.set.Pick(t.isOn, v.config.Preloaded)
	}
	return host, host != nowhere
}

// clones submits the clones that tasks lack, while there is room and no task waits for it.
func (p *Phase) clones() {
	lacks := func() bool { return p.cloned < len(p.book.tasks)*(p.config.Clones-1) }
	p.offer(lacks, func(a tracker.Answer, host int) (taken, over bool) {
		if taken = a.Action == restart.Start && a.Reason == restart.Cloned; taken {
			p.submit(a.Task, host, because(a.Decision))
			p.cloned++
		}
		return taken, false // the tasks that lack a clone have been there
	})
}

// submit hands a new attempt to the engine, and tells the tracker that it waits there.
func (p *Phase) submit(task, host int, why *restart.Decision) {
	avoid := p.avoid(task, host)
	number := p.tracker.Submit(p.time.now, task, host)
	p.enter(attempt{
		id: p.book.name(task, number), task: task, number: number, host: host, avoid: avoid, seen: never,
	}, why)
}

// enter takes a new attempt to the books, and asks for it.
func (v *view) enter(one attempt, why *restart.Decision) {
	one.submitted = v.time.clock.Since
	a := v.book.add(one)
	v.book.enter(a)
	v.hold(a.host, 1)
	v.ask(a, Submit, why)
}

// avoid names the hosts where a new attempt should not run, but not all that there are, nor the one that was chosen: those
// where the task was tried, unless no other is left that may get something new; those that may not; and those where it is.
// O(hosts that rest, or were tried).
func (v *view) avoid(task, chosen int) []string {
	t, s := &v.book.tasks[task], &v.scratch
	s.unwanted = v.hosts.set.Unwanted(append(s.unwanted[:0], t.tried...))
	if names, left := v.hosts.set.Names(s.unwanted, chosen); left {
		return names
	}
	s.unwanted = v.hosts.set.Unwanted(t.on(s.unwanted[:0]))
	if names, left := v.hosts.set.Names(s.unwanted, chosen); left {
		return names
	}
	names, _ := v.hosts.set.Names(t.on(s.unwanted[:0]), chosen)
	return names
}

// remind compares what was asked for with what was seen, and asks again for what is missing.
func (v *view) remind() {
	open := v.book.pending
	v.book.pending = nil // what is asked for from now on comes behind
	kept := open[:0]
	for _, a := range open {
		if a.pending = v.remindOf(a); a.pending {
			kept = append(kept, a)
		}
	}
	v.book.pending = append(kept, v.book.pending...)
}

// remindOf asks again for what is missing of an attempt, and reports whether it is still open. A request is repeated
// after twice the lag that was seen lately, then after twice that, and so on.
func (v *view) remindOf(a *attempt) bool {
	op, open := a.request(&v.book.tasks[a.task])
	if !open {
		return false
	}
	now := v.time.clock.Since
	switch {
	case a.asked == now:
		return true
	case op == Publish && v.restored: // it is not known whether it was carried out
		v.say(a, op)
		return true
	case op != Publish && a.again >= 2 && now-max(a.since, a.seen) >= v.missable(a) && !v.sight.isBlind(v.time.now):
		v.miss(a)
		return false
	}
	if a.asked == never || now-a.asked >= v.sight.patience(op, a.again) {
		if a.asked != never {
			a.again = min(a.again+1, maxDoublings)
		}
		v.say(a, op)
	}
	return true
}

// missable is for how long an attempt may be missing.
func (v *view) missable(a *attempt) time.Duration {
	trace := v.sight.trace(&v.config)
	if !a.dying {
		trace <<= min(v.book.tasks[a.task].untraced, maxDoublings)
	}
	return trace
}

// miss takes an attempt to be over that is missing: one that was told to end has done so; one that never arrived is
// withdrawn, and its task goes on elsewhere.
func (v *view) miss(a *attempt) {
	t := &v.book.tasks[a.task]
	v.hold(a.host, -1)
	wasDying := a.dying
	v.book.end(a)
	a.gone = true
	if wasDying {
		return
	}
	a.why = nil
	v.scratch.actions = append(v.scratch.actions, v.action(a, Cancel))
	if a.seen != never {
		v.lose(v.time.now, a, false, Lost)
		return
	}
	t.untraced++
	v.tracker.Kill(v.time.now, a.task, a.number)
	if len(t.live) == 0 {
		v.book.wait(a.task, nil)
	}
}

// searchMissing looks for attempts that were seen to go on, and are in no list any more, while others are: once in a
// quarter of the time that they may be missing. O(attempts) then.
func (v *view) searchMissing() {
	now, trace := v.time.clock.Since, v.sight.trace(&v.config)
	if now-v.sight.checked < trace/4 || v.sight.isBlind(v.time.now) {
		return
	}
	v.sight.checked = now
	for i := range v.book.tasks {
		t := &v.book.tasks[i]
		for k := len(t.live) - 1; k >= 0; k-- {
			if a := t.live[k]; a.seen != never && v.sight.listed-a.seen >= trace {
				v.miss(a)
			}
		}
	}
}
