package cluster

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/delay/assign"
)

// spread computes the speed of a machine again, and moves the ends of the attempts there.
func (s *sim) spread(id int32) {
	m := &s.machines[id]
	facts := &s.c.Machines[id]
	rate := m.spell
	if facts.Speed > 0 {
		rate *= facts.Speed
	}
	if rate == m.rate {
		return
	}
	for at := m.first; at != none; at = s.copies[at].next {
		s.advance(&s.copies[at], m.rate)
	}
	m.rate = rate
	for at := m.first; at != none; at = s.copies[at].next {
		s.schedule(at)
	}
}

// turn begins or ends a slow spell of a machine.
func (s *sim) turn(id int32, n uint32) {
	spell := s.c.Machines[id].Slow[n/2]
	if n%2 == 0 {
		s.machines[id].spell *= spell.Factor
	} else {
		s.machines[id].spell /= spell.Factor
	}
	s.spread(id)
}

// advance updates the work that an attempt has done in its stage.
func (s *sim) advance(c *copyOf, rate float64) {
	if c.stage == works || c.stage == reads && c.flows == 0 {
		c.done = min(c.amount, c.done+rate*(s.now-c.since).Seconds())
	}
	c.since = s.now
}

// schedule sets the event at the end of an attempt's stage, at the present speed of its machine.
func (s *sim) schedule(at int32) {
	c := &s.copies[at]
	c.turn++
	rate := s.machines[c.machine].rate
	switch {
	case c.stage == starts:
		s.queue.Push(c.begun+s.c.Lag, copyMoves, at, c.turn)
	case c.flows > 0:
		limit := s.flowLimit(c.machine, c.flows)
		for f := c.flow; f != none; f = s.net.flows[f].next {
			s.net.limit(f, limit)
		}
	case c.stage == works || c.stage == reads:
		if rate <= 0 {
			return // the attempt makes no progress until its machine goes on
		}
		ns := math.Ceil((c.amount - c.done) / rate * 1e9)
		if ns < math.MaxInt64/4 {
			s.queue.Push(s.now+time.Duration(ns), copyMoves, at, c.turn)
		}
	}
}

// enter lets an attempt begin a stage.
func (s *sim) enter(at int32, to stage, amount float64) {
	c := &s.copies[at]
	c.stage, c.since, c.done, c.amount = to, s.now, 0, amount
	s.schedule(at)
}

// moves ends the stage of an attempt.
func (s *sim) moves(at int32) {
	c := &s.copies[at]
	switch c.stage {
	case starts:
		s.beginReading(at)
	case reads:
		c.done = c.amount
		if c.reader != nil {
			s.assigner.hasRead(s, at)
			return
		}
		s.haveRead(at)
	case works:
		if !s.write(at) {
			s.finished(at)
		}
	}
}

// finished handles an attempt that has done all its work.
func (s *sim) finished(at int32) {
	switch c := &s.copies[at]; {
	case c.ahead:
		s.ahead().ended(s, at)
	case c.kept:
		s.assigner.ended(s, at, assign.Finished)
	default:
		s.succeed(at)
	}
}

// haveRead goes on after reading: the attempt waits for missing input, or for the gate, or computes.
func (s *sim) haveRead(at int32) {
	c := &s.copies[at]
	p := &s.phases[c.phase]
	if p.missing > 0 && !p.perTask || s.tasks[c.task].missing > 0 {
		c.stage = starves
		return
	}
	if c.kind == Reduce && s.door != nil && !s.door.compute(s, at) {
		c.stage = queues
		m := &s.machines[c.machine]
		m.waiting = append(m.waiting, at)
		return
	}
	s.work(at)
}

func (s *sim) work(at int32) {
	c := &s.copies[at]
	c.worked = s.now
	if s.door != nil && c.kind == Reduce && s.machines[c.machine].free[Reduce] > 0 {
		s.rest(c.machine, Reduce) // one attempt fewer copies there, so another may begin to copy
	}
	s.enter(at, works, c.working)
}

func (s *sim) kindOf(p int32) Kind { return s.factsOf(p).Kind }

func (s *sim) factsOf(p int32) *Phase { return s.phases[p].facts }

func (s *sim) taskFacts(id int32) *Task {
	p := &s.phases[s.tasks[id].phase]
	return &p.facts.Tasks[id-p.first]
}
