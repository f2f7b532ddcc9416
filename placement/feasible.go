package placement

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// feasible returns a placement that respects the slots and needs no link of bandwidth 0. The error says why no such
// placement exists.
//
// Choosing a rack for each task in turn is enough, without going back. The set of a task's possible racks has three forms:
//
//   - one rack only;
//   - every rack that data can enter, perhaps with the rack that holds all data of the task;
//   - every rack, if the task has no data.
//
// The tasks with the fewest possible racks come first. Each task gets a rack that data cannot enter, if possible. Each
// later task that can run in such a rack has the same possible racks as this task, or can run everywhere.
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

// blocked returns the error that explains why task k cannot be placed.
func (m *model) blocked(k int, p *Problem) error {
	task := m.tasks[k]
	cutOff := nowhere // a rack with data of the task that cannot leave the rack
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
