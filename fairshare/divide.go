package fairshare

import "math"

// divide divides total units among the pools of one group, which have the same parent. It writes one share for
// each pool into dst, at the index of the pool.
func (t *Tree) divide(dst []Share, g group, total int64) {
	least := t.fill.least(g.first, g.end)
	_, fits := t.fill.most(g.first, g.end, total)
	switch {
	case fits:
		t.grantAll(dst, g.first, g.end)
	case least > total:
		t.cutMinimums(dst, g, total)
	default:
		t.serve(dst, g, total-least)
	}
}

// serve visits the sections of the group in the order in which they are served. A section is a set of pools that
// divide units at the same level of units per weight. Each section gets the minimums of its pools. Then it gets,
// up to the demands of its pools, the surplus that earlier sections have left.
func (t *Tree) serve(dst []Share, g group, surplus int64) {
	for first := g.first; first < g.end; {
		end := t.section(g, first)
		total := t.fill.least(first, end) + surplus
		most, fits := t.fill.most(first, end, total)
		switch {
		case fits:
			t.grantAll(dst, first, end)
			surplus = total - most
		case surplus == 0 && first > g.first:
			t.grantMinimums(dst, first, end)
		default:
			t.fillTo(dst, first, end, total)
			if surplus = 0; g.discipline == FIFO && first > g.first {
				dst[t.nodes[first].pool].Bound = AtRank
			}
		}
		first = end
	}
}

// grantAll gives each pool at the positions first to end-1 the largest share that the pool may have. It leaves
// Share.Bound as the method bounds has set it: AtDemand or AtMax.
func (t *Tree) grantAll(dst []Share, first, end int32) {
	for i := first; i < end; i++ {
		s := &dst[t.nodes[i].pool]
		s.Slots, s.Real, s.Level = t.fill.hi[i], float64(t.fill.hi[i]), math.Inf(1)
	}
}

// grantMinimums gives each pool at the positions first to end-1 its minimum and nothing more. serve calls it if
// earlier sections of the group have left no surplus.
func (t *Tree) grantMinimums(dst []Share, first, end int32) {
	for i := first; i < end; i++ {
		s := &dst[t.nodes[i].pool]
		if s.Slots, s.Real = t.fill.lo[i], float64(t.fill.lo[i]); t.fill.lo[i] < t.fill.hi[i] {
			s.Bound = AtRank
		}
	}
}

// fillTo divides total units among the pools at the positions first to end-1 at one level: each pool gets the same
// number of units per weight, within its lower and its upper bound. The sum of the lower bounds must be at most
// total. The sum of the upper bounds must be larger than total.
func (t *Tree) fillTo(dst []Share, first, end int32, total int64) {
	for i := first; i < end; i++ {
		t.fill.weight[i] = max(t.nodes[i].weight, 1) // the weights of a section are all zero or all positive
	}
	if t.policy.Surplus == WaterLevel {
		t.fillAndRound(dst, first, end, total)
		return
	}
	f, base := &t.fill, t.fill.want // want held the demands; the method bounds has used them, so the slice is free
	for i := first; i < end; i++ {
		base[i] = f.lo[i]
		f.lo[i], f.hi[i] = 0, f.hi[i]-base[i]
		total -= base[i]
	}
	t.fillAndRound(dst, first, end, total)
	for i := first; i < end; i++ {
		s := &dst[t.nodes[i].pool]
		s.Slots, s.Real = s.Slots+base[i], s.Real+float64(base[i])
	}
}

// fillAndRound divides total units among the pools at the positions first to end-1. It finds the level, which is
// the number of units per weight, for the weights in t.fill. Then it rounds the shares and writes them into dst.
func (t *Tree) fillAndRound(dst []Share, first, end int32, total int64) {
	l := t.fill.level(first, end, total)
	t.fill.round(l, first, end, total)
	for i := first; i < end; i++ {
		s := &dst[t.nodes[i].pool]
		s.Slots, s.Real, s.Level = t.fill.slots[i], t.fill.real(l, i), l.float()
		switch {
		case s.Slots == t.fill.hi[i] && t.fill.rest[i] == 0:
			// The pool has its upper bound. The method bounds has set s.Bound to AtDemand or AtMax.
		case t.fill.state[i] == low:
			s.Bound = AtMin
		default:
			s.Bound = AtLevel
		}
	}
}

// cutMinimums divides a total that is smaller than the sum of the minimums of the group. For this division the
// minimum of each pool is its upper bound, and its lower bound is 0.
func (t *Tree) cutMinimums(dst []Share, g group, total int64) {
	f := &t.fill
	for i := g.first; i < g.end; i++ {
		f.lo[i], f.hi[i], f.rest[i] = 0, f.lo[i], 0
	}
	if t.policy.OnInfeasible == Scale {
		copy(f.weight[g.first:g.end], f.hi[g.first:g.end])
		t.fillAndRound(dst, g.first, g.end, total)
	} else {
		t.serve(dst, g, total)
	}
	for i := g.first; i < g.end; i++ {
		switch s := &dst[t.nodes[i].pool]; {
		case s.Slots < s.Min || f.rest[i] > 0:
			s.Bound = AtCut
		case s.Min < s.Max:
			s.Bound = AtMin
		}
	}
}
