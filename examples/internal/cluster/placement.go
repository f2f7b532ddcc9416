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
	for _, r := range s.c.Racks {
		problem.Up, problem.Down = append(problem.Up, capacity(r.Up)), append(problem.Down, capacity(r.Down))
	}
	for _, t := range facts.Tasks {
		row := make([]float64, racks)
		for r, share := range p.from {
			row[r] = math.Floor(t.Bytes * share) // bytes are whole numbers
		}
		problem.Input = append(problem.Input, row)
	}
	a, err := placement.Assign(problem, 0)
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
	if t := s.startsAgain(p, machine); t != none {
		return t
	}
	rack := s.machines[machine].rack
	for _, t := range p.queue {
		if p.placed[t-p.first] == rack && s.tasks[t].owed > 0 && !s.runsOn(t, machine) {
			return t
		}
	}
	return none
}
