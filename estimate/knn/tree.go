package knn

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

const (
	treeRuns = 512 // runs; with fewer runs a scan is as fast as the tree
	leafRuns = 16  // runs; a node with at most so many runs has no children, and a search scans it
)

// tree is a k-d tree over the runs that a Regressor had when build was called. A node is a range of at. Node i has the
// children 2i+1 and 2i+2, which are the two halves of its range.
//
// Each node has the smallest box that holds its runs. The distance to a box is computed by the same operations as the
// distance to a run. So the distance to a box is at most the distance to each run in the box, also after rounding. For
// this reason the tree finds exactly the runs that a scan finds. This holds also after the divisors have changed,
// because boxes are in the units of the parameters.
type tree struct {
	at    []int32   // position of each run among the runs of the Regressor
	x     []float64 // parameters of each run, in the order of at
	boxes []float64 // for each node, the smallest value of each parameter, and then the largest
}

// build makes the tree of all runs, whose parameters are x. A node is halved along the parameter in which it is widest,
// in the units of a distance. build takes O(n log n) for n runs, and allocates only if n has grown.
func (t *tree) build(x, inverse []float64) {
	d := len(inverse)
	n := len(x) / d
	t.at = slices.Grow(t.at[:0], n)[:n]
	for i := range t.at {
		t.at[i] = int32(i)
	}
	leaves := (n + leafRuns - 1) / leafRuns
	size := (2<<bits.Len(uint(leaves-1)) - 1) * 2 * d
	t.boxes = slices.Grow(t.boxes[:0], size)[:size]
	t.split(0, t.at, x, inverse)
	t.x = t.x[:0]
	for _, at := range t.at {
		t.x = append(t.x, x[int(at)*d:(int(at)+1)*d]...)
	}
}

// split makes the box of a node with these runs, orders the runs, and makes the nodes below.
func (t *tree) split(node int, runs []int32, x, inverse []float64) {
	d := len(inverse)
	least, largest := t.box(node, d)
	for i := range d {
		least[i], largest[i] = math.Inf(1), math.Inf(-1)
	}
	for _, run := range runs {
		for i, v := range x[int(run)*d : (int(run)+1)*d] {
			if v < least[i] {
				least[i] = v
			}
			if v > largest[i] {
				largest[i] = v
			}
		}
	}
	if len(runs) <= leafRuns {
		return
	}
	widest, width := 0, -1.0
	for i := range d {
		if w := (largest[i] - least[i]) * inverse[i]; w > width {
			widest, width = i, w
		}
	}
	middle := len(runs) / 2
	halve(runs, middle, func(run int32) float64 { return x[int(run)*d+widest] })
	t.split(2*node+1, runs[:middle], x, inverse)
	t.split(2*node+2, runs[middle:], x, inverse)
}

// box returns the smallest and the largest value of each of the d parameters in a node.
func (t *tree) box(node, d int) (least, largest []float64) {
	box := t.boxes[node*2*d : (node+1)*2*d]
	return box[:d], box[d:]
}

// halve orders the runs so that no run before middle has a larger key than a run from middle on. It is Hoare's
// quickselect with the median of three as pivot. After too many bad pivots it sorts, so that no sequence of runs takes
// quadratic time.
func halve(runs []int32, middle int, key func(int32) float64) {
	for tries := 2 * bits.Len(uint(len(runs))); len(runs) > 1; tries-- {
		if tries == 0 {
			slices.SortFunc(runs, func(a, b int32) int { return cmp.Compare(key(a), key(b)) })
			return
		}
		a, b, c := key(runs[0]), key(runs[len(runs)/2]), key(runs[len(runs)-1])
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := 0, len(runs)-1 // no key before i is above the pivot, and no key after j is below it
		for i <= j {
			for key(runs[i]) < pivot {
				i++
			}
			for key(runs[j]) > pivot {
				j--
			}
			if i <= j {
				runs[i], runs[j] = runs[j], runs[i]
				i++
				j--
			}
		}
		switch {
		case middle <= j:
			runs = runs[:j+1]
		case middle >= i:
			runs, middle = runs[i:], middle-i
		default:
			return
		}
	}
}

// searchTree collects in h the runs around x in a node of the tree, which holds the runs lo to hi. It leaves out the runs
// that were replaced since the tree was built.
func (k *Regressor) searchTree(h *nearest, x []float64, node, lo, hi int) {
	t := &k.tree
	if hi-lo <= leafRuns {
		for i := lo; i < hi; i++ {
			distance := squaredDistance(x, t.x[i*len(x):], k.inverse)
			if h.wants(distance) && !k.replaced(int(t.at[i])) {
				h.add(near{distance, k.y[t.at[i]]})
			}
		}
		return
	}
	middle := lo + (hi-lo)/2
	left, right := t.toBox(2*node+1, x, k.inverse), t.toBox(2*node+2, x, k.inverse)
	if left <= right && h.wants(left) {
		k.searchTree(h, x, 2*node+1, lo, middle)
	}
	if h.wants(right) {
		k.searchTree(h, x, 2*node+2, middle, hi)
	}
	if left > right && h.wants(left) {
		k.searchTree(h, x, 2*node+1, lo, middle)
	}
}

// toBox returns the squared distance from x to the box of a node. It is 0 inside the box.
func (t *tree) toBox(node int, x, inverse []float64) (sum float64) {
	least, largest := t.box(node, len(x))
	inverse = inverse[:len(x)]
	for i, v := range x {
		var difference float64
		if v < least[i] {
			difference = (v - least[i]) * inverse[i]
		} else if v > largest[i] {
			difference = (v - largest[i]) * inverse[i]
		}
		sum += float64(difference * difference)
	}
	return sum
}
