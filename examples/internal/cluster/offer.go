package cluster

import "time"

// rest adds a machine to the machines with a free slot.
func (s *sim) rest(id int32, kind Kind) {
	m := &s.machines[id]
	if m.place[kind] == none {
		m.place[kind] = int32(len(s.idle[kind]))
		s.idle[kind] = append(s.idle[kind], id)
	}
	if s.c.Heartbeat > 0 {
		if !m.beatSet {
			m.beatSet = true
			s.queue.Push(s.nextBeat(id), beats, id, 0)
		}
		return
	}
	if !m.offered[kind] {
		m.offered[kind] = true
		s.fresh[kind] = append(s.fresh[kind], id)
	}
}

// nextBeat returns the first heartbeat of a machine after now. Each machine has instants of its own.
func (s *sim) nextBeat(id int32) time.Duration {
	beat := s.c.Heartbeat
	offset := time.Duration(s.draws.For(3, uint64(id)).Int64N(int64(beat)))
	n := (s.now-offset)/beat + 1
	if s.now < offset {
		n = 0
	}
	return offset + n*beat
}

func (s *sim) beat(id int32) {
	m := &s.machines[id]
	m.beatSet = false
	for _, e := range m.ended {
		s.jobs[e.job].unheard[e.kind]--
		s.order.gave(e.job, e.kind)
		s.touch(e.job)
	}
	m.ended = m.ended[:0]
	for k := range m.free {
		if m.free[k] > 0 && !(s.c.EvenLoad && s.hasItsPart(id, Kind(k))) {
			s.serve(id, Kind(k))
		}
	}
	if m.free[Map] > 0 || m.free[Reduce] > 0 {
		m.beatSet = true
		s.queue.Push(s.nextBeat(id), beats, id, 0)
	}
}

// hasItsPart reports whether a machine has its even part of the tasks of a kind that run or could start.
func (s *sim) hasItsPart(id int32, kind Kind) bool {
	all := s.total[kind] - s.free[kind]
	for i := range s.jobs {
		all += int(s.jobs[i].waiting[kind])
	}
	n := len(s.machines)
	return s.c.Machines[id].Slots[kind]-int(s.machines[id].free[kind]) >= (all+n-1)/n
}

// busy removes a machine without a free slot from the list.
func (s *sim) busy(id int32, kind Kind) {
	m := &s.machines[id]
	list := s.idle[kind]
	last := list[len(list)-1]
	list[m.place[kind]] = last
	s.machines[last].place[kind] = m.place[kind]
	s.idle[kind] = list[:len(list)-1]
	m.place[kind] = none
}

// offer offers all free slots to the jobs with new wishes, and the slots that have just become free to all jobs.
func (s *sim) offer() {
	if s.c.Heartbeat > 0 {
		for k := range s.free {
			s.fresh[k] = s.fresh[k][:0]
		}
		s.forgetEager()
		return
	}
	for k := range s.free {
		kind := Kind(k)
		if len(s.eager) > 0 {
			s.offerAll(kind)
		}
		for i := 0; i < len(s.fresh[k]); i++ {
			id := s.fresh[k][i]
			s.machines[id].offered[k] = false
			if s.machines[id].free[k] > 0 {
				s.serve(id, kind)
			}
		}
		s.fresh[k] = s.fresh[k][:0]
	}
	s.forgetEager()
	s.tellOrder()
}

// want marks a job that may take a slot which it was not offered yet, or which it declined.
func (s *sim) want(j int32) {
	if !s.jobs[j].eager {
		s.jobs[j].eager = true
		s.eager = append(s.eager, j)
	}
}

func (s *sim) forgetEager() {
	for _, j := range s.eager {
		s.jobs[j].eager = false
	}
	s.eager = s.eager[:0]
}

// offerAll goes through the machines with free slots, one slot at a time, and offers them to the marked jobs; all
// other jobs have declined them. It begins at a random machine.
func (s *sim) offerAll(kind Kind) {
	s.tellOrder()
	list := &s.idle[kind]
	if len(*list) == 0 || !s.order.wants(kind) {
		return
	}
	if len(s.eager) > 1 {
		for i := range s.jobs {
			if j := &s.jobs[i]; !j.eager && j.waiting[kind]+j.wishes[kind] > 0 {
				s.hold(int32(i), kind)
			}
		}
	}
	if len(s.eager) == 1 {
		s.offerNear(s.eager[0], kind)
	}
	if len(*list) == 0 {
		return
	}
	s.rounds++
	at := s.draws.For(4, s.rounds, uint64(kind)).IntN(len(*list))
	for misses := 0; misses < len(*list) && s.order.wants(kind); {
		if at >= len(*list) {
			at = 0
		}
		id := (*list)[at]
		took := false
		if len(s.eager) > 1 {
			took = s.serveOne(id, kind)
		} else if j := &s.jobs[s.eager[0]]; j.waiting[kind]+j.wishes[kind] > 0 {
			took = s.take(s.eager[0], id, kind)
		} else {
			break
		}
		switch {
		case !took && len(s.eager) == 1 && s.declined == 1:
			// Machines with its blocks were asked before; what it declines in their racks, it declines everywhere.
			misses = len(*list) // the job declines in their racks, so it declines everywhere
		case !took:
			misses++
			at++
		case s.machines[id].free[kind] > 0: // otherwise another machine has taken its place in the list
			misses = 0
			at++
		default:
			misses = 0
		}
	}
	s.readmit(0)
}

// offerNear offers free slots on machines with blocks of a job's waiting tasks to the job, if it would decline all
// other slots. This saves the loop over all machines of a large cluster.
func (s *sim) offerNear(j int32, kind Kind) {
	for _, id := range s.jobs[j].phase[kind] {
		if !s.wait.localOnly(s, id) {
			continue
		}
		for _, n := range s.phases[id].nearby {
			if s.tasks[n.task].owed > 0 && s.machines[n.place].free[kind] > 0 {
				s.take(j, n.place, kind)
			}
		}
	}
}

// serve gives the free slots of a machine to jobs, as long as a job wants one.
func (s *sim) serve(id int32, kind Kind) {
	for s.machines[id].free[kind] > 0 && s.serveOne(id, kind) && !s.c.OneTask &&
		!(s.c.EvenLoad && s.hasItsPart(id, kind)) {
	}
}

// serveOne offers a slot to the jobs in their order, until a job takes it.
func (s *sim) serveOne(id int32, kind Kind) bool {
	s.tellOrder()
	mark, took := len(s.passed), false
	for !took {
		j, ok := s.order.next(kind)
		if !ok {
			break
		}
		if took = s.take(j, id, kind); !took {
			s.hold(j, kind)
		}
	}
	s.readmit(mark)
	return took
}

// take lets a job use a slot, for a copy that a policy wants, or for a waiting task.
func (s *sim) take(j, machine int32, kind Kind) bool {
	s.declined = none
	for _, id := range s.jobs[j].phase[kind] {
		p := &s.phases[id]
		if p.waiting == 0 && !p.wishes {
			continue
		}
		if p.watch != nil && p.watch.takes(s, id, machine) {
			return true
		}
		if p.waiting > 0 && s.takeTask(id, machine) {
			return true
		}
	}
	return false
}

// touch marks a job whose slots have changed since the order was updated.
func (s *sim) touch(j int32) {
	if !s.jobs[j].touched {
		s.jobs[j].touched = true
		s.touched = append(s.touched, j)
	}
}
