package des

// heap is a heap in which each node has four children. It has half as many levels as a binary heap, and the children
// of a node are neighbours in memory.
type heap []Event

func (h *heap) push(e Event) {
	*h = append(*h, e)
	all, i := *h, len(*h)-1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&all[parent]) {
			break
		}
		all[i] = all[parent]
		i = parent
	}
	all[i] = e
}

// pop removes and returns the first event. The heap must not be empty.
func (h *heap) pop() Event {
	all := *h
	first, n := all[0], len(all)-1
	last := all[n]
	*h = all[:n]
	if n > 0 {
		(*h).sink(last)
	}
	return first
}

// sink places e at the root, and moves it down to its place.
func (h heap) sink(e Event) {
	i, n := 0, len(h)
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for c := child + 1; c < min(child+4, n); c++ {
			least += (c - least) & -int(h[c].isBefore(&h[least]))
		}
		if !h[least].before(&e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
}
