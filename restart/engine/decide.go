package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// decide asks the policy about what runs, and gives the free slots away: to copies first, as far as the policy wants any
// while tasks wait, then to waiting tasks, then to clones.
func (p *Phase) decide(now time.Time) {
	p.stranded(now)
	p.tellSlots(now)
	if !p.isBlind(now) {
		p.sweep(now)
		p.copies(now)
	}
	p.starts(now)
	p.clones(now)
}

// sweep carries out what the policy wants to end. A decision changes the facts for those behind it, which are asked anew;
// a Sweep with a journal does that by itself, and one without does it otherwise.
func (p *Phase) sweep(now time.Time) {
	p.numbers = p.numbers[:0]
	p.tracker.Sweep(now, func(task int, d restart.Decision) {
		if d.Action == restart.Restart || d.Action == restart.Kill {
			p.numbers = append(p.numbers, task)
		}
	})
	for _, task := range p.numbers {
		d := p.tracker.Decide(now, task)
		if (d.Action == restart.Restart || d.Action == restart.Kill) && p.giveUpCopy(now, task, d) {
			p.tellSlots(now)
		}
	}
}

// stranded cancels attempts that wait for hosts of which none is left, and lets their tasks be submitted anew.
func (p *Phase) stranded(now time.Time) {
	if p.changes == p.hosts.changes {
		return
	}
	p.changes = p.hosts.changes
	for i := range p.tasks {
		t := &p.tasks[i]
		for _, a := range slices.Clone(t.live) {
			if a.begun || p.hosts.canRun(a) {
				continue
			}
			p.tracker.Kill(now, i, a.number)
			p.cancel(a, restart.Decision{})
			if len(t.live) == 0 {
				p.wait(i, restart.Decision{})
			}
		}
	}
}

// tellSlots tells the tracker how many attempts may run: those that do, and as many as there is room for.
func (p *Phase) tellSlots(now time.Time) {
	slots := max(p.slots-p.dying, 0)
	if p.hosts.placing() {
		slots = p.live + p.hosts.free(now)
	}
	if slots != p.told {
		p.told = slots
		p.tracker.SetSlots(slots)
	}
}

func (p *Phase) free() int { return p.told - p.live }

// giveUpCopy carries a decision to restart or to kill out. It reports false if there is no such copy.
func (p *Phase) giveUpCopy(now time.Time, task int, d restart.Decision) bool {
	t := &p.tasks[task]
	a := t.numbered(d.Copy)
	if a == nil {
		return false
	}
	if d.Action == restart.Restart {
		p.tracker.Restart(now, task, a.number)
	} else {
		p.tracker.Kill(now, task, a.number)
	}
	p.cancel(a, d)
	if a.begun { // if not, the host has not had it yet
		p.hosts.strike(now, a.host)
	}
	if len(t.live) == 0 {
		p.wait(task, d)
	}
	return true
}

// copies submits the copies that the policy wants, the largest gain first.
func (p *Phase) copies(now time.Time) {
	p.served = slices.Grow(p.served[:0], len(p.hosts.list))[:len(p.hosts.list)]
	clear(p.served)
	for p.free() > 0 {
		host := nowhere
		if p.hosts.placing() {
			if host, _ = p.hosts.pick(now, p.wasServed, false); host == nowhere {
				return
			}
		}
		task, d := p.tracker.Next(now, host)
		switch {
		case d.Action == restart.Duplicate && p.submitCopy(now, task, host, d):
		case (d.Action == restart.Restart || d.Action == restart.Kill) && p.giveUpCopy(now, task, d):
			p.tellSlots(now)
		case host == nowhere, d.Reason == restart.NothingToDo: // no host gains any
			return
		default:
			p.served[host] = true
		}
	}
}

// wasServed reports whether no copy gains from a host.
func (p *Phase) wasServed(host int) bool { return p.served[host] }

// submitCopy submits a copy on the host that asked, or on another one if a copy of the task is there already: a policy of
// the caller's own need not say what to avoid. It reports false if there is another one, but it is full.
func (p *Phase) submitCopy(now time.Time, task, host int, d restart.Decision) bool {
	if t := &p.tasks[task]; host != nowhere && t.isOn(host) {
		other, open := p.hosts.pick(now, t.isOn, false)
		if other == nowhere && open {
			return false
		}
		if other != nowhere {
			host = other
		}
	}
	p.submit(now, task, host, d)
	return true
}

// starts submits waiting tasks, in their order, each where it may run.
func (p *Phase) starts(now time.Time) {
	if p.free() <= 0 && !p.config.Queued {
		return // there may be many that wait
	}
	p.arrange(now)
	for _, task := range p.waiting {
		if p.free() <= 0 && !p.config.Queued {
			break
		}
		t := &p.tasks[task]
		if t.alone && t.dying > 0 {
			continue
		}
		host, ok := p.place(now, task)
		if !ok {
			continue
		}
		p.submit(now, task, host, t.why)
		if t.clones > 0 && !t.alone {
			p.owing = append(p.owing, task)
		}
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(task int) bool { return !p.tasks[task].waits })
}

// arrange puts the waiting tasks in order. An Order that does more than exchange places is not followed.
func (p *Phase) arrange(now time.Time) {
	p.waiting = slices.DeleteFunc(p.waiting, func(task int) bool { return !p.tasks[task].waits })
	work := p.config.Work
	slices.SortFunc(p.waiting, func(a, b int) int {
		if work != nil && work[a] != work[b] {
			return cmp.Compare(work[b], work[a])
		}
		return cmp.Compare(a, b)
	})
	p.waiting = slices.Compact(p.waiting)
	if p.config.Order == nil || len(p.waiting) < 2 {
		return
	}
	p.order = append(p.order[:0], p.waiting...)
	p.config.Order(now, p.order)
	for _, task := range p.order {
		if task < 0 || task >= len(p.tasks) || !p.tasks[task].waits {
			p.ignored++
			return
		}
	}
	p.numbers = append(p.numbers[:0], p.order...)
	slices.Sort(p.numbers)
	if len(slices.Compact(p.numbers)) != len(p.waiting) {
		p.ignored++
		return
	}
	p.waiting, p.order = p.order, p.waiting
}

// place returns where a waiting task should run, if anywhere now. A host on which it was tried is the last resort: it is
// better to wait for another one.
func (p *Phase) place(now time.Time, task int) (host int, ok bool) {
	if !p.hosts.placing() {
		return nowhere, true
	}
	t := &p.tasks[task]
	host, open := p.hosts.pick(now, t.wasOn, p.config.Queued)
	if !open {
		host, _ = p.hosts.pick(now, t.isOn, p.config.Queued)
	}
	return host, host != nowhere
}

// clones submits the clones of the tasks that have just started, while there is room.
func (p *Phase) clones(now time.Time) {
	for _, task := range p.owing {
		t := &p.tasks[task]
		for ; t.clones > 0 && !t.over && p.free() > 0; t.clones-- {
			host := nowhere
			if p.hosts.placing() {
				if host, _ = p.hosts.pick(now, t.isOn, false); host == nowhere {
					break
				}
			}
			p.submit(now, task, host, restart.Decision{})
		}
		t.clones = 0
	}
	p.owing = p.owing[:0]
}

// submit hands a new attempt to the engine, and tells the tracker that it waits there.
func (p *Phase) submit(now time.Time, task, host int, why restart.Decision) {
	avoid := p.avoid(now, task, host)
	number := p.tracker.Submit(now, task, host)
	a := &attempt{id: p.attemptName(task, number), task: task, number: number, host: host, avoid: avoid}
	p.attempts[a.id] = a
	p.enter(a)
	p.actions = append(p.actions, Action{
		Op: Submit, Task: task, ID: a.id, Host: p.hosts.name(host), Avoid: avoid, Decision: why,
	})
}

// avoid names the hosts where a new attempt should not run, but not all that there are, nor the one that was chosen. Those
// that are down are no matter of choice.
func (p *Phase) avoid(now time.Time, task, chosen int) []string {
	t := &p.tasks[task]
	for _, unwanted := range []func(host int) bool{
		func(host int) bool { return t.wasOn(host) || p.hosts.list[host].rests(now) },
		t.isOn,
	} {
		var names []string
		left := 0
		for i := range p.hosts.list {
			switch {
			case p.hosts.list[i].down:
			case i != chosen && unwanted(i):
				names = append(names, p.hosts.list[i].Name)
			default:
				left++
			}
		}
		if left > 0 {
			return names
		}
	}
	return nil
}
