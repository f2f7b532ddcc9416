package placement

import (
	"cmp"
	"slices"
)

// canonicalOrder sorts the racks and the tasks by their own numbers, so that their order does not depend on the
// order of the caller. It does this in three steps:
//
//  1. Sort the racks by their sorted inputs, their bandwidths and their slots.
//  2. Sort the tasks by their sorted inputs, and equal tasks by their inputs in the order of the racks.
//  3. Sort the racks again as in step 1, and equal racks by their inputs in the order of the tasks.
//
// Racks or tasks that are still equal stay in the order of the caller.
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

// rackKeys returns for each rack the sorted sizes of the inputs in the rack, followed by its bandwidths and its
// slots.
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

// taskKeys returns for each task the sorted sizes of its inputs.
func (p *Problem) taskKeys() [][]float64 {
	keys := make([][]float64, len(p.Input))
	for k := range keys {
		keys[k] = slices.Clone(p.Input[k])
		slices.Sort(keys[k])
	}
	return keys
}

// sequence returns the slice 0, 1, ..., n-1.
func sequence(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}
