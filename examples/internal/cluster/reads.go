package cluster

import "time"

// beginReading lets an attempt read its input: from its disk, from another machine, or from all racks that hold a
// part of it. A read between racks is a flow. A read within a rack, or without simulated links, takes the time that
// the reader alone needs.
func (s *sim) beginReading(at int32) {
	c := &s.copies[at]
	facts := s.taskFacts(c.task)
	p := &s.phases[c.phase]
	switch {
	case p.assigned:
		s.assigner.begin(s, at)
	case facts.Bytes == 0:
		c.stage = reads
		s.haveRead(at)
	case len(s.c.Physical) > 0 && len(p.inputs) == 0:
		s.readBlock(at, facts)
	case len(s.c.Physical) > 0 && (p.missing > 0 || len(s.c.Racks) < 2):
		s.fetch(at, facts.Bytes)
	case len(p.inputs) > 0 && p.from != nil && len(s.c.Racks) > 1 && p.missing == 0:
		s.shuffle(at, p.from, facts.Bytes)
	case len(p.inputs) == 0 && c.level > 0 && s.c.Network > 0:
		s.transfer(at, reads, []int32{int32(len(s.net.links) - 1)}, facts.Bytes) // the last link is that of the network
	case len(p.inputs) == 0 && c.level == 2 && len(s.c.Racks) > 1 && s.c.Remote > 0:
		from := int32(s.c.Machines[facts.Replicas[int(c.task)%len(facts.Replicas)]].Rack)
		s.transfer(at, reads, s.between(from, c.machine), facts.Bytes)
	default:
		s.enter(at, reads, c.reading)
	}
}

// shuffle reads from every rack its share of the bytes.
func (s *sim) shuffle(at int32, from []float64, bytes float64) {
	c := &s.copies[at]
	c.stage, c.since, c.flows, c.flow = reads, s.now, 0, none
	n := int32(0)
	for _, share := range from {
		if share > 0 {
			n++
		}
	}
	for rack, share := range from {
		if share > 0 {
			links := s.between(int32(rack), c.machine)
			if len(s.c.Physical) > 0 {
				links = append(s.disk(links, c.machine), s.physicalLink(c.machine, cardIn))
			}
			s.startFlow(at, links, bytes*share, n)
		}
	}
}

// between returns the links from a rack to a machine: none within the rack.
func (s *sim) between(rack, machine int32) []int32 {
	if to := s.machines[machine].rack; rack != to {
		return []int32{uplink(rack), downlink(to)}
	}
	return nil
}

// startFlow starts one of n flows of an attempt.
func (s *sim) startFlow(at int32, links []int32, bytes float64, n int32) {
	c := &s.copies[at]
	f := s.net.start(int64(s.now), links, bytes, s.flowLimit(c.machine, n), at)
	s.net.flows[f].next = c.flow
	c.flow = f
	c.flows++
}

// flowLimit returns the largest rate of each of n flows into a machine.
func (s *sim) flowLimit(machine, n int32) float64 {
	if s.c.Remote == 0 {
		return unlimited
	}
	return s.c.Remote * s.machines[machine].rate / float64(n)
}

// unlimited is the rate in bytes per second that replaces an infinite limit.
const unlimited = 1e15

// flowEnded removes a flow that has ended from its attempt. The next flow to start takes its place. The other flows
// of the attempt share the speed of the reader.
func (s *sim) flowEnded(f int32) {
	at := s.net.flows[f].copy
	c := &s.copies[at]
	link := &c.flow
	for *link != f {
		link = &s.net.flows[*link].next
	}
	*link = s.net.flows[f].next
	s.net.flows[f].left = 0
	s.net.stop(int64(s.now), f)
	if c.flows--; c.flows > 0 {
		s.schedule(at)
		return
	}
	if c.stage == writes {
		s.finished(at)
		return
	}
	s.haveRead(at)
}

// stopFlows stops all flows of an attempt.
func (s *sim) stopFlows(at int32) {
	c := &s.copies[at]
	for f := c.flow; f != none; f = s.net.flows[f].next {
		s.net.stop(int64(s.now), f)
	}
	c.flow, c.flows = none, 0
}

// settle computes the rates again after flows have started or ended, and sets the events at their ends.
func (s *sim) settle() {
	for _, f := range s.net.settle(int64(s.now)) {
		flow := &s.net.flows[f]
		flow.life++
		if at, ok := flow.ends(); ok {
			s.queue.Push(max(time.Duration(at), s.now), flowEnds, f, flow.life)
		}
	}
}

// shareRead returns the share of its input that an attempt has read.
func (s *sim) shareRead(at int32) float64 {
	c := &s.copies[at]
	if r := c.reader; r != nil {
		read, all := float64(r.read), float64(r.read+len(r.left))
		if r.current != none && c.reading > 0 {
			read += 1 - (c.amount-c.done)*r.pace*all/c.reading
		}
		return min(max(read/all, 0), 1)
	}
	switch there := s.there(c.phase); {
	case c.flows > 0:
		return min(max(1-s.leftOf(c)/s.taskFacts(c.task).Bytes, 0), there)
	case c.amount > 0:
		return min(c.done/c.amount, there)
	}
	return 1
}

// there returns the share of the input of a phase that is there.
func (s *sim) there(id int32) float64 {
	p := &s.phases[id]
	return 1 - float64(p.missing)/float64(max(1, s.inputTasks(p)))
}

// leftOf returns the bytes that the flows of an attempt have still to carry.
func (s *sim) leftOf(c *copyOf) float64 {
	left := 0.0
	for f := c.flow; f != none; f = s.net.flows[f].next {
		flow := &s.net.flows[f]
		s.net.advance(int64(s.now), flow)
		left += flow.left
	}
	return left
}

func (s *sim) inputTasks(p *phase) int {
	n := 0
	for _, in := range p.inputs {
		n += int(s.phases[in].end - s.phases[in].first)
	}
	return n
}

// inputEnded tells a phase that a task of one of its input phases has ended.
func (s *sim) inputEnded(id, input int32) {
	p := &s.phases[id]
	p.missing--
	if p.perTask {
		s.eachReader(id, input, func(t int32) {
			if s.tasks[t].missing--; s.tasks[t].missing == 0 {
				s.ready(t)
				s.readAgain(t)
			}
		})
		s.tryOpen(id)
		return
	}
	s.tryOpen(id)
	if p.missing == 0 {
		s.shareByRack(p)
		s.feed(p)
	}
}

// readAgain lets attempts of a task go on that wait for a lost input, after another attempt of the task had read all
// input.
func (s *sim) readAgain(id int32) {
	for at := s.tasks[id].first; at != none; at = s.copies[at].sibling {
		if s.copies[at].stage == starves {
			s.readOn(at, 1)
		}
	}
}

// readOn lets an attempt read a share of its input that was missing.
func (s *sim) readOn(at int32, share float64) {
	c := &s.copies[at]
	if len(s.c.Physical) > 0 {
		s.fetch(at, s.taskFacts(c.task).Bytes*share)
		return
	}
	s.enter(at, reads, c.reading*share)
}

// eachReader calls f with each task of a phase that reads the given task.
func (s *sim) eachReader(id, input int32, f func(task int32)) {
	p := &s.phases[id]
	in := &s.phases[s.tasks[input].phase]
	upstream, downstream := int(in.end-in.first), int(p.end-p.first)
	pattern := s.factsOf(id).Pattern
	// The tasks that one reads lie together and in order, so its reader is near the same place among the readers.
	guess := int(input-in.first) * downstream / upstream
	for k := max(0, guess-1); k <= min(downstream-1, guess+1); k++ {
		first, end, err := pattern.Inputs(k, upstream, downstream)
		if err == nil && int(input-in.first) >= first && int(input-in.first) < end {
			f(p.first + int32(k))
		}
	}
}

// shareByRack computes the share of its input that is in each rack, when all of it is there.
func (s *sim) shareByRack(p *phase) {
	if len(s.c.Racks) < 2 {
		return
	}
	p.from = make([]float64, len(s.c.Racks))
	n := 0.0
	for _, in := range p.inputs {
		for t := s.phases[in].first; t < s.phases[in].end; t++ {
			if m := s.tasks[t].machine; m != none {
				p.from[s.machines[m].rack]++
				n++
			}
		}
	}
	for i := range p.from {
		p.from[i] /= n
	}
}

// feed lets attempts go on that waited for the last input, which they have still to read. An attempt that still reads
// does not have this last input either.
func (s *sim) feed(p *phase) {
	n := float64(max(1, s.inputTasks(p)))
	for t := p.first; t < p.end; t++ {
		for at := s.tasks[t].first; at != none; at = s.copies[at].sibling {
			c := &s.copies[at]
			switch {
			case c.stage == starves:
				s.readOn(at, 1/n)
			case c.stage == reads && c.flows == 1 && len(s.c.Physical) > 0:
				s.net.least(int64(s.now), c.flow, s.taskFacts(t).Bytes/n)
			case c.stage == reads && c.flows == 0 && c.amount == c.reading:
				s.advance(c, s.machines[c.machine].rate)
				c.done = min(c.done, c.amount*(1-1/n))
				s.schedule(at)
			}
		}
	}
}
