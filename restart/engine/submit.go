package engine

import (
	"cmp"
	"slices"

	"github.com/straggler-go/straggler/restart"
)

// starts submits waiting tasks, in their order, each where it may run.
func (p *Phase) starts() {
	if p.free() <= 0 && !p.config.Queued {
		return // there may be many that wait
	}
	p.arrange()
	p.actions = slices.Grow(p.actions, min(len(p.waiting), max(p.free(), 0)))
	for _, task := range p.waiting {
		if p.free() <= 0 && !p.config.Queued {
			break
		}
		t := &p.tasks[task]
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

// arrange puts the waiting tasks in order. An Order that does more than exchange places is not followed.
func (p *Phase) arrange() {
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
	p.config.Order(p.wall, p.order)
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

// place returns where a waiting task should run, if anywhere now. A host on which it was tried is the last resort: it
// is better to wait for another one.
func (p *Phase) place(task int) (host int, ok bool) {
	if !p.hosts.placing() {
		return nowhere, true
	}
	t := &p.tasks[task]
	host, open := p.hosts.pick(t.wasOn, p.config.Queued)
	if !open {
		host, _ = p.hosts.pick(t.isOn, p.config.Queued)
	}
	return host, host != nowhere
}

// clones submits the clones that tasks lack, while there is room and no task waits for it.
func (p *Phase) clones() {
	p.served = p.served[:0]
	defer p.showServed()
	for p.cloned < len(p.tasks)*(p.config.Clones-1) && p.free() > 0 {
		host := nowhere
		if p.hosts.placing() {
			if host, _ = p.hosts.pick(nobody, false); host == nowhere {
				return
			}
		}
		a := p.tracker.Next(p.now, host)
		switch {
		case a.Action == restart.Start && a.Reason == restart.Cloned:
			p.submit(a.Task, host, a.Decision)
			p.cloned++
		case host == nowhere:
			return
		default: // the tasks that lack a clone have been there
			p.served = append(p.served, host)
			p.hosts.hide(host, true)
		}
	}
}

// submit hands a new attempt to the engine, and tells the tracker that it waits there.
func (p *Phase) submit(task, host int, why restart.Decision) {
	avoid := p.avoid(task, host)
	number := p.tracker.Submit(p.now, task, host)
	a := &attempt{id: p.attemptName(task, number), task: task, number: number, host: host, avoid: avoid}
	p.attempts[a.id] = a
	p.enter(a)
	p.actions = append(p.actions, Action{
		Op: Submit, Task: task, ID: a.id, Host: p.hosts.name(host), Avoid: avoid, Decision: why,
	})
}

// avoid names the hosts where a new attempt should not run, but not all that there are, nor the one that was chosen.
// Those that are down are no matter of choice. O(hosts that rest, or were tried).
func (p *Phase) avoid(task, chosen int) []string {
	t := &p.tasks[task]
	p.unwanted = append(append(append(p.unwanted[:0], t.tried...), p.hosts.resting...), p.hosts.slow...)
	if names, left := p.named(chosen); left {
		return names
	}
	p.unwanted = p.unwanted[:0]
	for _, a := range t.live {
		if a.host != nowhere {
			p.unwanted = append(p.unwanted, a.host)
		}
	}
	names, _ := p.named(chosen)
	return names
}

// named returns the names of the unwanted hosts that are up, in the order of their numbers, and whether any other is
// left; none if not.
func (p *Phase) named(chosen int) (names []string, left bool) {
	slices.Sort(p.unwanted)
	p.unwanted = slices.Compact(p.unwanted)
	p.unwanted = slices.DeleteFunc(p.unwanted, func(i int) bool { return i == chosen || p.hosts.list[i].down })
	if len(p.unwanted) == 0 || len(p.unwanted) >= p.hosts.sums.up {
		return nil, len(p.unwanted) == 0
	}
	names = make([]string, len(p.unwanted))
	for k, i := range p.unwanted {
		names[k] = p.hosts.list[i].Name
	}
	return names, true
}
