package estimate

// growRoot adds a level to the tree: it puts a new root above the full root and splits the old root into two
// children.
func (t *tree) growRoot() {
	old, level := t.root, t.height
	t.root = t.newInner()
	t.height++
	in := &t.inners[t.root]
	in.n = 1
	in.child[0] = old
	t.measure(in, 0, level)
	t.split(t.root, 0, level)
}

// measure computes the stored count and the stored maximum of the i-th child of a node. level is the level of the
// child.
func (t *tree) measure(in *inner, i, level int) {
	in.count[i] = t.values(in.child[i], level)
	in.max[i] = t.largest(in.child[i], level)
}

// split divides the i-th child of a node into two halves. The argument at is the index of the node, and level is
// the level of the child. The node must have room for one more child.
func (t *tree) split(at int32, i, level int) {
	var right int32
	if level == 0 {
		right = t.newLeaf()
	} else {
		right = t.newInner()
	}
	in := &t.inners[at]
	n := int(in.n)
	copy(in.child[i+2:n+1], in.child[i+1:n])
	copy(in.count[i+2:n+1], in.count[i+1:n])
	copy(in.max[i+2:n+1], in.max[i+1:n])
	in.child[i+1] = right
	in.n++
	t.move(in.child[i], right, level, t.entries(in.child[i], level)/2)
	t.measure(in, i, level)
	t.measure(in, i+1, level)
}

// move distributes the entries of two neighbouring nodes: afterwards the left node has the first keep entries, and
// the right node has the others. Depending on keep, entries move from left to right or from right to left.
func (t *tree) move(left, right int32, level, keep int) {
	if level == 0 {
		l, r := &t.leaves[left], &t.leaves[right]
		shift(l.value[:], r.value[:], int(l.n), int(r.n), keep)
		l.n, r.n = int32(keep), l.n+r.n-int32(keep)
		return
	}
	l, r := &t.inners[left], &t.inners[right]
	shift(l.child[:], r.child[:], int(l.n), int(r.n), keep)
	shift(l.count[:], r.count[:], int(l.n), int(r.n), keep)
	shift(l.max[:], r.max[:], int(l.n), int(r.n), keep)
	l.n, r.n = int32(keep), l.n+r.n-int32(keep)
}

// shift moves entries between the end of l and the start of r until l has keep entries. Before the move, l has n
// entries and r has m entries.
func shift[T any](l, r []T, n, m, keep int) {
	if keep <= n {
		moved := n - keep
		copy(r[moved:], r[:m])
		copy(r, l[keep:n])
		return
	}
	moved := keep - n
	copy(l[n:], r[:moved])
	copy(r, r[moved:m])
}

// refill adds entries to the i-th child of a node, because the child is nearly empty. The argument at is the index
// of the node, and level is the level of the child. If the child and a neighbour fit into three quarters of a node,
// refill merges them. Otherwise refill distributes their entries evenly. A neighbour exists, because each inner
// node has at least two children.
func (t *tree) refill(at int32, i, level int) {
	in := &t.inners[at]
	left := max(i-1, 0)
	a, b := in.child[left], in.child[left+1]
	total := t.entries(a, level) + t.entries(b, level)
	// If a merge filled a node completely, the next insert would split the node again.
	if total > capacity(level)*3/4 {
		t.move(a, b, level, total/2)
		t.measure(in, left, level)
		t.measure(in, left+1, level)
		return
	}
	t.move(a, b, level, total)
	if level == 0 {
		t.freeLeaf = append(t.freeLeaf, b)
	} else {
		t.freeInner = append(t.freeInner, b)
	}
	n := int(in.n)
	copy(in.child[left+1:], in.child[left+2:n])
	copy(in.count[left+1:], in.count[left+2:n])
	copy(in.max[left+1:], in.max[left+2:n])
	in.n--
	t.measure(in, left, level)
}
