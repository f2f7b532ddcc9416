package fairshare

import (
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/exact"
)

// Index answers who should get the next free unit, in O(depth), after O(log k) at each level with k siblings for each
// change of one pool: O(log n) in a flat tree. It starts from the usage 0 and the demands of the pools.
//
// Not safe for concurrent use; one per scheduler.
type Index struct {
	forest
	entries []entry // by position
	shares  []int64 // by position; nil under LeastUsage
	// winners holds one knock-out tournament a group: that of nodes[first:end] is winners[2*first:2*end], with the final
	// at 1, the matches that feed match m at 2m and 2m+1, and the pools themselves from end-first on. Below the top level
	// sums holds what the pools that took part in a match have together.
	winners []int32 // positions
	sums    []sum
}

// entry is the state of one pool.
type entry struct {
	standing
	usage, most int64 // most is the demand, bounded by the maximum
	demand      int64 // leaves
	least       int64 // the minimum, as far as the pool and those under it want theirs
	held        bool
}

// sum is what pools have, are guaranteed as far as they want it, and may have together. It saturates.
type sum struct{ usage, least, most int64 }

// Index returns an index over the pools of the tree, which it does not change.
//
// Cost: O(n) time and memory.
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

// Next returns the pool that should get the next free unit: from the top level down, the one that stands first by the
// discipline of the group and, under [Fair], by [Policy.Order]. It changes nothing: tell the index what was done with
// [Index.Add].
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

// Add changes the usage of a pool without children by delta: +1 for a unit given, -1 for one returned. Usage stops at
// 0 and at the largest int64. It reports false, and does nothing, for an index that is not such a pool.
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

// SetDemand changes what a pool without children wants, running and waiting together; less than 0 counts as 0. It
// reports false, and does nothing, for an index that is not such a pool.
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

// SetShares tells the index what the pools are due, one share a pool as from [Tree.Shares]. Orders other than
// [LeastUsage] go by it, and need it again whenever shares change; LeastUsage does not read it. It returns an error if
// there is not one share a pool.
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

// Hold passes a pool over, with its children if it has any, until it is held no longer: for one that cannot use the
// unit on offer, such as a job that waits for a machine with its data (section 4.2). It reports false for an unknown
// pool.
//
// Cost: O(log k) for the k siblings at each level above, no allocation.
func (x *Index) Hold(pool int, held bool) bool {
	if pool < 0 || pool >= len(x.at) {
		return false
	}
	i := x.at[pool]
	if x.entries[i].held != held {
		x.entries[i].held = held
		x.update(i)
	}
	return true
}

// Usage returns what a pool has, its children's together; 0 for an unknown pool.
func (x *Index) Usage(pool int) int64 {
	if pool < 0 || pool >= len(x.at) {
		return 0
	}
	return x.entries[x.at[pool]].usage
}

func (x *Index) leaf(pool int) (position int32, ok bool) {
	if pool < 0 || pool >= len(x.at) || !x.nodes[x.at[pool]].leaf() {
		return 0, false
	}
	return x.at[pool], true
}
