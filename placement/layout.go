package placement

import (
	"math"
	"slices"
)

// nowhere is used as the rack of a task that is not placed.
const nowhere = -1

// layout is a placement of all tasks or of some tasks, with the time in seconds that each link is busy. The time
// of an uplink includes the data of tasks that are not placed yet, although such a task may later run in the rack
// of its data.
type layout struct {
	m        *model
	rack     []int     // by task; nowhere if the task is not placed
	up, down []float64 // by rack: the time of the uplink and of the downlink
	count    []int     // by rack: the number of placed tasks
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

// room reports whether task k can run in rack j: the rack has a free slot, and the task needs no link of bandwidth 0.
func (l *layout) room(k, j int) bool {
	return l.count[j] < l.m.slots[j] && !math.IsInf(l.m.add[k*l.m.r+j], 1)
}

// place puts task k into rack j and updates the times of the two links of rack j. Task k must not be placed yet.
func (l *layout) place(k, j int) {
	i := k*l.m.r + j
	l.rack[k] = j
	l.count[j]++
	l.up[j] -= l.m.save[i]
	l.down[j] += l.m.add[i]
}

// remove takes task k out of its rack and updates the times of the two links of the rack.
func (l *layout) remove(k int) {
	j := l.rack[k]
	i := k*l.m.r + j
	l.rack[k] = nowhere
	l.count[j]--
	l.up[j] += l.m.save[i]
	l.down[j] -= l.m.add[i]
}

// worst returns the time of the longest transfer and its link. If several links have it, the link of the lowest
// rack comes first, and an uplink comes before a downlink.
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

// recount adds up the times of all links again from zero. It never subtracts. So the times have no rounding errors
// of earlier moves, and no errors of large numbers that cancel.
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
