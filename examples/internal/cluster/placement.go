package cluster

import (
	"math"

	"github.com/straggler-go/straggler/placement"
)

// placeTasks asks package placement for the rack of each task of a phase that reads all outputs of another phase,
// when these outputs are there.
func (s *sim) placeTasks(id int32, facts *Phase) {
	p := &s.phases[id]
	if !s.c.Place || len(p.inputs) == 0 || p.missing > 0 || p.from == nil || p.bound != nil {
		return
	}
	racks := len(s.c.Racks)
	problem := placement.Problem{Slots: s.slotsByRack(facts)}
	problem.Up, problem.Down = s.links.nominal(s)
	for _, t := range facts.Tasks {
		row := make([]float64, racks)
		for r, share := range p.from {
			row[r] = math.Floor(t.Bytes * share) // bytes are whole numbers
		}
		problem.Input = append(problem.Input, row)
	}
	problem, err := s.links.foresee(problem)
	a := placement.Assignment{}
	if err == nil {
		a, err = placement.Assign(problem, 0)
	}
	if err != nil {
		s.tell(p.job, "phase %d is not placed: %v", id-s.jobs[p.job].phases[0], err)
		return
	}
	s.tell(p.job, "phase %d: %v", id-s.jobs[p.job].phases[0], a)
	p.placed = make([]int32, len(a.Rack))
	for t, r := range a.Rack {
		p.placed[t] = int32(r)
	}
}

// links has the measured speed of the racks' links. Nil: the placement knows the capacities.
type links struct {
	rates  *placement.LinkRates
	policy placement.BandwidthConfig
	best   float64 // the capacity that is assumed for a link without a measurement
}

func newLinks(s *sim) (*links, error) {
	if s.c.Links == nil || len(s.c.Racks) < 2 {
		return nil, nil
	}
	if err := s.c.Links.Validate(); err != nil {
		return nil, err
	}
	rates, err := placement.NewLinkRates(placement.LinkRatesConfig{Racks: len(s.c.Racks)})
	l := &links{rates: rates, policy: *s.c.Links}
	for _, r := range s.c.Racks {
		l.best = max(l.best, capacity(r.Up), capacity(r.Down))
	}
	return l, err
}

// nominal returns the capacities of the links. If capacities are to be learned, each capacity is the largest capacity
// of all links.
func (l *links) nominal(s *sim) (up, down []float64) {
	for _, r := range s.c.Racks {
		if l != nil {
			r = Rack{l.best, l.best}
		}
		up, down = append(up, capacity(r.Up)), append(down, capacity(r.Down))
	}
	return up, down
}

// foresee replaces the capacities by the measured speeds, if the phase is so short that they will last.
func (l *links) foresee(p placement.Problem) (placement.Problem, error) {
	if l == nil {
		return p, nil
	}
	p, _ = l.rates.Fill(p)
	p, _, err := l.policy.Estimate(p)
	return p, err
}

// hasRead records an attempt that has read its input over the links.
func (l *links) hasRead(s *sim, at int32) {
	c := &s.copies[at]
	p := &s.phases[c.phase]
	if l == nil || p.from == nil {
		return
	}
	bytes := s.taskFacts(c.task).Bytes
	from := make([]float64, len(p.from))
	for rack, share := range p.from {
		from[rack] = bytes * share
	}
	l.rates.Observe(s.clock(), int(s.machines[c.machine].rack), from, s.now-c.opened)
}

// slotsByRack returns the number of tasks of a phase that each rack may get: its free slots, or, if there are more
// tasks, its share of all slots of the kind.
func (s *sim) slotsByRack(facts *Phase) []int {
	free, all := make([]int, len(s.c.Racks)), make([]int, len(s.c.Racks))
	for i, m := range s.c.Machines {
		free[m.Rack] += int(s.machines[i].free[facts.Kind])
		all[m.Rack] += m.Slots[facts.Kind]
	}
	n := len(facts.Tasks)
	if n <= s.free[facts.Kind] {
		return free
	}
	for r := range all {
		all[r] = (all[r]*n + s.total[facts.Kind] - 1) / s.total[facts.Kind]
	}
	return all
}

// nearestPlaced returns the next task that was placed in a machine's rack. A task that runs again may go anywhere.
func (s *sim) nearestPlaced(p *phase, machine int32) int32 {
	for _, t := range p.again {
		if s.tasks[t].owed > 0 && !s.runsOn(t, machine) {
			return t
		}
	}
	rack := s.machines[machine].rack
	for _, t := range p.queue {
		if p.placed[t-p.first] == rack && s.tasks[t].owed > 0 && !s.runsOn(t, machine) {
			return t
		}
	}
	return none
}
