package laxity

import "cmp"

// entry is a waiting job in a heap. The entry with the smallest value in the field first comes first; if these values
// are equal, the field second decides. Both fields are instants, so they do not change while time passes.
type entry struct {
	first, second int64
	seq           uint64 // number of the job in the order of arrival
	ticket        int32  // identifies the job; index into Queue.jobs
}

// compare returns a negative number if e comes before o: by first, then by second, then by the order of arrival.
func (e entry) compare(o entry) int {
	return cmp.Or(cmp.Compare(e.first, o.first), cmp.Compare(e.second, o.second), cmp.Compare(e.seq, o.seq))
}

// heap is a binary heap of waiting jobs. It writes the position of each job in the heap to jobs[ticket].position.
type heap struct{ entries []entry }

// push adds an entry. Cost: O(log n) for n entries.
func (h *heap) push(e entry, jobs []queued) {
	h.entries = append(h.entries, e)
	h.up(len(h.entries)-1, jobs)
}

// remove removes the entry at position i. Cost: O(log n) for n entries.
func (h *heap) remove(i int, jobs []queued) {
	last := len(h.entries) - 1
	moved := h.entries[last]
	h.entries = h.entries[:last]
	if i < last {
		h.entries[i] = moved
		h.fix(i, jobs)
	}
}

// fix restores the order of the heap after the entry at position i has changed.
func (h *heap) fix(i int, jobs []queued) {
	if !h.up(i, jobs) {
		h.down(i, jobs)
	}
}

// up moves the entry at position i towards the root until the order of the heap is right. It returns true if the
// entry moved.
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

// down moves the entry at position i away from the root until the order of the heap is right.
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

// set writes an entry to position i, and records this position in jobs.
func (h *heap) set(i int, e entry, jobs []queued) {
	h.entries[i] = e
	jobs[e.ticket].position = int32(i)
}
