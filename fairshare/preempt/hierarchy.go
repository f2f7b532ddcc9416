package preempt

import "github.com/straggler-go/straggler/fairshare"

// hierarchy is the shape of a tree. Its slices are indexed by pool, except order. A hierarchy never changes.
type hierarchy struct {
	order  []int32 // the pools, parents before their children
	parent []int32 // -1 at the top level
	depth  []int32 // 1 at the top level
	leaf   []bool  // the pool has no children
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

// known reports whether pool is the index of a pool.
func (h *hierarchy) known(pool int) bool { return pool >= 0 && pool < len(h.parent) }

// ancestor returns the pool at the given depth on the way up from a pool. The pool itself counts. Depth 0 gives -1,
// the top level.
func (h *hierarchy) ancestor(pool, depth int32) int32 {
	for pool >= 0 && h.depth[pool] > depth {
		pool = h.parent[pool]
	}
	return pool
}
