package preempt

import "github.com/straggler-go/straggler/fairshare"

// hierarchy is the shape of a tree of pools. Its slices have one element for each pool. All slices except order
// are indexed by pool. A hierarchy never changes.
type hierarchy struct {
	order  []int32 // the indices of the pools, parents before their children
	parent []int32 // the index of the parent; -1 at the top level
	depth  []int32 // the number of pools on the path from the top level to this pool; 1 at the top level
	leaf   []bool  // true if the pool has no children
}

func newHierarchy(tree *fairshare.Tree) hierarchy {
	n := tree.Len()
	h := hierarchy{order: make([]int32, 0, n), parent: make([]int32, n), depth: make([]int32, n), leaf: make([]bool, n)}
	for pool, parent := range tree.Walk() {
		h.order = append(h.order, int32(pool))
		h.parent[pool], h.depth[pool], h.leaf[pool] = int32(parent), 1, true
		if parent >= 0 {
			h.depth[pool], h.leaf[parent] = h.depth[parent]+1, false
		}
	}
	return h
}

// known reports whether pool is the index of a pool in the tree.
func (h *hierarchy) known(pool int) bool { return pool >= 0 && pool < len(h.parent) }

// ancestor returns the pool at the given depth on the path from a pool up to the top level. If the depth is the
// depth of the pool itself, it returns that pool. If the depth is 0, it returns -1, which means the top level.
func (h *hierarchy) ancestor(pool, depth int32) int32 {
	for pool >= 0 && h.depth[pool] > depth {
		pool = h.parent[pool]
	}
	return pool
}
