package placement

import (
	"math"
	"slices"
)

// nowhere stands for the rack of a task that is not placed.
const nowhere = -1

// layout is a complete or partial placement, with the load of every link in seconds. The uplinks also carry the data of
// the tasks that are not placed yet, although such a task may later run in the rack of its data.
type layout struct {
	m        *model
	rack     []int
	up, down []float64
	count    []int
}

// newLayout returns a layout in which no task is placed.
func newLayout(m *model) *layout {
	l := &layout{
		m: m, rack: make([]int, m.n), up: slices.Clone(m.full), down: make([]float64, m.r), count: make([]int, m.r),
	}
	for k := range l.rack {
		l.rack[k] = nowhere
	}
	return l
}

func (l *layout) clone() *layout {
	c := newLayout(l.m)
	c.copyFrom(l)
	return c
}

func (l *layout) copyFrom(o *layout) {
	copy(l.rack, o.rack)
	copy(l.up, o.up)
	copy(l.down, o.down)
	copy(l.count, o.count)
}

// room reports whether rack j has a free slot and the links for task k.
func (l *layout) room(k, j int) bool {
	return l.count[j] < l.m.slots[j] && !math.IsInf(l.m.add[k*l.m.r+j], 1)
}

// place puts task k into rack j and updates the loads. Task k must not be placed yet.
func (l *layout) place(k, j int) {
	i := k*l.m.r + j
	l.rack[k] = j
	l.count[j]++
	l.up[j] -= l.m.save[i]
	l.down[j] += l.m.add[i]
}

// remove takes task k out of its rack and updates the loads.
func (l *layout) remove(k int) {
	j := l.rack[k]
	i := k*l.m.r + j
	l.rack[k] = nowhere
	l.count[j]--
	l.up[j] += l.m.save[i]
	l.down[j] -= l.m.add[i]
}

// worst returns the longest transfer and its link. In a tie the lowest rack comes first, and up comes before down.
func (l *layout) worst() (link Link, longest float64) {
	longest = math.Inf(-1)
	for j := range l.m.r {
		if l.up[j] > longest {
			link, longest = Link{j, Up}, l.up[j]
		}
		if l.down[j] > longest {
			link, longest = Link{j, Down}, l.down[j]
		}
	}
	return link, longest
}

// recount adds up the loads anew. recount adds only bytes that a link carries, without subtraction. So no rounding of
// earlier moves, and no cancelling of large terms, remains in the loads.
func (l *layout) recount() {
	clear(l.up)
	clear(l.down)
	for k, at := range l.rack {
		for j := range l.up {
			if i := k*l.m.r + j; j == at {
				l.down[j] += l.m.add[i]
			} else {
				l.up[j] += l.m.save[i]
			}
		}
	}
}
