package placement

import (
	"cmp"
	"math"
	"slices"
)

// inTurn places the tasks on the racks in turn: the first task in the first rack, the second task in the second
// rack, and so on. Tasks and racks are in the order of the caller. The layout is incomplete if a task finds no
// rack.
func inTurn(m *model, p *Problem) *layout {
	l, j := newLayout(m), 0
	task, rack := inverse(m.tasks), inverse(m.racks)
	for k := range p.Input {
		for range m.r {
			if l.room(task[k], rack[j]) {
				l.place(task[k], rack[j])
				j = (j + 1) % m.r
				break
			}
			j = (j + 1) % m.r
		}
	}
	return l
}

// oneByOne places the tasks in the order of the caller. Each task gets the rack in which the longest transfer of
// the tasks placed so far stays shortest. Among equal racks, it gets the rack in which its own read ends first.
// The layout is incomplete if a task finds no rack.
func oneByOne(m *model, p *Problem) *layout {
	l, task, rack := newLayout(m), inverse(m.tasks), inverse(m.racks)
	own := newLayout(newModelIn(p, sequence(m.n), sequence(m.r)))
	clear(own.up) // here, the time of an uplink does not include tasks that are not placed yet
	for k, rest := 0, make([]top, m.r); k < m.n; k++ {
		if j := own.placeNext(k, rest); j != nowhere {
			l.place(task[k], rack[j])
		}
	}
	return l
}

// placeNext chooses the best rack for task k, places the task there, and returns the rack. It returns nowhere if no
// rack can run the task.
func (l *layout) placeNext(k int, rest []top) int {
	save, add, up := l.m.save[k*l.m.r:(k+1)*l.m.r], l.m.add[k*l.m.r:(k+1)*l.m.r], slices.Clone(l.up)
	for j, seconds := range save { // the times of the uplinks if the task ran outside all racks
		l.up[j] += seconds
	}
	l.fillRest(nowhere, rest)
	best, least, first := nowhere, math.Inf(1), math.Inf(1)
	for j := range save {
		if !l.room(k, j) {
			continue
		}
		reads := l.down[j] + add[j]
		if longest := max(rest[j][0], up[j], reads); longest < least || longest == least && reads < first {
			best, least, first = j, longest, reads
		}
	}
	if best == nowhere {
		copy(l.up, up)
		return nowhere
	}
	l.up[best], l.down[best] = up[best], l.down[best]+add[best]
	l.count[best]++
	return best
}

// inverse returns the inverse of a permutation: element v of the result is the position of v in the permutation.
func inverse(permutation []int) []int {
	at := make([]int, len(permutation))
	for i, v := range permutation {
		at[v] = i
	}
	return at
}

// greedy places the given tasks in their order, each in the rack in which the three longest transfers become
// shortest. It returns false if a task finds no rack.
func (l *layout) greedy(tasks []int) bool {
	rest := make([]top, l.m.r)
	for _, k := range tasks {
		l.fillRest(nowhere, rest)
		best, least := nowhere, top{}
		for j, t := range rest {
			if !l.room(k, j) {
				continue
			}
			i := k*l.m.r + j
			t.insert(l.up[j] - l.m.save[i])
			t.insert(l.down[j] + l.m.add[i])
			if best == nowhere || t.less(least) {
				best, least = j, t
			}
		}
		if best == nowhere {
			return false
		}
		l.place(k, best)
	}
	return true
}

// largestFirst returns the given tasks sorted by size, the largest first. The size of a task is the smallest time
// that it adds to a downlink.
func largestFirst(m *model, tasks []int) []int {
	size := make([]float64, m.n)
	for _, k := range tasks {
		size[k] = slices.Min(m.add[k*m.r : (k+1)*m.r])
	}
	sorted := slices.Clone(tasks)
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	return sorted
}

// rounded turns the solution x of the relaxation, in which tasks may be split over racks, into a placement. If
// a task is almost wholly in one rack, the task is placed there. greedy places the other tasks. rounded
// returns false if the layout is incomplete.
func rounded(m *model, x []float64) (*layout, bool) {
	l := newLayout(m)
	if x == nil {
		return l, false
	}
	var split []int
	for k := range m.n {
		whole := nowhere
		for j := range m.r {
			if x[k*m.r+j] > wholly && l.room(k, j) {
				whole = j
			}
		}
		if whole == nowhere {
			split = append(split, k)
		} else {
			l.place(k, whole)
		}
	}
	return l, l.greedy(largestFirst(m, split))
}
