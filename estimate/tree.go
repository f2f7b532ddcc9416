package estimate

import "math"

// tree is a counted B+ tree of float64s: a sorted multiset with ranks. Nodes are in two slices and refer to each
// other by index, so the garbage collector sees two objects at any size. Full nodes are split and thin nodes
// refilled on the way down. So insert and remove never walk back up, except to set the maxima.
type tree struct {
	leaves    []leaf
	inners    []inner
	freeLeaf  []int32
	freeInner []int32
	root      int32
	height    int // 0: the root is a leaf
	size      int
}

const (
	leafMax  = 64 // 8 cache lines of values
	innerMax = 32
	// Less than half, so that alternating inserts and removes do not split and merge in turn.
	leafMin  = leafMax / 4
	innerMin = innerMax / 4
	// A root of 2 children, 9 levels of at least 8 and leaves of at least 16 would hold 2^32 values, more than maxSize.
	maxHeight = 10
	maxSize   = math.MaxInt32 // the largest number that a node's counts can hold
)

type leaf struct {
	n     int32
	value [leafMax]float64 // ascending
}

type inner struct {
	n     int32
	child [innerMax]int32
	count [innerMax]int32   // values below each child
	max   [innerMax]float64 // the largest value below each child
}

func (t *tree) reset() {
	*t = tree{leaves: t.leaves[:0], inners: t.inners[:0], freeLeaf: t.freeLeaf[:0], freeInner: t.freeInner[:0]}
}

// find returns the first child that can hold the first value >= x; n if there is no such child.
func (in *inner) find(x float64) int {
	i := 0
	if in.max[in.n-1] < x { // ages grow: a new value is often the largest
		return int(in.n)
	}
	for in.max[i] < x {
		i++
	}
	return i
}

// find returns the index of the first value >= x; n if there is no such value.
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

// rank counts the values below x. The rank of NaN is 0.
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

// at returns the k-th smallest value, 0 <= k < size.
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

// entries returns the number of values of a leaf (level 0) or of children of an inner node.
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

// values counts the values below a node.
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

// largest returns the largest value below a node, which must not be empty unless it is the root.
func (t *tree) largest(at int32, level int) float64 {
	if level == 0 {
		l := &t.leaves[at]
		return l.value[l.n-1]
	}
	in := &t.inners[at]
	return in.max[in.n-1]
}
