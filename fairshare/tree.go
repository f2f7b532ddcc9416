package fairshare

import (
	"iter"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/exact"
)

// Tree is a validated set of pools that can divide totals again and again without allocating. [New] makes a Tree.
// The zero value has no pools.
//
// A Tree is not safe for concurrent use. Use one Tree for each scheduler.
type Tree struct {
	forest
	fill filler
}

// New checks the pools and the policy and returns a tree. The tree contains copies of both. New returns an error
// for a field out of range, for a parent that does not exist, for parents that form a cycle, and for a sum that
// does not fit in an int64. The error contains the index of the pool and the field.
//
// Cost: O(n) time and memory for n pools. If k pools with the same parent must be sorted, this takes O(k log k)
// more.
func New(pools []Pool, policy Policy) (*Tree, error) {
	f, err := newForest(pools, policy)
	if err != nil {
		return nil, err
	}
	return &Tree{forest: *f, fill: newFiller(len(pools))}, nil
}

// Len returns the number of pools.
func (t *Tree) Len() int { return len(t.nodes) }

// Walk yields the index of every pool and the index of its parent. The parent is -1 for a pool at the top level.
// Walk yields a parent before its children, and pools with the same parent one after another. Cost: O(n) for n
// pools.
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

// Shares divides total units among the pools. It writes one share for each pool, in the order of the pools, into
// dst and returns dst. If dst is too short, Shares allocates a longer slice. If demand is not nil, it replaces
// [Pool.Demand]: demand[i] is the demand of pool i in units. The demand of a pool with children is ignored.
//
// Take a pool with the minimum m, the demand d and the weight w. Its share is clamp(L·w, min(m, d), d): the
// product L·w, but at least min(m, d) and at most d. L is the same number for all pools with the same parent.
// Shares chooses L so that the shares add up to the units that these pools divide (section 3.1). L is computed
// exactly, as a ratio of two integers. Then Shares rounds down each share. The units that remain go one by one to
// the pools that lost the largest fractions, and among equal fractions to the pool with the lowest index. If there
// is one more unit to divide, no share before rounding becomes smaller. But a rounded share may become one unit
// smaller.
//
// Shares returns an error for a negative total, for a negative demand, and for a demand slice of the wrong length.
// If the minimums add up to more than total and [Policy.OnInfeasible] is [Refuse], the error is an
// [*InfeasibleError]. After an error, the content of dst is undefined.
//
// Cost for n pools: O(n) in practice, O(n log n) at worst; no allocation if dst is long enough.
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

// bounds computes the smallest and the largest share that each pool may have, children before parents. It returns
// the sum of the smallest shares of the top level. A sum of demands may be larger than the largest int64. It is
// then replaced by the largest int64, which does no harm because no total is larger.
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

// needed sets the field Needed of each share: the part of the guarantee that the demand covers. It is called if
// the basis ignores the size of the demand. Under Demanded, the method bounds has set the field.
func (t *Tree) needed(dst []Share) {
	needed := t.fill.slots // no other use of this slice until divide writes it
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
