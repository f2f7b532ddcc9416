package engine

import (
	"cmp"
	"slices"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

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
