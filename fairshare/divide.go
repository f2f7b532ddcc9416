package fairshare

import "math"

// divide divides total among the siblings of a group and writes their shares into dst.
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

// serve visits the sections of the group in order. Each section gets its minimums and, up to its demand, the surplus
// that earlier sections have left.
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

// grantAll gives each pool its upper end. It leaves Share.Bound as bounds has set it: AtDemand or AtMax.
func (t *Tree) grantAll(dst []Share, first, end int32) {
	for i := first; i < end; i++ {
		s := &dst[t.nodes[i].pool]
		s.Slots, s.Real, s.Level = t.fill.hi[i], float64(t.fill.hi[i]), math.Inf(1)
	}
}

// grantMinimums gives each pool its minimum, because no surplus is left for this section.
func (t *Tree) grantMinimums(dst []Share, first, end int32) {
	for i := first; i < end; i++ {
		s := &dst[t.nodes[i].pool]
		if s.Slots, s.Real = t.fill.lo[i], float64(t.fill.lo[i]); t.fill.lo[i] < t.fill.hi[i] {
			s.Bound = AtRank
		}
	}
}

// fillTo fills the pools to a common level. The sum of their lower ends must fit in total, and the sum of their upper
// ends must not.
func (t *Tree) fillTo(dst []Share, first, end int32, total int64) {
	for i := first; i < end; i++ {
		t.fill.weight[i] = max(t.nodes[i].weight, 1) // in a section all weights are zero, or none is
	}
	if t.policy.Surplus == WaterLevel {
		t.fillAndRound(dst, first, end, total)
		return
	}
	f, base := &t.fill, t.fill.want // bounds no longer needs the demands, so their space is free
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

// fillAndRound finds the level for the weights in t.fill, rounds the shares and writes them into dst.
func (t *Tree) fillAndRound(dst []Share, first, end int32, total int64) {
	l := t.fill.level(first, end, total)
	t.fill.round(l, first, end, total)
	for i := first; i < end; i++ {
		s := &dst[t.nodes[i].pool]
		s.Slots, s.Real, s.Level = t.fill.slots[i], t.fill.real(l, i), l.float()
		switch {
		case s.Slots == t.fill.hi[i] && t.fill.rest[i] == 0: // the pool has its upper end; bounds has set AtDemand or AtMax
		case t.fill.state[i] == low:
			s.Bound = AtMin
		default:
			s.Bound = AtLevel
		}
	}
}

// cutMinimums divides a total that is smaller than the sum of the minimums. The minimums become the upper ends, and
// the lower ends become 0.
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
