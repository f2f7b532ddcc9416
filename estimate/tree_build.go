package estimate

import "slices"

// The method build fills each node to three quarters, as full as a node is after a merge. So several inserts fit
// into a node before it must be split, and several removals are possible before it must be refilled.
const (
	leafFill  = leafMax * 3 / 4
	innerFill = innerMax * 3 / 4
)

// build replaces the contents of the tree by n values. Each call of next must return the next value, in ascending
// order. O(n).
func (t *tree) build(n int, next func() float64) {
	t.reset()
	t.size = n
	if n == 0 {
		return
	}
	nodes := (n + leafFill - 1) / leafFill
	t.leaves = slices.Grow(t.leaves, nodes)
	for i := range nodes {
		l := &t.leaves[t.newLeaf()]
		l.n = int32(part(n, nodes, i))
		for j := range l.value[:l.n] {
			l.value[j] = next()
		}
	}
	first := 0 // index of the first node of the level below; the nodes of a level have consecutive indexes
	for ; nodes > 1; t.height++ {
		above := (nodes + innerFill - 1) / innerFill
		from := len(t.inners)
		for i := range above {
			at := t.newInner()
			in := &t.inners[at]
			in.n = int32(part(nodes, above, i))
			for j := range int(in.n) {
				in.child[j] = int32(first)
				t.measure(in, j, t.height)
				first++
			}
		}
		first, nodes = from, above
	}
	t.root = int32(first)
}

// part returns the size of the i-th part if n entries are divided into parts that are as equal as possible.
func part(n, parts, i int) int {
	return int(int64(n)*int64(i+1)/int64(parts) - int64(n)*int64(i)/int64(parts))
}

// each calls visit for each value, in ascending order.
func (t *tree) each(visit func(x float64)) {
	if t.size > 0 {
		t.visit(t.root, t.height, visit)
	}
}

func (t *tree) visit(at int32, level int, visit func(x float64)) {
	if level == 0 {
		l := &t.leaves[at]
		for _, x := range l.value[:l.n] {
			visit(x)
		}
		return
	}
	in := &t.inners[at]
	for _, child := range in.child[:in.n] {
		t.visit(child, level-1, visit)
	}
}
