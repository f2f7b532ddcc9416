package placement

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// feasible returns some placement within the slots that needs no link of bandwidth 0, or an error that says why there
// is none. A task can run in one rack only, or in every rack that data can enter, or there and where all its data is,
// or, without data, anywhere. So it is enough to take the tasks with the fewest racks first and to give each, if
// possible, a rack that data cannot enter: whatever comes later and can run there has the same racks to choose from,
// or all.
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

// blocked explains why task k cannot be placed.
func (m *model) blocked(k int, p *Problem) error {
	task := m.tasks[k]
	stuck := nowhere // a rack that the task's data there cannot leave
	for j, bytes := range p.Input[task] {
		if bytes == 0 || p.Up[j] > 0 {
			continue
		}
		if stuck != nowhere {
			return fmt.Errorf("placement: Problem.Up[%d] and Up[%d] are 0, "+
				"but Input[%d] has data to move out of one of these racks",
				stuck, j, task)
		}
		stuck = j
	}
	full := nowhere // a rack that the task could run in
	for j, rack := range m.racks {
		if !math.IsInf(m.add[k*m.r+j], 1) {
			full = rack
		}
	}
	switch {
	case full != nowhere && stuck != nowhere:
		return fmt.Errorf("placement: Problem.Up[%d] is 0, but Slots[%d] is %d, "+
			"too few for all tasks with data in that rack, task %d for one", stuck, stuck, p.Slots[stuck], task)
	case full != nowhere:
		return fmt.Errorf("placement: Problem.Slots are too few in the racks whose Down is not 0, "+
			"rack %d for one, to take task %d", full, task)
	case stuck != nowhere:
		return fmt.Errorf("placement: Problem.Down[%d] and Up[%d] are 0, "+
			"but Input[%d] has data to move into or out of that rack",
			stuck, stuck, task)
	}
	return fmt.Errorf("placement: Problem.Down[0] is 0 as is that of every rack, but Input[%d] has data to move", task)
}
