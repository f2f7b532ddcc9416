package placement

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// feasible returns a placement that respects the slots and moves no data over a link of bandwidth 0. If no such
// placement exists, the error says why.
//
// It is enough to choose a rack for each task, one task after another, and never to change a choice. The reason is
// that the set of possible racks of a task has only three forms:
//
//   - one rack;
//   - every rack whose downlink has a bandwidth above 0, perhaps together with the rack that stores all data of
//     the task;
//   - every rack, if the task reads no data.
//
// The tasks with the fewest possible racks come first. Each task gets, if possible, a rack whose downlink has the
// bandwidth 0. A later task that can run in such a rack has the same possible racks as this task, or can run in
// every rack.
func (m *model) feasible(p *Problem) (*layout, error) {
	l, open := newLayout(m), make([]int, m.n)
	for i, v := range m.add {
		if !math.IsInf(v, 1) {
			open[i/m.r]++
		}
	}
	order := sequence(m.n)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(open[a], open[b]) })
	for _, k := range order {
		best := nowhere
		for j, rack := range m.racks {
			if l.room(k, j) && (best == nowhere || p.Down[rack] == 0 && p.Down[m.racks[best]] > 0) {
				best = j
			}
		}
		if best == nowhere {
			return nil, m.blocked(k, p)
		}
		l.place(k, best)
	}
	return l, nil
}

// blocked returns the error that says why task k cannot be placed.
func (m *model) blocked(k int, p *Problem) error {
	task := m.tasks[k]
	cutOff := nowhere // a rack with data of the task and an uplink of bandwidth 0
	for j, bytes := range p.Input[task] {
		if bytes == 0 || p.Up[j] > 0 {
			continue
		}
		if cutOff != nowhere {
			return fmt.Errorf("placement: Problem.Up[%d] and Up[%d] are 0, "+
				"but Input[%d] has data to move out of one of these racks",
				cutOff, j, task)
		}
		cutOff = j
	}
	full := nowhere // a rack in which the task could run if a slot were free
	for j, rack := range m.racks {
		if !math.IsInf(m.add[k*m.r+j], 1) {
			full = rack
		}
	}
	switch {
	case full != nowhere && cutOff != nowhere:
		return fmt.Errorf("placement: Problem.Up[%d] is 0, and Slots[%d] is %d, "+
			"too few for the tasks with data in that rack, such as task %d", cutOff, cutOff, p.Slots[cutOff], task)
	case full != nowhere:
		return fmt.Errorf("placement: Problem.Slots are too few for task %d in the racks with a Down above 0, "+
			"such as rack %d", task, full)
	case cutOff != nowhere:
		return fmt.Errorf("placement: Problem.Down[%d] and Up[%d] are 0, "+
			"but Input[%d] has data to move into or out of that rack",
			cutOff, cutOff, task)
	}
	return fmt.Errorf("placement: Problem.Down is 0 in every rack, but Input[%d] has data to move", task)
}
