package sim

import "time"

// kind is the kind of an event. Of events at the same instant, an end is handled before a beginning, and a report
// last.
type kind uint8

const (
	ends   kind = iota // an attempt ends, with success or failure
	opens              // a slot becomes free
	wakes              // a failed task is back in the queue
	report             // an attempt reports
)

type event struct {
	at   time.Duration
	seq  uint32 // order of creation, for events at the same instant; for a slot that opens, its index
	id   int32  // number of an attempt's place, a slot or a task
	life uint32 // which of the attempts in this place
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

// queue returns events in order. Reports are in a ring: each report comes one interval after it was asked for, so the
// order of asking is the order of the reports. All other events are in a binary heap.
type queue struct {
	heap    []event
	reports []event // the ring; its length is a power of two
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
