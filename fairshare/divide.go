package fairshare

import "math"

// divide gives the siblings of a group their shares of total.
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

// serve gives each section of the group, in order, its minimums and what it wants of the surplus.
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

// grantAll gives the pools all they want. Their bound stands since bounds: demand or maximum.
func (t *Tree) grantAll(dst []Share, first, end int32) {
	for i := first; i < end; i++ {
		s := &dst[t.nodes[i].pool]
		s.Slots, s.Real, s.Level = t.fill.hi[i], float64(t.fill.hi[i]), math.Inf(1)
	}
}

// grantMinimums gives the pools their minimums.
func (t *Tree) grantMinimums(dst []Share, first, end int32) {
	for i := first; i < end; i++ {
		s := &dst[t.nodes[i].pool]
		if s.Slots, s.Real = t.fill.lo[i], float64(t.fill.lo[i]); t.fill.lo[i] < t.fill.hi[i] {
			s.Bound = AtRank
		}
	}
}

// fillTo fills the pools to a common level. Their lower ends fit in the total, their upper ends do not.
func (t *Tree) fillTo(dst []Share, first, end int32, total int64) {
	for i := first; i < end; i++ {
		t.fill.weight[i] = max(t.nodes[i].weight, 1) // a section is all weighted or all weightless
	}
	if t.policy.Surplus == WaterLevel {
		t.fillAndRound(dst, first, end, total)
		return
	}
	f, base := &t.fill, t.fill.want // which bounds needs no more
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

// fillAndRound finds the level for the weights in t.fill and writes the shares down.
func (t *Tree) fillAndRound(dst []Share, first, end int32, total int64) {
	l := t.fill.level(first, end, total)
	t.fill.round(l, first, end, total)
	for i := first; i < end; i++ {
		s := &dst[t.nodes[i].pool]
		s.Slots, s.Real, s.Level = t.fill.slots[i], t.fill.real(l, i), l.float()
		switch {
		case s.Slots == t.fill.hi[i] && t.fill.rest[i] == 0: // all it wants, as bounds has noted
		case t.fill.state[i] == low:
			s.Bound = AtMin
		default:
			s.Bound = AtLevel
		}
	}
}

// cutMinimums divides a total in which the minimums do not fit. They take the place of the maximums, and nothing is
// guaranteed.
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
