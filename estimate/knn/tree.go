package knn

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

const (
	// treeRuns is the number of runs at which a search through a tree becomes worthwhile. With 2000 runs and k =
	// 100 neighbours, the tree halves the time of a query. Each Observe becomes slower because the tree must be
	// built again from time to time. That cost is, on average, half of the time that a query saves.
	treeRuns = 2048
	// A node with at most leafRuns runs is a leaf: a search computes the distance to each of its runs.
	leafRuns = 16
)

// knnTree is a k-d tree of the runs that the Regressor had when the tree was built. A node is a range of the slice
// points. A node with more than leafRuns points has two children, which are the two halves of its range. The node's
// points are divided by the parameter that varies most among them. Node i has the children 2i+1 and 2i+2.
//
// Each node stores a box: the smallest and the largest value of each parameter among its points. The distance to a
// box is computed with the same operations as the distance to a point. So the distance to a box is never more than
// the distance to a point in the box, even with rounding. Therefore a search in the tree finds exactly the runs
// that a search through all runs finds.
type knnTree struct {
	dimensions int
	points     []point
	x          []float64 // the parameters of the points, in the order of points
	// for each node the smallest value of each parameter, then the largest value of each parameter
	boxes  []float64
	source []float64 // the parameters of all runs; used only by build
}

// point is a run in the tree. The number of a run is the number of runs that were added to the Regressor before it.
type point struct {
	seconds float64
	number  int
	at      int // index of the run in source
}

func (t *knnTree) built() bool { return len(t.points) > 0 }

// build makes the tree from the runs in x and y. These slices are a ring buffer: the oldest run is at the index
// oldest, and the run after the last index is at index 0. The argument number is the number of the oldest run.
func (t *knnTree) build(x, y []float64, oldest, number int, inverse []float64) {
	t.source = x
	t.points = t.points[:0]
	for i := range y {
		at := (oldest + i) % len(y)
		t.points = append(t.points, point{y[at], number + i, at})
	}
	leaves := (len(y) + leafRuns - 1) / leafRuns
	nodes := 2<<bits.Len(uint(leaves-1)) - 1
	t.boxes = slices.Grow(t.boxes[:0], nodes*2*t.dimensions)[:nodes*2*t.dimensions]
	t.split(0, t.points, inverse)
	t.x = t.x[:0]
	for _, p := range t.points {
		t.x = append(t.x, x[p.at*t.dimensions:(p.at+1)*t.dimensions]...)
	}
	t.source = nil
}

// split computes the box of a node. If the node has children, split orders the points so that each child gets its
// half, and splits the children in the same way.
func (t *knnTree) split(node int, points []point, inverse []float64) {
	d := t.dimensions
	box := t.box(node)
	for i := range d {
		box[i], box[d+i] = math.Inf(1), math.Inf(-1)
	}
	for _, p := range points {
		for i, v := range t.source[p.at*d : (p.at+1)*d] {
			if v < box[i] {
				box[i] = v
			}
			if v > box[d+i] {
				box[d+i] = v
			}
		}
	}
	if len(points) <= leafRuns {
		return
	}
	widest, width := 0, -1.0
	for i := range d {
		if w := (box[d+i] - box[i]) * inverse[i]; w > width {
			widest, width = i, w
		}
	}
	middle := len(points) / 2
	t.selectMiddle(points, middle, widest)
	t.split(2*node+1, points[:middle], inverse)
	t.split(2*node+2, points[middle:], inverse)
}

func (t *knnTree) box(node int) []float64 {
	return t.boxes[node*2*t.dimensions : (node+1)*2*t.dimensions]
}

// selectMiddle orders the points by one parameter, but only so far that the first n points are no larger than the
// others. The method is quickselect: it divides the points into smaller and larger ones by the median of three
// points. If such divisions are bad too often, selectMiddle sorts the remaining points.
func (t *knnTree) selectMiddle(points []point, n, parameter int) {
	key := func(p point) float64 { return t.source[p.at*t.dimensions+parameter] }
	for tries := 2 * bits.Len(uint(len(points))); len(points) > 8; tries-- {
		if tries == 0 {
			break
		}
		a, b, c := key(points[0]), key(points[len(points)/2]), key(points[len(points)-1])
		pivot := max(min(a, b), min(max(a, b), c))
		// points before the index less are below pivot, and points at or after the index more are above pivot
		less, more := 0, len(points)
		for i := 0; i < more; {
			switch v := key(points[i]); {
			case v < pivot:
				points[i], points[less] = points[less], points[i]
				less++
				i++
			case v > pivot:
				more--
				points[i], points[more] = points[more], points[i]
			default:
				i++
			}
		}
		switch {
		case n < less:
			points = points[:less]
		case n >= more:
			points, n = points[more:], n-more
		default:
			return
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(key(a), key(b)) })
}

// search collects the points around x in h. It ignores points whose number is less than since, because the
// Regressor no longer remembers these runs.
func (t *knnTree) search(h *nearest, x, inverse []float64, since int) {
	t.visit(h, x, inverse, since, 0, 0, len(t.points))
}

func (t *knnTree) visit(h *nearest, x, inverse []float64, since, node, lo, hi int) {
	if hi-lo <= leafRuns {
		for i := lo; i < hi; i++ {
			distance := squaredDistance(x, t.x[i*len(x):], inverse)
			if h.wants(distance) && t.points[i].number >= since {
				h.add(near{distance, t.points[i].seconds})
			}
		}
		return
	}
	middle := lo + (hi-lo)/2
	left, right := t.toBox(2*node+1, x, inverse), t.toBox(2*node+2, x, inverse)
	if left <= right && h.wants(left) {
		t.visit(h, x, inverse, since, 2*node+1, lo, middle)
	}
	if h.wants(right) {
		t.visit(h, x, inverse, since, 2*node+2, middle, hi)
	}
	if left > right && h.wants(left) {
		t.visit(h, x, inverse, since, 2*node+1, lo, middle)
	}
}

// toBox returns the squared distance from x to the nearest point of a node's box. The distance is 0 if x is inside
// the box.
func (t *knnTree) toBox(node int, x, inverse []float64) (sum float64) {
	box := t.box(node)
	least, largest := box[:len(x)], box[len(x):][:len(x)]
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
