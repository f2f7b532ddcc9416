package placement

import (
	"fmt"
	"math"
)

// feasible returns some placement within the slots that needs no link of bandwidth 0, or an error that says why there is
// none. Tasks are matched to racks one by one; a task that finds its racks full makes room along a chain of moves.
func (m *model) feasible(p *Problem) (*layout, error) {
	l := newLayout(m)
	for k := range m.n {
		if !l.squeeze(k) {
			return nil, m.blocked(k, p)
		}
	}
	return l, nil
}

// squeeze places task k, moving others on if need be: a breadth-first search over racks for one with a free slot.
func (l *layout) squeeze(k int) bool {
	m := l.m
	mover := make([]int, m.r) // the task that would enter the rack
	for j := range mover {
		mover[j] = nowhere
	}
	full := make([]int, 0, m.r)
	// enter looks at the racks that a task can run in and returns one with a free slot, if there is one.
	enter := func(task int) int {
		for j := range m.r {
			if mover[j] != nowhere || math.IsInf(m.add[task*m.r+j], 1) {
				continue
			}
			mover[j] = task
			if l.count[j] < m.slots[j] {
				return j
			}
			full = append(full, j)
		}
		return nowhere
	}
	free := enter(k)
	for i := 0; free == nowhere && i < len(full); i++ {
		for task, at := range l.rack {
			if at == full[i] && free == nowhere {
				free = enter(task)
			}
		}
	}
	if free == nowhere {
		return false
	}
	l.shift(k, free, mover)
	return true
}

// shift carries out the chain of moves that ends with a task entering rack j and begins with task k.
func (l *layout) shift(k, j int, mover []int) {
	for {
		task := mover[j]
		from := l.rack[task]
		if from != nowhere {
			l.remove(task)
		}
		l.place(task, j)
		if task == k {
			return
		}
		j = from
	}
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
			return fmt.Errorf("placement: Up[%d] and Up[%d] are 0, but Input[%d] has data to move out of one of these racks", stuck, j, task)
		}
		stuck = j
	}
	open, full := 0, 0
	for j := range m.r {
		if !math.IsInf(m.add[k*m.r+j], 1) {
			full = m.racks[j]
			open++
		}
	}
	switch {
	case open > 0 && stuck != nowhere:
		return fmt.Errorf("placement: Up[%d] is 0, but Slots[%d] is %d, too few for all tasks with data in that rack, task %d for one", stuck, stuck, p.Slots[stuck], task)
	case open > 0:
		return fmt.Errorf("placement: Slots are too few in the racks whose Down is not 0, rack %d for one, to take task %d", full, task)
	case stuck != nowhere:
		return fmt.Errorf("placement: Down[%d] and Up[%d] are 0, but Input[%d] has data to move into or out of that rack", stuck, stuck, task)
	}
	for j := range p.Down {
		if p.Down[j] > 0 {
			continue
		}
		return fmt.Errorf("placement: Down[%d] is 0 as is that of every rack, but Input[%d] has data to move", j, task)
	}
	return fmt.Errorf("placement: task %d cannot be placed", task)
}
