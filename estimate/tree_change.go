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
			in = &t.inners[at] // split may have moved the nodes
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

// path is the way from the root to a leaf: on each level above the leaf, a node and the index of the child that was
// taken.
type path [maxHeight]struct {
	node int32
	i    int
}

// descend goes to the leaf that can hold x. On the way it refills thin nodes, so the caller may remove a value from
// the leaf. x must not be above the largest value.
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

// cut removes the i-th value from the leaf at the end of a path.
func (t *tree) cut(l *leaf, i int, way *path) {
	copy(l.value[i:], l.value[i+1:l.n])
	l.n--
	t.size--
	for level := 1; level <= t.height; level++ {
		node, child := &t.inners[way[level].node], way[level].i
		node.count[child]--
		if i == int(l.n) { // the value was the last, and may have been a maximum
			node.max[child] = t.largest(node.child[child], level-1)
		}
	}
}

// lower removes roots that have only one child left.
func (t *tree) lower() {
	for t.height > 0 && t.inners[t.root].n == 1 {
		old := t.root
		t.root = t.inners[old].child[0]
		t.freeInner = append(t.freeInner, old)
		t.height--
	}
}

// remove removes one value equal to x and reports whether there was such a value. remove refills thin nodes even if
// there turns out to be no such value.
func (t *tree) remove(x float64) bool {
	if t.size == 0 || !(x <= t.largest(t.root, t.height)) { // NaN too
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

// replace exchanges one value equal to old for x, and reports whether there was such a value. Values that move
// little usually stay in their leaf. In this case the exchange costs little more than the search.
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
	if i == last || x < l.value[0] || x > l.value[last] { // the last value must stay, because it may be a maximum
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
