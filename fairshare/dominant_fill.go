package fairshare

import "math/bits"

// drf is the working space of one call of Dominant.
type drf struct {
	users       []User
	capacity    []int64
	used, free  []int64 // by resource; free is scratch
	allocations []Allocation
	active      []dominantUser // a heap, the user whose turn it is first
}

// dominantUser is a user who may get more. Its level is usage/unit.
type dominantUser struct {
	user           int
	need           int64  // of the dominant resource, for one task
	unitHi, unitLo uint64 // capacity·weight of the dominant resource
	usage          int64  // of the dominant resource
}

// enter works out the dominant resource of a user, and makes the user active if there is anything to hand out to it.
func (d *drf) enter(i int) {
	u, a := &d.users[i], &d.allocations[i]
	a.Resource, a.Blocked = -1, -1
	for r, need := range u.Task {
		if need > 0 && (a.Resource < 0 || compareProducts(need, d.capacity[a.Resource], u.Task[a.Resource], d.capacity[r]) > 0) {
			a.Resource = r
		}
	}
	if a.Resource < 0 {
		a.Tasks = u.Demand // tasks that need nothing
		return
	}
	weight := max(u.Weight, 1)
	need, capacity := u.Task[a.Resource], d.capacity[a.Resource]
	if need > capacity {
		if u.Demand > 0 {
			a.Blocked = a.Resource
		}
		return
	}
	x := dominantUser{user: i, need: need}
	x.unitHi, x.unitLo = bits.Mul64(uint64(capacity), uint64(weight))
	d.active = append(d.active, x)
}

// before reports whether it is a's turn rather than b's, by a product of 192 bits.
func (a *dominantUser) before(b *dominantUser) bool {
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
	return a.user < b.user
}

func mul192(hi, lo, x uint64) (p2, p1, p0 uint64) {
	h, p0 := bits.Mul64(lo, x)
	p2, l := bits.Mul64(hi, x)
	p1, carry := bits.Add64(l, h, 0)
	return p2 + carry, p1, p0
}

// raise brings all active users to the highest level p/2^128 at which all of them fit, found bit by bit. A user's levels
// lie further apart than 2^-128, so that the next level takes at most one task more of each user, and one of those tasks
// does not fit or is the last that is wanted.
func (d *drf) raise() {
	var hi, lo uint64
	for bit := uint64(1) << 63; bit > 0; bit >>= 1 {
		if d.fits(hi|bit, 0) {
			hi |= bit
		}
	}
	for bit := uint64(1) << 63; bit > 0; bit >>= 1 {
		if d.fits(hi, lo|bit) {
			lo |= bit
		}
	}
	for k := range d.active {
		x := &d.active[k]
		more := d.more(x, hi, lo)
		d.allocations[x.user].Tasks += more
		x.usage += more * x.need
		for r, need := range d.users[x.user].Task {
			d.used[r] += more * need
		}
	}
}

// fits reports whether all active users can be brought to the level. If so, no user is refused a task on the way there.
func (d *drf) fits(hi, lo uint64) bool {
	copy(d.free, d.capacity)
	for r := range d.free {
		d.free[r] -= d.used[r]
	}
	for k := range d.active {
		x := &d.active[k]
		more := d.more(x, hi, lo)
		for r, need := range d.users[x.user].Task {
			h, l := bits.Mul64(uint64(more), uint64(need))
			if h > 0 || l > uint64(d.free[r]) {
				return false
			}
			d.free[r] -= int64(l)
		}
	}
	return true
}

// more returns how many tasks bring the user to the level.
func (d *drf) more(x *dominantUser, hi, lo uint64) int64 {
	return max(0, min(x.tasksBelow(hi, lo), d.users[x.user].Demand)-d.allocations[x.user].Tasks)
}

// tasksBelow returns how many tasks are given while the user's level is below p/2^128: the smallest k for which
// k·need/unit >= p/2^128, or Unlimited if that is more.
func (x *dominantUser) tasksBelow(hi, lo uint64) int64 {
	// p·unit in four words
	p2, p1, p0 := mul192(x.unitHi, x.unitLo, lo)
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
	case d3 > 0 || d2 >= Unlimited:
		return Unlimited
	case rest|w1|w0 != 0:
		d2++
	}
	return int64(d2)
}

// hand gives out single tasks until users that no longer fit are out.
func (d *drf) hand() {
	for k := len(d.active)/2 - 1; k >= 0; k-- {
		d.sift(k)
	}
	for steps := 2 * len(d.active); steps > 0 && len(d.active) > 0; steps-- {
		x := &d.active[0]
		u, a := &d.users[x.user], &d.allocations[x.user]
		done := a.Tasks >= u.Demand
		if !done {
			a.Blocked = d.lacking(u)
			done = a.Blocked >= 0
		}
		if done {
			last := len(d.active) - 1
			d.active[0] = d.active[last]
			d.active = d.active[:last]
		} else {
			a.Tasks++
			x.usage += x.need
			for r, need := range u.Task {
				d.used[r] += need
			}
		}
		d.sift(0)
	}
}

// lacking returns the first resource of which a task of the user would not fit; -1 if there is none.
func (d *drf) lacking(u *User) int {
	for r, need := range u.Task {
		if need > d.capacity[r]-d.used[r] {
			return r
		}
	}
	return -1
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
