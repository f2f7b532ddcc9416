package cluster

import (
	"slices"
	"time"

	"github.com/straggler-go/straggler/delay/assign"
)

// kept is an attempt of a task that has ended: the attempt that ended it, or a clone that runs on.
type kept struct {
	at    int32 // its place in the list of attempts, while it runs
	state assign.State
}

// keeps reports whether the other clones of a task that has ended run on. They do if one phase will read the output,
// all parts at once, or task by task.
func (a *assigner) keeps(s *sim, id int32) bool {
	p := &s.phases[s.tasks[id].phase]
	if a == nil || s.c.Assign == nil || id-p.first >= p.cloned || len(p.outputs) != 1 {
		return false
	}
	o := &s.phases[p.outputs[0]]
	return (!o.open || o.assigned && o.perTask) && len(o.inputs) == 1 && o.threshold == 0
}

// keep lets the other clones that have read their input run on. They no longer count as attempts of the task, but use
// their slots.
func (a *assigner) keep(s *sim, id int32) {
	p := &s.phases[s.tasks[id].phase]
	if p.kept == nil {
		p.kept = make([][]kept, p.end-p.first)
	}
	list := []kept{{none, assign.Finished}}
	t := &s.tasks[id]
	for link := &t.first; *link != none; {
		at := *link
		if s.copies[at].reader != nil {
			link = &s.copies[at].sibling
			continue
		}
		*link = s.copies[at].sibling
		t.copies--
		s.copies[at].kept = true
		s.result.Lost++
		list = append(list, kept{at, assign.Running})
	}
	p.kept[id-p.first] = list
}

// keptOf returns the outputs of a task: of several clones, or of the attempt that ended it.
func (p *phase) keptOf(u int32) []kept {
	if list := p.kept[u]; list != nil {
		return list
	}
	return []kept{{none, assign.Finished}}
}

// killRest kills the attempts of an input that still run, unless a clone still waits for an output of them.
func (a *assigner) killRest(s *sim, p *phase, u int32, window time.Duration) {
	for t := p.first; t < p.end; t++ {
		if first, end := s.inputsOf(s.tasks[t].phase, p.inputs[0], t); int(u) < first || int(u) >= end {
			continue
		}
		for at := s.tasks[t].first; at != none; at = s.copies[at].sibling {
			if c := &s.copies[at]; c.stage < reads || c.reader != nil && c.reader.current != u &&
				slices.Contains(c.reader.left, u) && s.now-c.reader.ready < window {
				return
			}
		}
		if s.tasks[t].owed > 0 {
			return
		}
	}
	a.stopTask(s, &s.phases[p.inputs[0]], u)
}

// ended handles the end of a clone whose task had ended before.
func (a *assigner) ended(s *sim, at int32, state assign.State) {
	c := s.copies[at]
	p := &s.phases[c.phase]
	s.waste(at)
	runs := false
	for i := range p.kept[c.task-p.first] {
		k := &p.kept[c.task-p.first][i]
		if k.at == at {
			k.at, k.state = none, state
		}
		runs = runs || k.at != none
	}
	if !runs {
		s.clones.released(p)
	}
	if o := &s.phases[p.outputs[0]]; o.assigned {
		for t := o.first; t < o.end; t++ {
			a.wake(s, t)
		}
	}
}

// stopTask kills the clones of a task that run on; stop does it for a whole phase.
func (a *assigner) stopTask(s *sim, p *phase, u int32) {
	for i := range p.kept[u] {
		if at := p.kept[u][i].at; at != none {
			a.ended(s, at, assign.Failed)
		}
	}
}

func (a *assigner) stop(s *sim, p *phase) {
	for u := range p.kept {
		a.stopTask(s, p, int32(u))
	}
	p.kept = nil
}

// lost kills the clones that run on of a task with a lost output, because the task starts again.
func (a *assigner) lost(s *sim, id int32) {
	if p := &s.phases[s.tasks[id].phase]; a != nil && p.kept != nil {
		a.stopTask(s, p, id-p.first)
		p.kept[id-p.first] = nil
	}
}

// phaseEnded kills the clones that run on for a phase that has ended.
func (a *assigner) phaseEnded(s *sim, p *phase) {
	if a != nil && p.assigned {
		p.assigned = false
		a.stop(s, &s.phases[p.inputs[0]])
	}
}

// dissolve lets the clones of a phase read as usual, after one of their inputs was lost.
func (a *assigner) dissolve(s *sim, p *phase) {
	if a == nil || !p.assigned {
		return
	}
	p.assigned = false
	for t := p.first; t < p.end; t++ {
		for at := s.tasks[t].first; at != none; at = s.copies[at].sibling {
			if c := &s.copies[at]; c.reader != nil {
				n := len(c.reader.left) + c.reader.read
				left := c.reading * float64(len(c.reader.left)) / float64(n)
				c.reader = nil
				s.enter(at, reads, left)
			}
		}
	}
	a.stop(s, &s.phases[p.inputs[0]])
}

// contend sets the bandwidth of the clones of a task that read the same output. By contention cloning it sets that of
// all clones that read, since they all want the outputs that came first.
func (a *assigner) contend(s *sim, id int32) {
	for at := s.tasks[id].first; at != none; at = s.copies[at].sibling {
		c := &s.copies[at]
		r := c.reader
		if r == nil || r.current == none {
			continue
		}
		readers := 1.0
		for other := s.tasks[id].first; other != none; other = s.copies[other].sibling {
			o := s.copies[other].reader
			if other != at && o != nil && o.current != none && (s.c.Assign == nil || o.current == r.current && o.copy == r.copy) {
				readers++
			}
		}
		if pace := s.pace(readers); pace != r.pace {
			s.advance(c, s.machines[c.machine].rate)
			s.enter(at, reads, (c.amount-c.done)*r.pace/pace)
			r.pace = pace
		}
	}
}

// pace returns the share of its bandwidth that a clone has if so many clones of its task share an output: what two clones
// have together, divided equally.
func (s *sim) pace(clones float64) float64 {
	if s.c.Contention == 0 || clones == 1 {
		return 1
	}
	return min(1, 2*s.c.Contention/clones)
}
