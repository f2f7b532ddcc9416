package laxity

import "cmp"

// entry is a job in a heap. Its keys are instants, so they do not change while time passes.
type entry struct {
	first, second int64
	seq           uint64 // order of arrival
	ticket        int32
}

// compare orders entries by their keys, and then by their arrival.
func (e entry) compare(o entry) int {
	return cmp.Or(cmp.Compare(e.first, o.first), cmp.Compare(e.second, o.second), cmp.Compare(e.seq, o.seq))
}

// heap is a binary heap that records the position of each ticket in jobs.
type heap struct{ entries []entry }

// push adds an entry. O(log n).
func (h *heap) push(e entry, jobs []queued) {
	h.entries = append(h.entries, e)
	h.up(len(h.entries)-1, jobs)
}

// remove removes the entry at i. O(log n).
func (h *heap) remove(i int, jobs []queued) {
	last := len(h.entries) - 1
	moved := h.entries[last]
	h.entries = h.entries[:last]
	if i < last {
		h.entries[i] = moved
		h.fix(i, jobs)
	}
}

// fix restores the order after a change of the entry at i.
func (h *heap) fix(i int, jobs []queued) {
	if !h.up(i, jobs) {
		h.down(i, jobs)
	}
}

// up moves the entry at i towards the root until the order is right. up reports whether the entry moved.
func (h *heap) up(i int, jobs []queued) bool {
	e, from := h.entries[i], i
	for i > 0 {
		parent := (i - 1) / 2
		if e.compare(h.entries[parent]) >= 0 {
			break
		}
		h.set(i, h.entries[parent], jobs)
		i = parent
	}
	h.set(i, e, jobs)
	return i != from
}

// down moves the entry at i away from the root until the order is right.
func (h *heap) down(i int, jobs []queued) {
	e := h.entries[i]
	for {
		child := 2*i + 1
		if child >= len(h.entries) {
			break
		}
		if right := child + 1; right < len(h.entries) && h.entries[right].compare(h.entries[child]) < 0 {
			child = right
		}
		if e.compare(h.entries[child]) <= 0 {
			break
		}
		h.set(i, h.entries[child], jobs)
		i = child
	}
	h.set(i, e, jobs)
}

// set writes the entry at i and records its position.
func (h *heap) set(i int, e entry, jobs []queued) {
	h.entries[i] = e
	jobs[e.ticket].position = int32(i)
}
