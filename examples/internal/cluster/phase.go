package cluster

import (
	"slices"
)

// tryOpen lets a phase begin if enough of its input is there.
func (s *sim) tryOpen(id int32) {
	p := &s.phases[id]
	if p.open || p.missing > p.threshold && !p.perTask || !s.jobs[p.job].come {
		return
	}
	if p.perTask && p.missing == int32(s.inputTasks(p)) {
		return
	}
	if !s.discover(p) {
		return
	}
	p.open, p.opened = true, s.now
	facts := s.factsOf(id)
	if p.missing == 0 && len(p.inputs) > 0 {
		s.shareByRack(p)
	}
	s.divide(id)
	s.forecast.project(s, id)
	s.begin(id, facts)
	s.jobs[p.job].phase[facts.Kind] = append(s.jobs[p.job].phase[facts.Kind], id)
	if p.perTask {
		for t := p.first; t < p.end; t++ {
			s.countInputs(id, t)
			if s.tasks[t].missing == 0 {
				s.ready(t)
			}
		}
		return
	}
	s.arrange(id, facts)
	for _, t := range p.queue {
		s.tasks[t].owed = p.copiesOf(t)
		p.waiting += s.tasks[t].owed
	}
	s.jobs[p.job].waiting[facts.Kind] += p.waiting
	s.touch(p.job)
	s.want(p.job)
}

// countInputs counts the input tasks of a task that have not ended.
func (s *sim) countInputs(id, t int32) {
	p := &s.phases[id]
	s.tasks[t].missing = 0
	for _, in := range p.inputs {
		up := &s.phases[in]
		first, end := s.inputsOf(id, in, t)
		for u := up.first + int32(first); u < up.first+int32(end); u++ {
			if !s.tasks[u].done {
				s.tasks[t].missing++
			}
		}
	}
}

// inputsOf returns the tasks of an input phase that a task reads, counted from the first: the whole phase if the pattern
// does not fit the phases.
func (s *sim) inputsOf(id, input, t int32) (first, end int) {
	p, up := &s.phases[id], &s.phases[input]
	first, end, err := s.factsOf(id).Pattern.Inputs(int(t-p.first), int(up.end-up.first), int(p.end-p.first))
	if err != nil {
		return 0, int(up.end - up.first)
	}
	return first, end
}

// ready lets a task wait for a slot, in a phase that begins task by task.
func (s *sim) ready(id int32) {
	t := &s.tasks[id]
	if !s.phases[t.phase].open || t.done || t.copies > 0 || t.owed > 0 {
		return
	}
	for range s.phases[t.phase].copiesOf(id) {
		s.owe(id)
	}
	s.want(s.phases[t.phase].job)
}

// arrange sorts the tasks of a phase in the order of their start, and finds the tasks near each machine.
func (s *sim) arrange(id int32, facts *Phase) {
	p := &s.phases[id]
	p.queue = make([]int32, 0, p.end-p.first)
	for t := p.first; t < p.end; t++ {
		if !s.tasks[t].done {
			p.queue = append(p.queue, t)
		}
	}
	if s.c.LargestFirst {
		largestFirst(p.queue, func(t int32) float64 { return facts.Tasks[t-p.first].Work })
	}
	for _, t := range p.queue {
		replicas := s.homesOf(t)
		for i, r := range replicas {
			p.nearby = append(p.nearby, near{r, t})
			rack := s.machines[r].rack
			if !slices.ContainsFunc(replicas[:i], func(o int32) bool { return s.machines[o].rack == rack }) {
				p.nearbyRack = append(p.nearbyRack, near{rack, t})
			}
		}
	}
	byPlace := func(a, b near) int { return int(a.place - b.place) }
	slices.SortStableFunc(p.nearby, byPlace)
	slices.SortStableFunc(p.nearbyRack, byPlace)
	s.wait.begin(s, id)
}

// close frees the data that a phase needs only while its job runs.
func (s *sim) close(id int32) {
	p := &s.phases[id]
	if p.watch != nil {
		p.watch.tracker.Close(s.clock())
		p.watch = nil
	}
	p.queue, p.again, p.nearby, p.nearbyRack, p.from, p.placed = nil, nil, nil, nil, nil, nil
}
