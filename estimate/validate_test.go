package estimate

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bytes returns the memory of the tree, including the unused capacity of its slices.
func (t *tree) bytes() int {
	return cap(t.leaves)*int(unsafe.Sizeof(leaf{})) + cap(t.inners)*int(unsafe.Sizeof(inner{})) +
		4*(cap(t.freeLeaf)+cap(t.freeInner))
}

// check reports the first invariant of the tree that does not hold:
//
//   - values ascend across all leaves
//   - counts and maxima of an inner node are the counts and maxima of its children
//   - every node but the root has at least its minimum of entries, and every node at most its capacity
//   - the root has two children or is a leaf
//   - all leaves are equally deep
//   - size is the number of values
//   - every node of the two slices is in use or on a free list, once
func (t *tree) check() error {
	c := checker{tree: t, last: math.Inf(-1), leaves: make([]bool, len(t.leaves)), inners: make([]bool, len(t.inners))}
	if t.size == 0 {
		return nil // the next insert resets the tree, whatever the slices hold
	}
	if t.height >= maxHeight {
		return fmt.Errorf("height %d, want less than %d", t.height, maxHeight)
	}
	count, _, err := c.node(t.root, t.height, true)
	if err != nil {
		return err
	}
	if count != t.size {
		return fmt.Errorf("%d values in the leaves, size says %d", count, t.size)
	}
	for _, at := range t.freeLeaf {
		if err := mark(c.leaves, at, "free leaf"); err != nil {
			return err
		}
	}
	for _, at := range t.freeInner {
		if err := mark(c.inners, at, "free inner node"); err != nil {
			return err
		}
	}
	if i := slices.Index(c.leaves, false); i >= 0 {
		return fmt.Errorf("leaf %d leaked: neither in the tree nor free", i)
	}
	if i := slices.Index(c.inners, false); i >= 0 {
		return fmt.Errorf("inner node %d leaked: neither in the tree nor free", i)
	}
	return nil
}

type checker struct {
	tree           *tree
	last           float64 // the value before, in order
	leaves, inners []bool  // seen
}

func mark(seen []bool, at int32, what string) error {
	if at < 0 || int(at) >= len(seen) {
		return fmt.Errorf("%s %d does not exist", what, at)
	}
	if seen[at] {
		return fmt.Errorf("%s %d is used twice", what, at)
	}
	seen[at] = true
	return nil
}

// node checks the subtree of a node and returns its number of values and the largest of them.
func (c *checker) node(at int32, level int, root bool) (count int, largest float64, err error) {
	if level == 0 {
		return c.leaf(at, root)
	}
	if err := mark(c.inners, at, "inner node"); err != nil {
		return 0, 0, err
	}
	in := &c.tree.inners[at]
	least := innerMin
	if root {
		least = 2
	}
	if n := int(in.n); n < least || n > innerMax {
		return 0, 0, fmt.Errorf("inner node %d at level %d has %d children, want %d to %d", at, level, n, least, innerMax)
	}
	for i := range int(in.n) {
		n, most, err := c.node(in.child[i], level-1, false)
		if err != nil {
			return 0, 0, err
		}
		if n != int(in.count[i]) || most != in.max[i] {
			return 0, 0, fmt.Errorf("inner node %d, child %d: %d values up to %v, recorded as %d up to %v",
				at, i, n, most, in.count[i], in.max[i])
		}
		count, largest = count+n, most
	}
	return count, largest, nil
}

func (c *checker) leaf(at int32, root bool) (count int, largest float64, err error) {
	if err := mark(c.leaves, at, "leaf"); err != nil {
		return 0, 0, err
	}
	l := &c.tree.leaves[at]
	least := leafMin
	if root {
		least = 1
	}
	if n := int(l.n); n < least || n > leafMax {
		return 0, 0, fmt.Errorf("leaf %d has %d values, want %d to %d", at, n, least, leafMax)
	}
	for _, v := range l.value[:l.n] {
		if !(v >= c.last) {
			return 0, 0, fmt.Errorf("leaf %d: %v comes after %v", at, v, c.last)
		}
		c.last = v
	}
	return int(l.n), c.last, nil
}

// The validator must be able to fail: it finds each kind of damage.
func TestCheckFindsDamage(t *testing.T) {
	for name, damage := range map[string]func(*tree){
		"order":         func(t *tree) { t.leaves[t.leftmost()].value[3] = -1 },
		"count":         func(t *tree) { t.inners[t.root].count[0]++ },
		"maximum":       func(t *tree) { t.inners[t.root].max[0] += .001 },
		"fill":          func(t *tree) { t.leaves[t.leftmost()].n = 3 },
		"size":          func(t *tree) { t.size-- },
		"leaf leaked":   func(t *tree) { t.leaves = append(t.leaves, leaf{}) },
		"inner leaked":  func(t *tree) { t.inners = append(t.inners, inner{}) },
		"freed in use":  func(t *tree) { t.freeLeaf = append(t.freeLeaf, t.leftmost()) },
		"free too far":  func(t *tree) { t.freeInner = append(t.freeInner, 999) },
		"height":        func(t *tree) { t.height = maxHeight },
		"shared child":  func(t *tree) { in := &t.inners[t.root]; in.child[1] = in.child[0] },
		"root too thin": func(t *tree) { t.inners[t.root].n = 1 },
	} {
		e, _ := filled(5000)
		require.NoError(t, e.tree.check())
		damage(&e.tree)
		assert.Error(t, e.tree.check(), name)
	}
}

func (t *tree) leftmost() int32 {
	at := t.root
	for range t.height {
		at = t.inners[at].child[0]
	}
	return at
}

// The constants of the tree satisfy the relations that the code relies on.
func TestTreeConstants(t *testing.T) {
	least := 2.0 * leafMin * math.Pow(innerMin, maxHeight-1)
	assert.Greater(t, least, float64(maxSize), "a tree of maxHeight would hold more than maxSize values")
	for level, least := range map[int]int{0: leafMin, 1: innerMin} {
		assert.GreaterOrEqual(t, capacity(level)/2, least+1, fmt.Sprintf("each half of a split is above the minimum at level %d", level))
		assert.Greater(t, capacity(level)*3/4/2, least, "each of two evened nodes is above the minimum")
	}
}
