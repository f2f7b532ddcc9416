package knn

import "math"

// near describes one past run that the search has found. It holds the square of the distance between the run and the
// searched task, and the run's time.
type near struct{ distance, seconds float64 }

// nearest collects the runs that a search finds: either the k nearest runs, or all runs up to a given distance. The
// k nearest runs are a heap with the farthest run at its root. If two runs are equally far away and only one of
// them fits, either may be kept, because the farthest run has no weight in a prediction.
type nearest struct {
	runs  []near
	k     int     // number of runs to collect; 0 means all runs up to limit
	limit float64 // squared distance: a run must be nearer than this, or at most as far if k is 0
}

func (h *nearest) reset(k int)           { h.runs, h.k, h.limit = h.runs[:0], k, math.Inf(1) }
func (h *nearest) collect(limit float64) { h.runs, h.k, h.limit = h.runs[:0], 0, limit }

// wants reports whether a run at this squared distance should be collected.
func (h *nearest) wants(distance float64) bool {
	return distance < h.limit || h.k == 0 && distance == h.limit
}

// worst returns the squared distance of the farthest run that was collected.
func (h *nearest) worst() float64 { return h.runs[0].distance }

// add collects a run. If there are already k runs, the new run replaces the farthest run. The caller must have
// checked with wants that the run should be collected.
func (h *nearest) add(run near) {
	if h.k == 0 || len(h.runs) < h.k {
		h.runs = append(h.runs, run)
		if h.k > 0 {
			h.up(len(h.runs) - 1)
		}
	} else {
		h.runs[0] = run
		h.down()
	}
	if len(h.runs) == h.k {
		h.limit = h.runs[0].distance
	}
}

func (h *nearest) up(i int) {
	run := h.runs[i]
	for i > 0 && h.runs[(i-1)/2].distance < run.distance {
		h.runs[i] = h.runs[(i-1)/2]
		i = (i - 1) / 2
	}
	h.runs[i] = run
}

func (h *nearest) down() {
	runs := h.runs
	run, i := runs[0], 0
	for child := 1; child < len(runs); child = 2*i + 1 {
		if child+1 < len(runs) && runs[child+1].distance > runs[child].distance {
			child++
		}
		if runs[child].distance <= run.distance {
			break
		}
		runs[i] = runs[child]
		i = child
	}
	runs[i] = run
}

// search collects the runs around x in h: the runs of the tree, and by a scan the runs that are newer than the tree.
func (k *Regressor) search(h *nearest, x []float64) {
	newer := len(k.y)
	if len(k.tree.at) > 0 {
		newer = k.added - k.indexed
		k.searchTree(h, x, 0, 0, len(k.tree.at))
	}
	for i := range newer {
		at := k.oldest - 1 - i // the newest run stands before the oldest
		if at < 0 {
			at += len(k.y)
		}
		distance := squaredDistance(x, k.x[at*len(x):], k.inverse)
		if h.wants(distance) {
			h.add(near{distance, k.y[at]})
		}
	}
}

// replaced reports whether the run at a position is newer than the tree, which then holds an older run there.
func (k *Regressor) replaced(at int) bool {
	age := k.oldest - 1 - at // 0 for the newest run
	if age < 0 {
		age += len(k.y)
	}
	return age < k.added-k.indexed
}

// squaredDistance returns the square of the distance between two vectors of parameters. The difference of each
// parameter is multiplied by its entry in inverse before it is squared.
func squaredDistance(x, other, inverse []float64) (sum float64) {
	other, inverse = other[:len(x)], inverse[:len(x)]
	for i, v := range x {
		difference := (v - other[i]) * inverse[i]
		// The conversion prevents a fused multiply-add, so that all processors give the same result.
		sum += float64(difference * difference)
	}
	return sum
}
