package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
)

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
