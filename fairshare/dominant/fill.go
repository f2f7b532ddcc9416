package dominant

import (
	"math"
	"math/bits"

	"github.com/straggler-go/straggler/fairshare"
)

// drf is the working space of one division among pools without parents.
type drf struct {
	*layout
	wanted     []int64    // tasks, by position
	used, free []int64    // by resource; free is scratch
	shares     []Share    // by pool
	active     []claimant // a heap, the pool whose turn it is first
}

// claimant is a pool that may get more. Its level is usage/unit, of the resource that counts.
type claimant struct {
	at             int32 // position
	pool           int32
	need           int64  // for one task
	unitHi, unitLo uint64 // its minimum, or capacity·weight
	usage          int64
	tasks, most    int64 // that it has, and that it may have at the end
}

func newDRF(t *Tree, wanted []int64, shares []Share) *drf {
	m := len(t.capacity)
	return &drf{layout: &t.layout, wanted: wanted, used: make([]int64, m), free: make([]int64, m), shares: shares,
		active: make([]claimant, 0, len(t.nodes))}
}

// run serves pools below their minimums, then those with a weight, then those of weight zero. No pool ever has to be
// served again by an earlier rule.
func (d *drf) run() {
	for _, enter := range [...]func(int32) (claimant, bool){d.needy, d.weighted, d.weightless} {
		d.active = d.active[:0]
		for i := range d.nodes {
			if x, ok := enter(int32(i)); ok && d.shares[d.nodes[i].pool].Blocked < 0 {
				x.at, x.pool = int32(i), d.nodes[i].pool
				x.tasks = d.shares[x.pool].Tasks
				d.active = append(d.active, x)
			}
		}
		for len(d.active) > 0 {
			d.raise()
			d.hand()
		}
	}
}

func (d *drf) needy(i int32) (x claimant, ok bool) {
	x.need, x.unitLo, x.most = d.guaranteed(i, d.row(d.task, i), d.wanted[i])
	x.most = min(x.most, d.most(i, d.wanted[i]))
	return x, x.need > 0
}

func (d *drf) weighted(i int32) (x claimant, ok bool) {
	x = d.byPart(i, d.nodes[i].weight)
	return x, d.nodes[i].weight > 0 && x.need > 0
}

func (d *drf) weightless(i int32) (x claimant, ok bool) {
	x = d.byPart(i, 1)
	return x, d.nodes[i].weight == 0 && x.need > 0
}

// byPart enters a pool by its dominant resource.
func (d *drf) byPart(i int32, weight int64) (x claimant) {
	task := d.row(d.task, i)
	r, _ := fullest(task, d.capacity, nil)
	if r < 0 || task[r] == 0 {
		return x
	}
	x.need = task[r]
	x.usage = x.need * d.shares[d.nodes[i].pool].Tasks
	x.unitHi, x.unitLo = bits.Mul64(uint64(d.capacity[r]), uint64(weight))
	x.most = d.most(i, d.wanted[i])
	return x
}

// before reports whether it is a's turn rather than b's, by a product of 192 bits.
func (a *claimant) before(b *claimant) bool {
	a2, a1, a0 := mul192(b.unitHi, b.unitLo, uint64(a.usage))
	b2, b1, b0 := mul192(a.unitHi, a.unitLo, uint64(b.usage))
	switch {
	case a2 != b2:
		return a2 < b2
	case a1 != b1:
		return a1 < b1
	case a0 != b0:
		return a0 < b0
	}
	return a.pool < b.pool
}

// raise brings all active pools close to the highest level p/2^128 at which all of them fit, found bit by bit: so
// close that up to that level no pool gets more than one task more. A pool's levels lie further apart than 2^-128, so
// that the level after it takes at most one more of each, and one of those does not fit or is the last that is
// wanted.
func (d *drf) raise() {
	var level [2]uint64
	for bit := 127; bit >= 0; bit-- {
		if bit%8 == 7 && d.near(level, bit) {
			break
		}
		next := level
		if next[1-bit/64] |= 1 << (bit % 64); d.fits(next[0], next[1]) {
			level = next
		}
	}
	hi, lo := level[0], level[1]
	for k := range d.active {
		x := &d.active[k]
		more := x.more(hi, lo)
		x.tasks += more
		x.usage += more * x.need
		for r, need := range d.row(d.task, x.at) {
			d.used[r] += more * need
		}
	}
}

// near reports whether setting any of the bits of level, up to the given one, gives each pool at most one more task.
func (d *drf) near(level [2]uint64, bit int) bool {
	hi, lo := level[0], level[1]
	if bit >= 64 {
		hi, lo = hi|(2<<(bit%64)-1), math.MaxUint64
	} else {
		lo |= 2<<bit - 1
	}
	for k := range d.active {
		if x := &d.active[k]; x.more(hi, lo)-x.more(level[0], level[1]) > 1 {
			return false
		}
	}
	return true
}

// fits reports whether all active pools can be brought to the level. If so, no pool is refused a task on the way
// there.
func (d *drf) fits(hi, lo uint64) bool {
	copy(d.free, d.capacity)
	for r := range d.free {
		d.free[r] -= d.used[r]
	}
	for k := range d.active {
		x := &d.active[k]
		more := x.more(hi, lo)
		for r, need := range d.row(d.task, x.at) {
			h, l := bits.Mul64(uint64(more), uint64(need))
			if h > 0 || l > uint64(d.free[r]) {
				return false
			}
			d.free[r] -= int64(l)
		}
	}
	return true
}

// more returns how many tasks bring the pool to the level.
func (x *claimant) more(hi, lo uint64) int64 {
	return max(0, min(x.tasksBelow(hi, lo), x.most)-x.tasks)
}

// tasksBelow returns how many tasks are given while the pool's level is below p/2^128: the smallest k for which
// k·need/unit >= p/2^128, or fairshare.Unlimited if that is more.
func (x *claimant) tasksBelow(hi, lo uint64) int64 {
	// p·unit in four words
	var p2, p1, p0 uint64
	if lo > 0 {
		p2, p1, p0 = mul192(x.unitHi, x.unitLo, lo)
	}
	q2, q1, q0 := mul192(x.unitHi, x.unitLo, hi)
	w0 := p0
	w1, carry := bits.Add64(p1, q0, 0)
	w2, carry := bits.Add64(p2, q1, carry)
	w3 := q2 + carry
	// divided by need, of which the upper two words count, and rounded up
	need := uint64(x.need)
	d3, rest := w3/need, w3%need
	d2, rest := bits.Div64(rest, w2, need)
	switch {
	case d3 > 0 || d2 >= fairshare.Unlimited:
		return fairshare.Unlimited
	case rest|w1|w0 != 0:
		d2++
	}
	return int64(d2)
}

// hand gives out single tasks until pools that no longer fit are out.
func (d *drf) hand() {
	for k := len(d.active)/2 - 1; k >= 0; k-- {
		d.sift(k)
	}
	for steps := 2 * len(d.active); steps > 0 && len(d.active) > 0; steps-- {
		x := &d.active[0]
		done := x.tasks >= x.most
		if !done {
			blocked := lacking(d.row(d.task, x.at), d.used, d.capacity)
			d.shares[x.pool].Blocked, done = blocked, blocked >= 0
		}
		if done {
			d.shares[x.pool].Tasks = x.tasks
			last := len(d.active) - 1
			d.active[0] = d.active[last]
			d.active = d.active[:last]
		} else {
			x.tasks++
			x.usage += x.need
			for r, need := range d.row(d.task, x.at) {
				d.used[r] += need
			}
		}
		d.sift(0)
	}
}

// sift moves the entry at k down to its place in the heap.
func (d *drf) sift(k int) {
	for {
		child := 2*k + 1
		if child >= len(d.active) {
			return
		}
		if child+1 < len(d.active) && d.active[child+1].before(&d.active[child]) {
			child++
		}
		if !d.active[child].before(&d.active[k]) {
			return
		}
		d.active[k], d.active[child] = d.active[child], d.active[k]
		k = child
	}
}
