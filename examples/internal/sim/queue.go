package sim

import "time"

// kind orders events of the same instant: what ends comes before what begins, and reports see both.
type kind uint8

const (
	ends   kind = iota // a copy ends: success or failure
	opens              // a slot becomes free
	wakes              // a failed task is back in the queue
	report             // a copy reports
)

type event struct {
	at   time.Duration
	seq  uint32 // ties in the order of creation, but for slots, which open in their order
	id   int32  // place of a copy, slot, or task
	life uint32 // which copy in that place
	kind kind
}

func (e event) before(f event) bool {
	if e.at != f.at {
		return e.at < f.at
	}
	if e.kind != f.kind {
		return e.kind < f.kind
	}
	if e.kind == opens {
		return e.id < f.id
	}
	return e.seq < f.seq
}

// queue holds events in a binary heap, except for reports: they all come one interval after they were asked for, so
// they are asked for in the order in which they come, and a ring is enough.
type queue struct {
	heap    []event
	reports []event // ring; len is a power of two
	head, n int
	seq     uint32
}

func (q *queue) push(at time.Duration, k kind, id int32, life uint32) {
	q.seq++
	q.heap = append(q.heap, event{at: at, seq: q.seq, id: id, life: life, kind: k})
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !q.heap[i].before(q.heap[parent]) {
			return
		}
		q.heap[i], q.heap[parent] = q.heap[parent], q.heap[i]
		i = parent
	}
}

func (q *queue) pushReport(at time.Duration, id int32, life uint32) {
	if q.n == len(q.reports) {
		larger := make([]event, max(2*len(q.reports), 16))
		for i := range q.n {
			larger[i] = q.reports[(q.head+i)&(len(q.reports)-1)]
		}
		q.reports, q.head = larger, 0
	}
	q.seq++
	q.reports[(q.head+q.n)&(len(q.reports)-1)] = event{at: at, seq: q.seq, id: id, life: life, kind: report}
	q.n++
}

// pop returns the next event; false if there is none.
func (q *queue) pop() (event, bool) {
	switch {
	case q.n > 0 && (len(q.heap) == 0 || q.reports[q.head].before(q.heap[0])):
		e := q.reports[q.head]
		q.head = (q.head + 1) & (len(q.reports) - 1)
		q.n--
		return e, true
	case len(q.heap) == 0:
		return event{}, false
	}
	first := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	q.sink()
	return first, true
}

func (q *queue) sink() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(q.heap) {
			return
		}
		if child+1 < len(q.heap) && q.heap[child+1].before(q.heap[child]) {
			child++
		}
		if !q.heap[child].before(q.heap[i]) {
			return
		}
		q.heap[i], q.heap[child] = q.heap[child], q.heap[i]
		i = child
	}
}
