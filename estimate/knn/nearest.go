package knn

import "math"

// near is a run found by a search: its squared distance and its time.
type near struct{ distance, seconds float64 }

// nearest collects runs of a search: either the k nearest, as a heap with the farthest at its root, or all runs up
// to a distance. Among equally distant runs any choice gives the same prediction, because the farthest run has no
// weight.
type nearest struct {
	runs  []near
	k     int     // 0: all runs up to limit
	limit float64 // squared distance; a run must be nearer, or at most as far if k is 0
}

func (h *nearest) reset(k int)           { h.runs, h.k, h.limit = h.runs[:0], k, math.Inf(1) }
func (h *nearest) collect(limit float64) { h.runs, h.k, h.limit = h.runs[:0], 0, limit }

// wants reports whether a run at this squared distance would be collected.
func (h *nearest) wants(distance float64) bool {
	return distance < h.limit || h.k == 0 && distance == h.limit
}

// worst returns the squared distance of the farthest run.
func (h *nearest) worst() float64 { return h.runs[0].distance }

// add collects a run. The caller has checked wants.
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

// search collects the runs around x in h.
func (k *Regressor) search(h *nearest, x []float64) {
	for at := range k.y {
		distance := squaredDistance(x, k.x[at*len(x):], k.inverse)
		if h.wants(distance) {
			h.add(near{distance, k.y[at]})
		}
	}
}

// squaredDistance scales the difference of each parameter before it squares the difference.
func squaredDistance(x, other, inverse []float64) (sum float64) {
	other, inverse = other[:len(x)], inverse[:len(x)]
	for i, v := range x {
		difference := (v - other[i]) * inverse[i]
		sum += float64(difference * difference) // no fused multiply-add: one answer everywhere
	}
	return sum
}
