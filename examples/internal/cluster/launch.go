package cluster

// launch starts an attempt of a task on a machine.
func (s *sim) launch(id, machine int32, level int8, extra bool) {
	t := &s.tasks[id]
	p := &s.phases[t.phase]
	at := s.occupy(copyOf{task: id, machine: machine, sibling: t.first, extra: extra, level: level})
	c := &s.copies[at]
	t.first = at
	t.copies++
	if !extra {
		t.owed--
		p.waiting--
		s.jobs[p.job].waiting[c.kind]--
	}
	if p.watch != nil {
		c.attempt = int32(p.watch.tracker.Start(s.clock(), int(id-p.first), int(machine)))
		s.queue.Push(s.now+s.c.Interval, reports, at, c.life)
	}
	s.tell(p.job, "task %d: attempt %d launched on machine %d", id-p.first, c.attempt, machine)
	if s.c.Lag > 0 {
		s.enter(at, starts, 0)
	} else {
		s.beginReading(at)
	}
	s.spread(machine)
}

// occupy puts an attempt on a slot of its machine, and returns its place in the list of attempts.
func (s *sim) occupy(c copyOf) int32 {
	at := s.place()
	old, m := &s.copies[at], &s.machines[c.machine]
	c.phase = s.tasks[c.task].phase
	facts := s.factsOf(c.phase)
	// turn counts on, so that events for the earlier attempt in this place are ignored.
	c.life, c.turn, c.kind, c.live = old.life+1, old.turn+1, facts.Kind, true
	c.begun, c.since, c.flow, c.next, c.previous = s.now, s.now, none, m.first, none
	*old = c
	if c.next != none {
		s.copies[c.next].previous = at
	}
	m.first = at
	s.price(at, facts)
	s.count(at)
	return at
}

// price computes the reading time and the computing time of an attempt at speed 1, and the share of reading in its
// progress.
func (s *sim) price(at int32, facts *Phase) {
	c := &s.copies[at]
	t := &s.tasks[c.task]
	p := &s.phases[t.phase]
	task := s.taskFacts(c.task)
	rate := s.c.Disk
	switch {
	case len(p.inputs) > 0:
		rate = facts.Fetch
	case c.level > 0:
		rate = s.c.Remote
	}
	if rate > 0 {
		c.reading = task.Bytes / rate
	} else if len(p.inputs) > 0 && s.c.Remote > 0 && len(s.c.Racks) > 1 {
		c.reading = task.Bytes / s.c.Remote
	}
	c.working, c.output = task.Seconds, task.Writes
	if facts.Luck != nil {
		wave := 1
		if s.now == p.opened && t.drawn == 0 {
			wave = 0
		}
		rng := s.draws.For(1, uint64(c.task), uint64(t.drawn))
		luck := facts.Luck(rng, int(c.task-p.first), int(c.machine), wave)
		c.working *= luck
		c.output *= luck
		if facts.Late {
			c.luck, c.turns = luck, rng.Float64()
		}
	}
	t.drawn++
	if len(s.c.Physical) > 0 {
		usual := s.usualRate(c.machine)
		c.reading, c.writing = task.Bytes/usual, c.output/usual
	}
	if c.share = facts.ReadScore; c.share == 0 {
		if all := c.reading + c.working + c.writing; all > 0 {
			c.share = c.reading / all
		}
	}
}

// count updates the counts of slots at the start of an attempt.
func (s *sim) count(at int32) {
	c := &s.copies[at]
	m := &s.machines[c.machine]
	p := &s.phases[c.phase]
	j := &s.jobs[p.job]
	if m.free[c.kind]--; m.free[c.kind] == 0 {
		s.busy(c.machine, c.kind)
	}
	s.free[c.kind]--
	m.running++
	p.running++
	j.running[c.kind]++
	s.order.took(p.job, c.kind)
	s.touch(p.job)
	r := &s.result.Jobs[p.job]
	if r.Begin < 0 {
		r.Begin = s.now
	}
	s.result.Launched++
	if c.extra {
		s.result.Speculative++
	}
	if len(s.taskFacts(c.task).Replicas) > 0 {
		r.Near[c.level]++
		s.result.Near[c.level]++
	}
}

func (s *sim) place() int32 {
	if last := len(s.spare) - 1; last >= 0 {
		at := s.spare[last]
		s.spare = s.spare[:last]
		return at
	}
	s.copies = append(s.copies, copyOf{})
	return int32(len(s.copies) - 1)
}
