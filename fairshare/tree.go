package fairshare

import (
	"fmt"
	"math"
)

// Tree is a validated set of pools that divides totals again and again without allocating. The zero value has no pools.
//
// Not safe for concurrent use; one per scheduler.
type Tree struct {
	forest
	fill filler
}

// New checks the pools and the policy and returns a tree, which keeps copies of both. Errors name the pool and the field.
//
// Cost: O(n) memory and time, plus O(k log k) for every k siblings whose ranks differ.
func New(pools []Pool, policy Policy) (*Tree, error) {
	f, err := newForest(pools, policy)
	if err != nil {
		return nil, err
	}
	return &Tree{forest: *f, fill: newFiller(len(pools))}, nil
}

// Len returns the number of pools.
func (t *Tree) Len() int { return len(t.nodes) }

// Shares divides total among the pools and writes one share a pool, in the pools' order, into dst, which grows if it is
// too short. A demand other than nil replaces [Pool.Demand]: one number a pool, of which those of pools with children are
// not read.
//
// Among siblings the share is clamp(L·w, min(m, d), d) with the one level L at which the shares add up to what there is
// to divide (section 3.1). L is found exactly, as a ratio of two integers. Siblings that stand at the level are then
// rounded: down first, and what is left goes one by one to those that lost the largest fraction, the lowest index first.
// So a slot more to divide never changes a real share for the worse, but may take one slot from a rounded one.
//
// It returns an error for a negative total, for a demand that is negative or of the wrong length, and under [Refuse] an
// [*InfeasibleError] for minimums that do not fit; dst then holds nothing of use.
//
// Cost: O(n) in practice, O(n log n) at worst; no allocation if dst is long enough.
func (t *Tree) Shares(dst []Share, demand []int64, total int64) ([]Share, error) {
	if total < 0 {
		return nil, fmt.Errorf("fairshare: total is %d, want at least 0", total)
	}
	if demand != nil && len(demand) != t.Len() {
		return nil, fmt.Errorf("fairshare: demand has %d entries, want one for each of the %d pools", len(demand), t.Len())
	}
	if cap(dst) < t.Len() {
		dst = make([]Share, t.Len())
	}
	dst = dst[:t.Len()]
	least, err := t.bounds(dst, demand)
	if err != nil {
		return nil, err
	}
	if t.policy.Infeasible == Refuse && least > total {
		return nil, &InfeasibleError{Minimums: least, Total: total}
	}
	for _, g := range t.groups {
		if g.parent >= 0 {
			total = dst[t.nodes[g.parent].pool].Slots
		}
		t.divide(dst, g, total)
	}
	return dst, nil
}

// bounds computes, from the leaves up, the interval in which each share must lie, and returns the sum of the lower ends
// of the top level. Demands may add up beyond int64, where a pool's bounds saturate: no total is larger.
func (t *Tree) bounds(dst []Share, demand []int64) (least int64, err error) {
	lo, hi, want := t.fill.lo, t.fill.hi, t.fill.want
	clear(lo)
	clear(hi)
	clear(want)
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := &t.nodes[i]
		if n.leaf() {
			want[i] = n.demand
			if demand != nil {
				want[i] = demand[n.pool]
			}
			if want[i] < 0 {
				return 0, fmt.Errorf("fairshare: pool %d: demand is %d, want at least 0", n.pool, want[i])
			}
			if hi[i] = want[i]; t.policy.Basis == Steady || t.policy.Basis == Entitled && want[i] > 0 {
				hi[i] = Unlimited
			}
		}
		share := &dst[n.pool]
		*share = Share{Bound: AtDemand}
		if n.max < hi[i] {
			share.Bound = AtMax
		}
		want[i], hi[i] = min(want[i], n.max), min(hi[i], n.max)
		lo[i] = min(n.min, hi[i])
		share.Min, share.Max, share.Demand = lo[i], hi[i], want[i]
		if n.parent < 0 {
			least += lo[i]
			continue
		}
		hi[n.parent] = addSaturating(hi[n.parent], hi[i])
		want[n.parent] = addSaturating(want[n.parent], want[i])
	}
	return least, nil
}

// divide gives the siblings of a group their shares of total.
func (t *Tree) divide(dst []Share, g group, total int64) {
	least := t.fill.least(g.first, g.end)
	_, fits := t.fill.most(g.first, g.end, total)
	switch {
	case fits:
		t.grant(dst, g.first, g.end)
	case least > total:
		t.cut(dst, g, total)
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
			t.grant(dst, first, end)
			surplus = total - most
		case surplus == 0 && first > g.first:
			t.keep(dst, first, end)
		default:
			t.pour(dst, first, end, total)
			if surplus = 0; g.discipline == FIFO && first > g.first {
				dst[t.nodes[first].pool].Bound = AtRank
			}
		}
		first = end
	}
}

// grant gives the pools all they want. Their bound stands since bounds: demand or maximum.
func (t *Tree) grant(dst []Share, first, end int32) {
	for i := first; i < end; i++ {
		s := &dst[t.nodes[i].pool]
		s.Slots, s.Real, s.Level = t.fill.hi[i], float64(t.fill.hi[i]), math.Inf(1)
	}
}

// keep gives the pools their minimums.
func (t *Tree) keep(dst []Share, first, end int32) {
	for i := first; i < end; i++ {
		s := &dst[t.nodes[i].pool]
		if s.Slots, s.Real = t.fill.lo[i], float64(t.fill.lo[i]); t.fill.lo[i] < t.fill.hi[i] {
			s.Bound = AtRank
		}
	}
}

// pour fills the pools to a common level. Their lower ends fit in the total, their upper ends do not.
func (t *Tree) pour(dst []Share, first, end int32, total int64) {
	for i := first; i < end; i++ {
		t.fill.weight[i] = max(t.nodes[i].weight, 1) // a section is all weighted or all weightless
	}
	t.settle(dst, first, end, total)
}

// settle finds the level for the weights in t.fill and writes the shares down.
func (t *Tree) settle(dst []Share, first, end int32, total int64) {
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

// cut divides a total in which the minimums do not fit. They take the place of the maximums, and nothing is guaranteed.
func (t *Tree) cut(dst []Share, g group, total int64) {
	f := &t.fill
	for i := g.first; i < g.end; i++ {
		f.lo[i], f.hi[i], f.rest[i] = 0, f.lo[i], 0
	}
	if t.policy.Infeasible == Scale {
		copy(f.weight[g.first:g.end], f.hi[g.first:g.end])
		t.settle(dst, g.first, g.end, total)
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
