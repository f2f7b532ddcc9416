package cluster

import (
	"slices"
)

// takeTask starts the task of a phase that is nearest to its data on a machine, unless the job prefers to wait.
func (s *sim) takeTask(id, machine int32) bool {
	p := &s.phases[id]
	if s.overload.shuns(p.job, machine) {
		return false
	}
	if s.kindOf(id) == Reduce && s.door != nil && !s.door.launch(s, id, machine) {
		return false
	}
	t, level := s.nearest(id, machine)
	if t == none {
		return false
	}
	if len(p.nearby) > 0 && !s.wait.goes(s, id, level) {
		s.declined = level
		return false
	}
	s.launch(t, machine, level, false)
	return true
}

// nearest returns the waiting task of a phase that is nearest to a machine, and its distance as a level.
func (s *sim) nearest(id, machine int32) (int32, int8) {
	p := &s.phases[id]
	if p.placed != nil {
		return s.nearestPlaced(p, machine), 0
	}
	if p.bound != nil {
		if t := s.startsAgain(p, machine); t != none {
			return t, 0
		}
	}
	if len(p.nearby) > 0 {
		if t := s.waitingAt(p.nearby, machine); t != none {
			return t, 0
		}
		if t := s.waitingIn(p, machine); t != none {
			return t, 1
		}
	}
	// Tasks that run again are first, because their phase waits for them.
	for i := 0; i < len(p.again); i++ {
		t := p.again[i]
		if s.tasks[t].owed == 0 {
			p.again = slices.Delete(p.again, i, i+1)
			i--
		} else if !s.runsOn(t, machine) {
			return t, s.levelOf(t, machine)
		}
	}
	for i := p.head; i < len(p.queue); i++ {
		t := p.queue[i]
		switch {
		case s.tasks[t].owed == 0 && i == p.head:
			p.head++
		case s.tasks[t].owed > 0 && !s.runsOn(t, machine):
			return t, s.levelOf(t, machine)
		}
	}
	return none, 0
}

// unbind allows a task with a size for one machine to run on any machine.
func (s *sim) unbind(id int32) {
	p := &s.phases[s.tasks[id].phase]
	p.bound[id-p.first] = none
	p.again = append(p.again, id)
}

// startsAgain returns a task that starts again. Such a task may run on any machine.
func (s *sim) startsAgain(p *phase, machine int32) int32 {
	for _, t := range p.again {
		if s.tasks[t].owed > 0 && !s.runsOn(t, machine) {
			return t
		}
	}
	return none
}

// runsOn reports whether an attempt of the task runs on the machine. Two attempts there would have the same cause of
// slowness.
func (s *sim) runsOn(t, machine int32) bool {
	for at := s.tasks[t].first; at != none; at = s.copies[at].sibling {
		if s.copies[at].machine == machine && len(s.machines) > 1 {
			return true
		}
	}
	return false
}

// waitingAt returns a waiting task with its block on the machine.
func (s *sim) waitingAt(list []near, machine int32) int32 {
	for i := firstAt(list, machine); i < len(list) && list[i].place == machine; i++ {
		if t := list[i].task; s.tasks[t].owed > 0 && !s.runsOn(t, machine) {
			return t
		}
	}
	return none
}

// waitingIn returns a waiting task with a block in the machine's rack. Tasks at the front of the list that do not
// wait any more are skipped for good, because the list of a rack is too long to read each time.
func (s *sim) waitingIn(p *phase, machine int32) int32 {
	rack := s.machines[machine].rack
	if p.rackHead == nil {
		p.rackHead = make([]int32, max(1, len(s.c.Racks)))
	}
	if p.rackHead[rack] == 0 {
		p.rackHead[rack] = 1 + int32(firstAt(p.nearbyRack, rack))
	}
	list, front := p.nearbyRack, true
	for i := p.rackHead[rack] - 1; i < int32(len(list)) && list[i].place == rack; i++ {
		t := list[i].task
		if s.tasks[t].owed == 0 {
			if front {
				p.rackHead[rack] = 1 + i + 1
			}
			continue
		}
		if !s.runsOn(t, machine) {
			return t
		}
		front = false
	}
	return none
}

func firstAt(list []near, place int32) int {
	i, _ := slices.BinarySearchFunc(list, place, func(n near, p int32) int { return int(n.place - p) })
	return i
}

// homesOf returns the machines on which a task should run: the machines with its block, or the machine for which its
// size was chosen.
func (s *sim) homesOf(id int32) []int32 {
	p := &s.phases[s.tasks[id].phase]
	if p.bound == nil {
		return s.taskFacts(id).Replicas
	}
	i := id - p.first
	if p.bound[i] == none {
		return nil
	}
	return p.bound[i : i+1]
}

// levelOf returns the distance of a task's block from a machine: 0 on it, 1 in its rack, 2 elsewhere. A task without
// a block is at level 0 everywhere.
func (s *sim) levelOf(id, machine int32) int8 {
	homes := s.homesOf(id)
	if len(homes) == 0 {
		return 0
	}
	level := int8(2)
	for _, r := range homes {
		switch {
		case r == machine:
			return 0
		case s.machines[r].rack == s.machines[machine].rack:
			level = 1
		}
	}
	return level
}
