package placement

import (
	"fmt"
	"math"
)

// Experimental: no host of this repository calls it yet.
//
// Placer places the tasks of a phase one at a time, for a host that learns of free slots one at a time. It keeps the
// seconds of every link under the tasks placed so far; a task that is not placed, or was removed, burdens none.
// [Assign], which sees all tasks at once, finds shorter placements.
//
// Not safe for concurrent use; one per phase.
type Placer struct {
	m        *model
	rack     []int // nowhere if not placed
	up, down []float64
	count    []int
	placed   int
}

// NewPlacer returns a tracker with no task placed, or an error for ill-formed figures, which it copies. The slots need
// not suffice for all tasks, since tasks may be removed. O(n r).
func NewPlacer(p Problem) (*Placer, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return newPlacer(&p), nil
}

func newPlacer(p *Problem) *Placer {
	n, r := len(p.Input), len(p.Up)
	t := &Placer{
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
func (p *Placer) Next(task int) (rack int, seconds float64) {
	if !p.waiting(task) {
		return nowhere, 0
	}
	save := p.m.save[task*p.m.r : (task+1)*p.m.r]
	var up, down largest // up with the task in none of the racks
	for j := range save {
		up.add(j, p.up[j]+save[j])
		down.add(j, p.down[j])
	}
	rack, best, own := nowhere, math.Inf(1), math.Inf(1)
	for j := range save {
		if !p.room(task, j) {
			continue
		}
		mine := p.down[j] + p.m.add[task*p.m.r+j]
		longest := max(up.without(j), p.up[j], down.without(j), mine)
		if longest < best || longest == best && mine < own {
			rack, best, own = j, longest, mine
		}
	}
	if rack == nowhere {
		return nowhere, 0
	}
	return rack, math.Ldexp(best, p.m.exponent)
}

// Place records that the task runs in the rack. It reports whether that was possible: not if the task is placed
// already, task or rack are unknown, the rack has no free slot, or a link of bandwidth 0 would be needed. O(r), no
// allocation.
func (p *Placer) Place(task, rack int) bool {
	if !p.waiting(task) || rack < 0 || rack >= p.m.r || !p.room(task, rack) {
		return false
	}
	p.rack[task] = rack
	p.count[rack]++
	p.placed++
	p.carry(task, rack, 1)
	return true
}

// Remove takes a task from its rack, because it has ended or moves elsewhere. It reports whether the task was placed.
// O(r), no allocation.
func (p *Placer) Remove(task int) bool {
	if task < 0 || task >= p.m.n || p.rack[task] == nowhere {
		return false
	}
	rack := p.rack[task]
	p.rack[task] = nowhere
	p.count[rack]--
	if p.placed--; p.placed == 0 { // so that no rounding outlives the tasks
		clear(p.up)
		clear(p.down)
		return true
	}
	p.carry(task, rack, -1)
	return true
}

// carry adds the seconds of a task to the links, or takes them off.
func (p *Placer) carry(task, rack int, sign float64) {
	for j := range p.up {
		if i := task*p.m.r + j; j == rack {
			p.down[j] = max(0, p.down[j]+float64(sign*p.m.add[i]))
		} else {
			p.up[j] = max(0, p.up[j]+float64(sign*p.m.save[i]))
		}
	}
}

// Rack returns where a task is placed, -1 if it is not.
func (p *Placer) Rack(task int) int {
	if task < 0 || task >= p.m.n {
		return nowhere
	}
	return p.rack[task]
}

// Bottleneck returns the link with the longest transfer under the tasks placed, and its seconds. Ties go to the lowest
// rack, up before down. O(r), no allocation.
func (p *Placer) Bottleneck() (link Link, seconds float64) {
	for j := range p.up {
		if p.up[j] > seconds {
			link, seconds = Link{j, Up}, p.up[j]
		}
		if p.down[j] > seconds {
			link, seconds = Link{j, Down}, p.down[j]
		}
	}
	return link, math.Ldexp(seconds, p.m.exponent)
}

// String returns the tracker's state as one line.
func (p *Placer) String() string {
	link, seconds := p.Bottleneck()
	return fmt.Sprintf("placed=%d tasks=%d seconds=%.6g bottleneck=%v", p.placed, p.m.n, seconds, link)
}

func (p *Placer) waiting(task int) bool {
	return task >= 0 && task < p.m.n && p.rack[task] == nowhere
}

func (p *Placer) room(task, j int) bool {
	return p.count[j] < p.m.slots[j] && !math.IsInf(p.m.add[task*p.m.r+j], 1)
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

// without returns the largest value except that at the place given, at least 0.
func (l *largest) without(at int) float64 {
	if l.at == at {
		return l.second
	}
	return l.first
}
