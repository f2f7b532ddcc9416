package placement

import (
	"cmp"
	"slices"
)

// canonicalOrder sorts racks and tasks by their own numbers, so that the order does not depend on the caller's order:
//
//  1. Racks by their sorted inputs, bandwidths and slots.
//  2. Tasks by their sorted inputs, then by their inputs in the order of the racks.
//  3. Racks once more: ties are broken by their inputs in the order of the tasks.
//
// Racks or tasks that are still tied stay in the caller's order.
func canonicalOrder(p *Problem) (tasks, racks []int) {
	tasks, racks = sequence(len(p.Input)), sequence(len(p.Up))
	columns, rows := p.rackKeys(), p.taskKeys()
	slices.SortStableFunc(racks, func(a, b int) int { return slices.Compare(columns[a], columns[b]) })
	slices.SortStableFunc(tasks, func(a, b int) int {
		if c := slices.Compare(rows[a], rows[b]); c != 0 {
			return c
		}
		for _, j := range racks {
			if c := cmp.Compare(p.Input[a][j], p.Input[b][j]); c != 0 {
				return c
			}
		}
		return 0
	})
	slices.SortStableFunc(racks, func(a, b int) int {
		if c := slices.Compare(columns[a], columns[b]); c != 0 {
			return c
		}
		for _, k := range tasks {
			if c := cmp.Compare(p.Input[k][a], p.Input[k][b]); c != 0 {
				return c
			}
		}
		return 0
	})
	return tasks, racks
}

// rackKeys returns for each rack its sorted inputs, followed by its bandwidths and slots.
func (p *Problem) rackKeys() [][]float64 {
	n := len(p.Input)
	keys := make([][]float64, len(p.Up))
	for j := range keys {
		keys[j] = make([]float64, 0, n+3)
		for k := range n {
			keys[j] = append(keys[j], p.Input[k][j])
		}
		slices.Sort(keys[j])
		slots := n
		if p.Slots != nil {
			slots = min(n, p.Slots[j])
		}
		keys[j] = append(keys[j], p.Up[j], p.Down[j], float64(slots))
	}
	return keys
}

// taskKeys returns the sorted inputs of each task.
func (p *Problem) taskKeys() [][]float64 {
	keys := make([][]float64, len(p.Input))
	for k := range keys {
		keys[k] = slices.Clone(p.Input[k])
		slices.Sort(keys[k])
	}
	return keys
}

// sequence returns 0, 1, ..., n-1.
func sequence(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}
