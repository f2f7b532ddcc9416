package cluster

import "github.com/straggler-go/straggler/clone"

// cloner starts the tasks of small jobs several times at once, within a budget of package clone.
type cloner struct {
	budget  *clone.Budget
	granted map[clone.Grant]int32 // the phase of each grant
}

// grant is the part of the budget that a phase uses.
type grant = clone.Grant

func newCloner(s *sim) (*cloner, error) {
	if s.c.Clone == nil {
		return nil, nil
	}
	budget, err := clone.NewBudget(*s.c.Clone)
	return &cloner{budget: budget, granted: map[clone.Grant]int32{}}, err
}

// admit sets the number of clones of each task of a phase.
func (c *cloner) admit(s *sim, id int32) {
	if c == nil {
		return
	}
	p := &s.phases[id]
	kind := s.kindOf(id)
	upstream := 0
	for _, in := range p.inputs {
		upstream = max(upstream, int(s.phases[in].clones))
	}
	job := clone.Job{Tasks: int(p.end - p.first), Upstream: upstream}
	facts := func() clone.Cluster {
		return clone.Cluster{Capacity: s.total[kind], Busy: s.total[kind] - s.free[kind], Straggler: s.c.Straggler}
	}
	d := c.budget.Admit(job, facts())
	if short(d) && s.c.ClonePreempts {
		c.makeRoom(s, c.budget.Victims(nil, job, facts()))
		d = c.budget.Admit(job, facts())
	}
	s.tell(p.job, "phase %d: %v", id-s.jobs[p.job].phases[0], d)
	switch {
	case d.Action == clone.Clone:
		p.clones, p.cloned, p.grant = int32(d.Clones), int32(d.Tasks), d.Grant
		c.granted[d.Grant] = id
		s.result.Cloned++
	case short(d):
		s.result.Refused++
	}
}

func short(d clone.Decision) bool {
	return d.Reason == clone.OverBudget || d.Reason == clone.OverCeiling
}

// makeRoom kills the clones of larger jobs. Of each task, the attempt that has run longest stays.
func (c *cloner) makeRoom(s *sim, victims []clone.Grant) {
	for _, g := range victims {
		id := c.granted[g]
		p := &s.phases[id]
		for t := p.first; t < p.end; t++ {
			task := &s.tasks[t]
			for task.copies > 1 {
				at := task.first // the attempt that started last
				s.tellKill(at)
				s.result.Preempted++
				s.kill(at, false)
			}
			if extra := task.owed - min(1, task.owed); extra > 0 {
				task.owed -= extra
				p.waiting -= extra
				s.jobs[p.job].waiting[s.kindOf(id)] -= extra
			}
		}
		s.touch(p.job)
		c.budget.Cancel(g)
		p.clones, p.cloned = 1, 0
	}
}

// copiesOf returns the number of first attempts of a task that start together.
func (p *phase) copiesOf(t int32) int32 {
	if t-p.first < p.cloned {
		return p.clones
	}
	return 1
}

// taskEnded returns the grant of a task to the budget.
func (c *cloner) taskEnded(s *sim, t int32) {
	p := &s.phases[s.tasks[t].phase]
	if t-p.first < p.cloned && (p.kept == nil || len(p.kept[t-p.first]) < 2) { // otherwise some run on
		c.released(p)
	}
}

// released returns the grant of a task to the budget when all its attempts have ended.
func (c *cloner) released(p *phase) {
	if c != nil {
		c.budget.Release(p.grant, 1)
	}
}

// phaseEnded forgets the grant of a phase.
func (c *cloner) phaseEnded(p *phase) {
	if c != nil {
		delete(c.granted, p.grant)
	}
}
