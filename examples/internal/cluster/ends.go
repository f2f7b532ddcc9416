package cluster

import (
	"time"

	"github.com/straggler-go/straggler/delay/assign"
)

// succeed handles an attempt that ends its task.
func (s *sim) succeed(at int32) {
	c := s.copies[at]
	t := &s.tasks[c.task]
	p := &s.phases[t.phase]
	j := p.job
	if p.watch != nil {
		p.watch.tracker.Finish(s.clock(), int(c.task-p.first), int(c.attempt))
	}
	if c.extra || t.would > s.now {
		s.result.Won++
	}
	s.tell(j, "task %d: attempt %d has ended it on machine %d", c.task-p.first, c.attempt, c.machine)
	s.record(&c, true)
	s.forecast.ended(s, &c)
	s.assigner.taskEnded(s, &c)
	s.release(at)
	if s.assigner.keeps(s, c.task) {
		s.assigner.keep(s, c.task)
	}
	for t.first != none {
		s.result.Lost++
		s.waste(t.first)
	}
	s.disown(c.task)
	t.done, t.machine, t.would, t.ahead = true, c.machine, 0, false
	s.clones.taskEnded(s, c.task)
	p.unfinished--
	s.ahead().grant(s.now - c.begun)
	s.produced(c.task)
	for _, output := range p.outputs {
		s.inputEnded(output, c.task)
	}
	if p.unfinished == 0 {
		s.wishNothing(t.phase)
		s.clones.phaseEnded(p)
		s.assigner.phaseEnded(s, p)
		s.phaseEnded(t.phase)
	}
}

// kill ends an attempt early. requeue is true if its task must start again.
func (s *sim) kill(at int32, requeue bool) {
	c := s.copies[at]
	if c.ahead {
		s.ahead().drop(s, at)
		return
	}
	if c.kept {
		s.assigner.ended(s, at, assign.Failed)
		return
	}
	s.waste(at)
	if t := &s.tasks[c.task]; requeue || t.copies == 0 && t.owed == 0 {
		s.owe(c.task)
	}
}

// waste ends an attempt that does not end its task.
func (s *sim) waste(at int32) {
	c := s.copies[at]
	s.result.Wasted += s.now - c.begun
	s.record(&c, false)
	s.release(at)
}

// tellKill tells the tracker of a phase, if it has one, that an attempt is killed.
func (s *sim) tellKill(at int32) {
	c := &s.copies[at]
	if p := &s.phases[c.phase]; p.watch != nil && !c.kept {
		p.watch.tracker.Kill(s.clock(), int(c.task-p.first), int(c.attempt))
	}
}

// disown removes the attempts of a task that are still to be started from the queue.
func (s *sim) disown(id int32) {
	t := &s.tasks[id]
	p := &s.phases[t.phase]
	p.waiting -= t.owed
	s.jobs[p.job].waiting[s.kindOf(t.phase)] -= t.owed
	t.owed = 0
	s.touch(p.job)
}

func (s *sim) record(c *copyOf, won bool) {
	if !s.c.Record {
		return
	}
	p := s.tasks[c.task].phase
	j := s.phases[p].job
	s.result.Runs = append(s.result.Runs, Attempt{
		Job: int(j), Phase: int(p - s.jobs[j].phases[0]), Task: int(c.task - s.phases[p].first), Machine: int(c.machine),
		Begin: c.begun, Work: c.worked, End: s.now, Won: won, Extra: c.extra,
	})
}

// ends returns when an attempt would end at the present speed of its machine, without any wait.
func (s *sim) ends(at int32) time.Duration {
	c := &s.copies[at]
	rate := s.machines[c.machine].rate
	s.advance(c, rate)
	left := c.amount - c.done
	if c.stage < works {
		left += c.working
	}
	return s.now + time.Duration(left/rate*float64(time.Second))
}

// owe puts a task back into the queue.
func (s *sim) owe(id int32) {
	t := &s.tasks[id]
	p := &s.phases[t.phase]
	kind := s.kindOf(t.phase)
	t.owed++
	p.waiting++
	if p.bound != nil {
		p.bound[id-p.first] = none // a task that comes back may go to any machine
	}
	p.again = append(p.again, id)
	s.jobs[p.job].waiting[kind]++
	s.touch(p.job)
}

// release frees the place of an attempt, and its slot.
func (s *sim) release(at int32) {
	c := &s.copies[at]
	m := &s.machines[c.machine]
	t := &s.tasks[c.task]
	p := &s.phases[t.phase]
	s.stopFlows(at)
	s.result.Used[c.kind] += s.now - c.begun
	c.live = false
	s.spare = append(s.spare, at)

	if c.previous != none {
		s.copies[c.previous].next = c.next
	} else {
		m.first = c.next
	}
	if c.next != none {
		s.copies[c.next].previous = c.previous
	}
	if !c.kept {
		link := &t.first
		for *link != at {
			link = &s.copies[*link].sibling
		}
		*link = c.sibling
		t.copies--
	}
	m.running--
	p.running--
	s.jobs[p.job].running[c.kind]--
	if s.c.Heartbeat > 0 {
		s.jobs[p.job].unheard[c.kind]++
		m.ended = append(m.ended, slotOf{p.job, c.kind})
	} else {
		s.order.gave(p.job, c.kind)
	}
	s.touch(p.job)
	m.free[c.kind]++
	s.free[c.kind]++
	s.rest(c.machine, c.kind)
	if c.stage >= works && c.kind == Reduce {
		s.admit(c.machine)
	}
	s.spread(c.machine)
}

// admit lets attempts through the gate, in the order of their arrival.
func (s *sim) admit(id int32) {
	if s.door == nil {
		return
	}
	m := &s.machines[id]
	kept := m.waiting[:0]
	for _, at := range m.waiting {
		switch c := &s.copies[at]; {
		case !c.live || c.stage != queues || c.machine != id:
		case s.door.compute(s, at):
			s.work(at)
		default:
			kept = append(kept, at)
		}
	}
	m.waiting = kept
}
