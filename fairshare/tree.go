package fairshare

import (
	"iter"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/exact"
)

// Tree is a validated set of pools that divides totals again and again without allocating. The zero value has no
// pools.
//
// Not safe for concurrent use; one per scheduler.
type Tree struct {
	forest
	fill filler
}

// New checks the pools and the policy and returns a tree, which keeps copies of both. Errors name the pool and the
// field.
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

// Walk yields every pool with its parent, -1 at the top level: parents before their children, siblings one after
// another.
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

// Shares divides total among the pools and writes one share a pool, in the pools' order, into dst, which grows if it
// is too short. A demand other than nil replaces [Pool.Demand]: one number a pool, of which those of pools with
// children are not read.
//
// Among siblings the share is clamp(L·w, min(m, d), d) with the one level L at which the shares add up to what there
// is to divide (section 3.1). L is found exactly, as a ratio of two integers. Siblings that stand at the level are
// then rounded: down first, and what is left goes one by one to those that lost the largest fraction, the lowest
// index first. So a slot more to divide never changes a real share for the worse, but may take one slot from a
// rounded one.
//
// It returns an error for a negative total, for a demand that is negative or of the wrong length, and under [Refuse]
// an [*InfeasibleError] for minimums that do not fit; dst then holds nothing of use.
//
// Cost: O(n) in practice, O(n log n) at worst; no allocation if dst is long enough.
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

// bounds computes, from the leaves up, the interval in which each share must lie, and returns the sum of the lower
// ends of the top level. Demands may add up beyond int64, where a pool's bounds saturate: no total is larger.
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
		lo[i] = min(max(n.min, lo[i]), hi[i]) // of a pool with children, lo holds what they are guaranteed
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

// needed works out how much of each minimum is wanted where bounds does not ask.
func (t *Tree) needed(dst []Share) {
	needed := t.fill.slots // which divide writes later
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
