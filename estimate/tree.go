package estimate

import "math"

// tree is a sorted list of float64s in a B+ tree. The same value may occur several times. Each inner node stores
// how many values are below each child, so the tree can compute ranks. All nodes are in two slices and refer to
// each other by index. So the garbage collector sees two objects, however large the tree is. On the way down,
// insert splits full nodes and remove adds entries to nodes that are nearly empty. So insert and remove never go
// back up, except to correct the stored maxima.
type tree struct {
	leaves    []leaf
	inners    []inner
	freeLeaf  []int32
	freeInner []int32
	root      int32
	height    int // levels above the leaves; 0 if the root is a leaf
	size      int
}

const (
	leafMax  = 64 // values in a leaf, at most; they fill 8 cache lines
	innerMax = 32
	// A node with at most this many entries is called thin, and is refilled before a removal. The limits are less
	// than half of the capacity, so that alternating inserts and removals do not split and merge the same nodes
	// each time.
	leafMin  = leafMax / 4
	innerMin = innerMax / 4
	// With more levels than maxHeight the tree would contain more than maxSize values. A root of 2 children, 9
	// levels with at least 8 children per node, and leaves of at least 16 values would contain 2^32 values.
	maxHeight = 10
	maxSize   = math.MaxInt32 // the largest number of values that the counts in the nodes can represent
)

type leaf struct {
	n     int32
	value [leafMax]float64 // ascending
}

type inner struct {
	n     int32
	child [innerMax]int32
	count [innerMax]int32   // number of values below each child
	max   [innerMax]float64 // the largest value below each child
}

func (t *tree) reset() {
	*t = tree{leaves: t.leaves[:0], inners: t.inners[:0], freeLeaf: t.freeLeaf[:0], freeInner: t.freeInner[:0]}
}

// find returns the index of the first child whose largest value is at least x, or n if there is no such child.
func (in *inner) find(x float64) int {
	i := 0
	if in.max[in.n-1] < x { // ages grow, so a new value is often the largest
		return int(in.n)
	}
	for in.max[i] < x {
		i++
	}
	return i
}

// find returns the index of the first value that is at least x, or n if there is no such value.
func (l *leaf) find(x float64) int {
	low, high := 0, int(l.n)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if l.value[mid] < x {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// rank returns the number of values that are less than x. The rank of NaN is 0.
func (t *tree) rank(x float64) int {
	if t.size == 0 {
		return 0
	}
	at, rank := t.root, 0
	for range t.height {
		in := &t.inners[at]
		i := 0
		for i < int(in.n) && in.max[i] < x {
			rank += int(in.count[i])
			i++
		}
		if i == int(in.n) {
			return rank
		}
		at = in.child[i]
	}
	return rank + t.leaves[at].find(x)
}

// at returns the k-th smallest value, where the smallest value has k = 0. k must be less than size.
func (t *tree) at(k int) float64 {
	node := t.root
	for range t.height {
		in := &t.inners[node]
		i := 0
		for k >= int(in.count[i]) {
			k -= int(in.count[i])
			i++
		}
		node = in.child[i]
	}
	return t.leaves[node].value[k]
}

func (t *tree) newLeaf() int32 {
	at := place(&t.leaves, &t.freeLeaf)
	t.leaves[at].n = 0
	return at
}

func (t *tree) newInner() int32 {
	at := place(&t.inners, &t.freeInner)
	t.inners[at].n = 0
	return at
}

// place returns the index of a free node, or appends a node and returns its index.
func place[T any](nodes *[]T, free *[]int32) (at int32) {
	if last := len(*free) - 1; last >= 0 {
		at, *free = (*free)[last], (*free)[:last]
		return at
	}
	*nodes = append(*nodes, *new(T))
	return int32(len(*nodes) - 1)
}

// entries returns the number of values in a leaf (level 0), or the number of children of an inner node (level 1 or
// more).
func (t *tree) entries(at int32, level int) int {
	if level == 0 {
		return int(t.leaves[at].n)
	}
	return int(t.inners[at].n)
}

func (t *tree) full(at int32, level int) bool {
	return t.entries(at, level) == capacity(level)
}

func (t *tree) thin(at int32, level int) bool {
	if level == 0 {
		return t.entries(at, level) <= leafMin
	}
	return t.entries(at, level) <= innerMin
}

func capacity(level int) int {
	if level == 0 {
		return leafMax
	}
	return innerMax
}

// values returns the number of values below a node.
func (t *tree) values(at int32, level int) int32 {
	if level == 0 {
		return t.leaves[at].n
	}
	in, total := &t.inners[at], int32(0)
	for _, c := range in.count[:in.n] {
		total += c
	}
	return total
}

// largest returns the largest value below a node. The node must not be empty.
func (t *tree) largest(at int32, level int) float64 {
	if level == 0 {
		l := &t.leaves[at]
		return l.value[l.n-1]
	}
	in := &t.inners[at]
	return in.max[in.n-1]
}
