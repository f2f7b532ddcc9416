package estimate

func (t *tree) insert(x float64) {
	if t.size == 0 {
		t.reset()
		t.root = t.newLeaf()
	}
	if t.full(t.root, t.height) {
		t.growRoot()
	}
	at := t.root
	for level := t.height; level > 0; level-- {
		in := &t.inners[at]
		i := min(in.find(x), int(in.n)-1)
		if t.full(in.child[i], level-1) {
			t.split(at, i, level-1)
			in = &t.inners[at] // split may have moved the nodes in memory
			if x > in.max[i] {
				i++
			}
		}
		in.count[i]++
		if x > in.max[i] {
			in.max[i] = x
		}
		at = in.child[i]
	}
	l := &t.leaves[at]
	i := l.find(x)
	copy(l.value[i+1:l.n+1], l.value[i:l.n])
	l.value[i] = x
	l.n++
	t.size++
}

// path is the way from the root to a leaf. For each level above the leaf, it stores a node and the index of the
// child to which the way leads.
type path [maxHeight]struct {
	node int32
	i    int
}

// descend goes from the root to the leaf that can contain x, stores the way in the argument, and returns the leaf.
// On the way, descend adds entries to thin nodes, which are nearly empty. So the caller may remove a value from the
// leaf. x must not be larger than the largest value of the tree.
func (t *tree) descend(x float64, way *path) *leaf {
	at := t.root
	for level := t.height; level > 0; level-- {
		i := t.inners[at].find(x)
		if t.thin(t.inners[at].child[i], level-1) {
			t.refill(at, i, level-1)
			i = t.inners[at].find(x)
		}
		way[level].node, way[level].i = at, i
		at = t.inners[at].child[i]
	}
	return &t.leaves[at]
}

// cut removes the i-th value from the leaf at the end of a path, and corrects the counts and maxima of the nodes
// above.
func (t *tree) cut(l *leaf, i int, way *path) {
	copy(l.value[i:], l.value[i+1:l.n])
	l.n--
	t.size--
	for level := 1; level <= t.height; level++ {
		node, child := &t.inners[way[level].node], way[level].i
		node.count[child]--
		if i == int(l.n) { // the removed value was the last of the leaf, and may have been a maximum
			node.max[child] = t.largest(node.child[child], level-1)
		}
	}
}

// lower removes the root as long as the root has only one child. The child becomes the new root.
func (t *tree) lower() {
	for t.height > 0 && t.inners[t.root].n == 1 {
		old := t.root
		t.root = t.inners[old].child[0]
		t.freeInner = append(t.freeInner, old)
		t.height--
	}
}

// remove removes a single value equal to x and reports whether there was such a value. On the way to the leaf,
// remove adds entries to nearly empty nodes, even if the tree then turns out to contain no x.
func (t *tree) remove(x float64) bool {
	if t.size == 0 || !(x <= t.largest(t.root, t.height)) { // also true for NaN
		return false
	}
	var way path
	l := t.descend(x, &way)
	i := l.find(x)
	found := l.value[i] == x
	if found {
		t.cut(l, i, &way)
	}
	t.lower()
	return found
}

// replace removes a single value equal to old and inserts x, and reports whether there was such a value. If x is
// close to old, both usually belong to the same leaf. Then replace costs little more than the search for old.
func (t *tree) replace(old, x float64) bool {
	if t.size == 0 || !(old <= t.largest(t.root, t.height)) {
		return false
	}
	var way path
	l := t.descend(old, &way)
	i, last := l.find(old), int(l.n)-1
	if l.value[i] != old {
		t.lower()
		return false
	}
	if i == last || x < l.value[0] || x > l.value[last] { // a change of the last value could change a maximum
		t.cut(l, i, &way)
		t.lower()
		t.insert(x)
		return true
	}
	j := l.find(x)
	if j > i {
		j--
		copy(l.value[i:j], l.value[i+1:j+1])
	} else {
		copy(l.value[j+1:i+1], l.value[j:i])
	}
	l.value[j] = x
	t.lower()
	return true
}
