package fairshare

import (
	"iter"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/exact"
)

// Tree is a validated set of pools that can divide totals again and again without allocating. [New] makes a Tree. The
// zero value has no pools.
//
// A Tree is not safe for concurrent use. Use one for each scheduler.
type Tree struct {
	forest
	fill filler
}

// New checks the pools and the policy and returns a tree. The tree copies both. New returns an error for a field out
// of range, an unknown parent, a cycle, or a sum beyond int64. The error names the pool and the field.
//
// Cost: O(n) time and memory for n pools, and O(k log k) time for each group of k siblings that must be sorted.
func New(pools []Pool, policy Policy) (*Tree, error) {
	f, err := newForest(pools, policy)
	if err != nil {
		return nil, err
	}
	return &Tree{forest: *f, fill: newFiller(len(pools))}, nil
}

// Len returns the number of pools.
func (t *Tree) Len() int { return len(t.nodes) }

// Walk yields the index of every pool and the index of its parent. The parent is -1 at the top level. Walk yields a
// parent before its children, and siblings one after another. Cost: O(n).
func (t *Tree) Walk() iter.Seq2[int, int] {
	return func(yield func(pool, parent int) bool) {
		for i := range t.nodes {
			parent := -1
			if p := t.nodes[i].parent; p >= 0 {
				parent = int(t.nodes[p].pool)
			}
			if !yield(int(t.nodes[i].pool), parent) {
				return
			}
		}
	}
}

// Shares divides total units among the pools. It writes one share for each pool, in the pools' order, into dst, and
// returns dst; dst grows if it is too short. If demand is not nil, it replaces [Pool.Demand]: one number in units for
// each pool. The numbers of pools with children are ignored.
//
// Among siblings the share is clamp(L·w, min(m, d), d). L is the level at which the shares add up to the units that
// the siblings divide (section 3.1). Shares finds L exactly, as a ratio of two integers. Then Shares rounds down the
// share of each sibling at the level. The units that remain go one by one to the siblings with the largest fraction
// cut off, and the lowest index first. So one more unit to divide never lowers a real share. But one more unit may
// take one slot from a rounded share.
//
// Shares returns an error for a negative total, and for a demand that is negative or has the wrong length. Under
// [Refuse], an [*InfeasibleError] says that the minimums do not fit. After an error, dst holds nothing useful.
//
// Cost: O(n) in practice, O(n log n) at worst, for n pools; no allocation if dst is long enough.
func (t *Tree) Shares(dst []Share, demand []int64, total int64) ([]Share, error) {
	if total < 0 {
		return nil, check.Bad("fairshare", "total", total, "at least 0")
	}
	if demand != nil && len(demand) != t.Len() {
		return nil, check.Badf("fairshare", "len(demand)", len(demand), "one for each of the %d pools", t.Len())
	}
	if cap(dst) < t.Len() {
		dst = make([]Share, t.Len())
	}
	dst = dst[:t.Len()]
	least, err := t.bounds(dst, demand)
	if err != nil {
		return nil, err
	}
	if t.policy.OnInfeasible == Refuse && least > total {
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

// bounds computes, from the leaves up, the interval in which each share must lie. It returns the sum of the lower
// ends of the top level. The sum of the demands may exceed int64. A pool's upper end then saturates, which is
// harmless because no total is larger.
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
				return 0, check.Bad("fairshare", check.At("demand", n.pool, ""), want[i], "at least 0")
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
		lo[i] = min(max(n.min, lo[i]), hi[i]) // for a parent, lo[i] is the sum over its children
		share.Min, share.Max, share.Demand, share.Needed = lo[i], hi[i], want[i], lo[i]
		if n.parent < 0 {
			least += lo[i]
			continue
		}
		lo[n.parent] += lo[i]
		hi[n.parent] = exact.Add(hi[n.parent], hi[i])
		want[n.parent] = exact.Add(want[n.parent], want[i])
	}
	if t.policy.Basis != Demanded {
		t.needed(dst)
	}
	return least, nil
}

// needed sets Share.Needed for a basis that ignores the size of the demand. Under Demanded, bounds has set it.
func (t *Tree) needed(dst []Share) {
	needed := t.fill.slots // free until divide writes it
	clear(needed)
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := &t.nodes[i]
		needed[i] = min(max(n.min, needed[i]), t.fill.want[i])
		dst[n.pool].Needed = needed[i]
		if n.parent >= 0 {
			needed[n.parent] += needed[i]
		}
	}
}
