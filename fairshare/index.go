package fairshare

import (
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/exact"
)

// Index says which pool should get the next free unit, for example the next free slot. [Tree.Index] makes an
// Index, in which no pool uses a unit yet. The zero value has no pools, and its [Index.Next] returns no pool.
//
// Let depth be the number of levels of the tree of pools. Next costs O(depth). A change of one pool costs O(log k)
// for each level above the pool, where k is the number of pools with the same parent. In a flat tree of n pools
// this is O(log n).
//
// An Index is not safe for concurrent use. Use one Index for each scheduler.
type Index struct {
	forest
	entries []entry // by position in nodes
	shares  []int64 // by position in nodes; nil under LeastUsage
	// winners contains one knock-out tournament for each group of pools with the same parent. The winner of a
	// tournament is the pool that gets the next unit. The tournament of nodes[first:end] is the slice
	// winners[2*first:2*end]. In that slice the pools themselves are the elements from index end-first on. Element
	// m is the winner of match m, in which the winners of matches 2m and 2m+1 meet. Match 1 is the final.
	winners []int32 // positions in nodes
	// sums has an element for each match below the top level: the sum over all pools that can win this match.
	sums []sum
}

// entry is the state of one pool of an Index.
type entry struct {
	standing
	usage, most int64 // units in use; most is the demand, and at most the maximum of the pool
	demand      int64 // set only for pools without children
	least       int64 // the minimum in units, without the part that the pool and the pools below it do not demand
	held        bool  // true if Next must skip the pool
}

// sum contains sums over several pools: the units in use (usage), the minimums (least) and the upper bounds
// (most). A sum that is too large for an int64 is set to the largest int64.
type sum struct{ usage, least, most int64 }

// Index returns an [Index] over the pools of the tree. In the index each pool has the demand that it has in the
// tree and uses no unit. The call does not change the tree, and later calls on the tree do not change the index.
//
// Cost: O(n) time and memory for n pools.
func (t *Tree) Index() *Index {
	x := &Index{forest: t.forest, entries: make([]entry, t.Len()), winners: make([]int32, 2*t.Len())}
	if len(x.groups) > 0 {
		x.sums = make([]sum, 2*(t.Len()-int(x.groups[0].end)))
	}
	if x.policy.Order != LeastUsage {
		x.shares = make([]int64, t.Len())
	}
	for i := range x.entries {
		x.entries[i].demand = x.nodes[i].demand
	}
	x.rebuild()
	return x
}

// Next returns the pool that should get the next free unit, and the reason. Next starts with the pools of the top
// level and chooses the first pool by the group's [Discipline], and under [Fair] by [Policy.Order]. If that pool
// has children, Next chooses among them in the same way. If no pool wants the unit, [Pick.Pool] is -1. Next
// changes nothing. If the host gives the unit to the pool, it must call [Index.Add].
//
// Cost: O(depth) for a tree with depth levels, no allocation.
func (x *Index) Next() Pick {
	if len(x.nodes) == 0 {
		return Pick{Pool: -1}
	}
	g := x.groups[0]
	for {
		i := x.winners[2*g.first+1]
		n := &x.nodes[i]
		if x.entries[i].turn == turnNone {
			return Pick{Pool: -1}
		}
		if n.leaf() {
			return x.pick(g, i)
		}
		g = x.groups[n.children]
	}
}

// Add changes the number of units that a pool uses by delta: +1 for a unit given to the pool, -1 for a unit
// returned. The number stays between 0 and the largest int64. The pool must have no children. Add returns false
// and does nothing if the pool is unknown or has children.
//
// Cost: O(log k) for each level above the pool, where k is the number of pools with the same parent; no
// allocation.
func (x *Index) Add(pool int, delta int64) bool {
	i, ok := x.leaf(pool)
	if !ok {
		return false
	}
	if usage := x.entries[i].usage; delta < 0 {
		x.entries[i].usage = max(0, usage+delta)
	} else {
		x.entries[i].usage = exact.Add(usage, delta)
	}
	x.update(i)
	return true
}

// SetDemand sets the demand of a pool without children: the number of units that its running and its waiting tasks
// need together. A negative demand is replaced by 0. SetDemand returns false and does nothing if the pool is
// unknown or has children.
//
// Cost: O(log k) for each level above the pool, where k is the number of pools with the same parent; no
// allocation.
func (x *Index) SetDemand(pool int, demand int64) bool {
	i, ok := x.leaf(pool)
	if demand = max(0, demand); ok && demand != x.entries[i].demand {
		x.entries[i].demand = demand
		x.update(i)
	}
	return ok
}

// SetShares sets the shares of the pools, in the order that [Tree.Shares] returns. The orders [LargestDeficit] and
// [SmallestPart] compare the units that a pool uses with its share, so call SetShares whenever shares change. The
// order [LeastUsage] ignores the shares. SetShares returns an error if the number of shares is not the number of
// pools.
//
// Cost: O(n) for n pools, no allocation.
func (x *Index) SetShares(shares []Share) error {
	if len(shares) != len(x.nodes) {
		return check.Badf("fairshare", "len(shares)", len(shares), "one for each of the %d pools", len(x.nodes))
	}
	if x.policy.Order == LeastUsage {
		return nil
	}
	for i := range x.shares {
		x.shares[i] = max(0, shares[x.nodes[i].pool].Slots)
	}
	x.rebuild()
	return nil
}

// Hold makes [Index.Next] skip a pool and all pools below it (held is true), or ends this (held is false). Hold a
// pool that cannot use the unit on offer, for example a job that waits for a slot on a machine with its data
// (section 4.2). A pool that is held still has its used units and its place in the order. Hold returns false for
// an unknown pool.
//
// Cost: O(log k) for each level above the pool, where k is the number of pools with the same parent; no
// allocation.
func (x *Index) Hold(pool int, held bool) bool {
	if pool < 0 || pool >= len(x.positions) {
		return false
	}
	i := x.positions[pool]
	if x.entries[i].held != held {
		x.entries[i].held = held
		x.update(i)
	}
	return true
}

// Usage returns the number of units that a pool uses. For a pool with children this is the sum over its children.
// Usage returns 0 for an unknown pool. Cost: O(1).
func (x *Index) Usage(pool int) int64 {
	if pool < 0 || pool >= len(x.positions) {
		return 0
	}
	return x.entries[x.positions[pool]].usage
}

// leaf returns the position in nodes of a pool without children. ok is false if the pool is unknown or has
// children.
func (x *Index) leaf(pool int) (position int32, ok bool) {
	if pool < 0 || pool >= len(x.positions) || !x.nodes[x.positions[pool]].leaf() {
		return 0, false
	}
	return x.positions[pool], true
}
