package fairshare

import (
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/exact"
)

// Index says which pool should get the next free unit. [Tree.Index] makes an Index, with usage 0 and the demands of
// the pools. The zero value has no pools, and its [Index.Next] names no pool.
//
// Next costs O(depth). A change of one pool costs O(log k) at each level with k siblings: O(log n) in a flat tree.
//
// An Index is not safe for concurrent use. Use one for each scheduler.
type Index struct {
	forest
	entries []entry // by position
	shares  []int64 // by position; nil under LeastUsage
	// winners holds one knock-out tournament for each group. The tournament of nodes[first:end] is
	// winners[2*first:2*end]. Within that slice the final is match 1. The winners of matches 2m and 2m+1 meet in
	// match m. The pools themselves stand from index end-first on.
	winners []int32 // positions
	sums    []sum   // for each match below the top level: the sum over all pools that take part in the match or before
}

// entry is the state of one pool.
type entry struct {
	standing
	usage, most int64 // most is the demand, bounded by the maximum
	demand      int64 // set for leaves only
	least       int64 // the minimum, up to the demand of the pool and of the pools below it
	held        bool  // Next skips the pool
}

// sum adds up the usage, the wanted minimums (least) and the upper bounds (most) of several pools. The sums saturate.
type sum struct{ usage, least, most int64 }

// Index returns an [Index] over the pools of the tree, with usage 0 and the demands of the pools. The tree stays
// unchanged, and later calls on the tree do not affect the index.
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

// Next returns the pool that should get the next free unit, and the reason. From the top level down, Next chooses the
// first pool of each group by the group's discipline, and under [Fair] by [Policy.Order]. If no pool wants the unit,
// [Pick.Pool] is -1. Next changes nothing: report a unit that was given with [Index.Add].
//
// Cost: O(depth), no allocation.
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

// Add changes the usage of a pool without children by delta units: +1 for a unit given, -1 for a unit returned. Usage
// stays between 0 and the largest int64. Add returns false and does nothing if the pool is unknown or has children.
//
// Cost: O(log k) for the k siblings at each level above, no allocation.
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

// SetDemand changes the demand of a pool without children: its running and waiting units together. A negative demand
// counts as 0. SetDemand returns false and does nothing if the pool is unknown or has children.
//
// Cost: O(log k) for the k siblings at each level above, no allocation.
func (x *Index) SetDemand(pool int, demand int64) bool {
	i, ok := x.leaf(pool)
	if demand = max(0, demand); ok && demand != x.entries[i].demand {
		x.entries[i].demand = demand
		x.update(i)
	}
	return ok
}

// SetShares tells the index the shares of the pools, in the pools' order, as [Tree.Shares] returns them. The orders
// [LargestDeficit] and [SmallestPart] compare usage with these shares, so call SetShares whenever shares change.
// [LeastUsage] ignores the shares. SetShares returns an error if the number of shares is not the number of pools.
//
// Cost: O(n), no allocation.
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

// Hold(pool, true) makes [Index.Next] skip a pool and the pools below it, until Hold(pool, false). Hold a pool that
// cannot use the unit on offer, such as a job that waits for a machine with its data (section 4.2). A held pool keeps
// its usage and its place in the order. Hold returns false for an unknown pool.
//
// Cost: O(log k) for the k siblings at each level above, no allocation.
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

// Usage returns the units that a pool uses. For a pool with children this is the sum over the children. Usage returns
// 0 for an unknown pool. Cost: O(1).
func (x *Index) Usage(pool int) int64 {
	if pool < 0 || pool >= len(x.positions) {
		return 0
	}
	return x.entries[x.positions[pool]].usage
}

// leaf returns the position of a pool without children. ok is false if the pool is unknown or has children.
func (x *Index) leaf(pool int) (position int32, ok bool) {
	if pool < 0 || pool >= len(x.positions) || !x.nodes[x.positions[pool]].leaf() {
		return 0, false
	}
	return x.positions[pool], true
}
