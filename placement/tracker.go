package placement

import (
	"fmt"
	"math"
)

// Tracker places the tasks of a phase one at a time, for a host that learns of free slots one at a time. It keeps the
// seconds of every link under the tasks placed so far; a task that is not placed, or was removed, burdens none.
// [Assign], which sees all tasks at once, finds shorter placements.
//
// Not safe for concurrent use; one per phase.
type Tracker struct {
	m        *model
	rack     []int // nowhere if not placed
	up, down []float64
	count    []int
	placed   int
}

// NewTracker returns a tracker with no task placed, or an error for ill-formed figures, which it copies. The slots need
// not suffice for all tasks, since tasks may be removed. O(n r).
func NewTracker(p Problem) (*Tracker, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return newTracker(&p), nil
}

func newTracker(p *Problem) *Tracker {
	n, r := len(p.Input), len(p.Up)
	t := &Tracker{
		m: newModelIn(p, sequence(n), sequence(r)), rack: make([]int, n),
		up: make([]float64, r), down: make([]float64, r), count: make([]int, r),
	}
	for k := range t.rack {
		t.rack[k] = nowhere
	}
	return t
}

// Next returns the rack in which a task that is not placed would do the least harm, and the seconds of the longest
// transfer with the task there. It places nothing. Of racks that leave the same longest transfer it takes the one whose
// own downlink is done first, then the lowest. The rack is -1 and the seconds are 0 if no rack has a free slot that the
// task can use, or the task is placed already or unknown. O(r), no allocation.
func (t *Tracker) Next(task int) (rack int, seconds float64) {
	if !t.waiting(task) {
		return nowhere, 0
	}
	save := t.m.save[task*t.m.r : (task+1)*t.m.r]
	var up, down largest // up with the task in none of the racks
	for j := range save {
		up.add(j, t.up[j]+save[j])
		down.add(j, t.down[j])
	}
	rack, best, own := nowhere, math.Inf(1), math.Inf(1)
	for j := range save {
		if !t.room(task, j) {
			continue
		}
		mine := t.down[j] + t.m.add[task*t.m.r+j]
		longest := max(up.without(j), t.up[j], down.without(j), mine)
		if longest < best || longest == best && mine < own {
			rack, best, own = j, longest, mine
		}
	}
	if rack == nowhere {
		return nowhere, 0
	}
	return rack, math.Ldexp(best, t.m.exponent)
}

// Place records that the task runs in the rack. It reports whether that was possible: not if the task is placed already,
// task or rack are unknown, the rack has no free slot, or a link of bandwidth 0 would be needed. O(r), no allocation.
func (t *Tracker) Place(task, rack int) bool {
	if !t.waiting(task) || rack < 0 || rack >= t.m.r || !t.room(task, rack) {
		return false
	}
	t.rack[task] = rack
	t.count[rack]++
	t.placed++
	t.carry(task, rack, 1)
	return true
}

// Remove takes a task from its rack, because it has ended or moves elsewhere. It reports whether the task was placed.
// O(r), no allocation.
func (t *Tracker) Remove(task int) bool {
	if task < 0 || task >= t.m.n || t.rack[task] == nowhere {
		return false
	}
	rack := t.rack[task]
	t.rack[task] = nowhere
	t.count[rack]--
	if t.placed--; t.placed == 0 { // so that no rounding outlives the tasks
		clear(t.up)
		clear(t.down)
		return true
	}
	t.carry(task, rack, -1)
	return true
}

// carry adds the seconds of a task to the links, or takes them off.
func (t *Tracker) carry(task, rack int, sign float64) {
	for j := range t.up {
		if i := task*t.m.r + j; j == rack {
			t.down[j] = max(0, t.down[j]+float64(sign*t.m.add[i]))
		} else {
			t.up[j] = max(0, t.up[j]+float64(sign*t.m.save[i]))
		}
	}
}

// Rack returns where a task is placed, -1 if it is not.
func (t *Tracker) Rack(task int) int {
	if task < 0 || task >= t.m.n {
		return nowhere
	}
	return t.rack[task]
}

// Bottleneck returns the link with the longest transfer under the tasks placed, and its seconds. Ties go to the lowest
// rack, up before down. O(r), no allocation.
func (t *Tracker) Bottleneck() (link Link, seconds float64) {
	for j := range t.up {
		if t.up[j] > seconds {
			link, seconds = Link{j, Up}, t.up[j]
		}
		if t.down[j] > seconds {
			link, seconds = Link{j, Down}, t.down[j]
		}
	}
	return link, math.Ldexp(seconds, t.m.exponent)
}

// String returns the tracker's state as one line.
func (t *Tracker) String() string {
	link, seconds := t.Bottleneck()
	return fmt.Sprintf("%d of %d tasks placed, longest transfer %.6gs on %v", t.placed, t.m.n, seconds, link)
}

func (t *Tracker) waiting(task int) bool {
	return task >= 0 && task < t.m.n && t.rack[task] == nowhere
}

func (t *Tracker) room(task, j int) bool {
	return t.count[j] < t.m.slots[j] && !math.IsInf(t.m.add[task*t.m.r+j], 1)
}

// largest holds the two largest of some values, and where the larger one is, to answer what is largest without one.
type largest struct {
	at            int
	first, second float64
	any           bool
}

func (l *largest) add(at int, v float64) {
	if !l.any || v > l.first {
		l.at, l.first, l.second, l.any = at, v, l.first, true
	} else if v > l.second {
		l.second = v
	}
}

// without returns the largest value but that at the place given, at least 0.
func (l *largest) without(at int) float64 {
	if l.at == at {
		return l.second
	}
	return l.first
}
