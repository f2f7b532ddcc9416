// Package des has the two basic parts of a discrete-event simulation: a queue of events, and random numbers that do
// not depend on the order of the calls.
package des

import (
	"math/bits"
	"time"
)

// Event is an event at an instant. The simulation gives a meaning to its kind, ID and life. Usually the kind is what
// happens, and the ID is the number of an object. The life tells apart the objects that had this number one after the
// other, so that the simulation can ignore an event of an object that is gone.
type Event struct {
	At    time.Duration
	order uint64 // the kind in the highest byte, then the order of Push
	ID    int32
	Life  uint32
}

// Kind returns the kind that was given to Push.
func (e Event) Kind() uint8 { return uint8(e.order >> 56) }

func (e *Event) before(f *Event) bool { return e.isBefore(f) != 0 }

// isBefore returns 1 if e is before f, and otherwise 0. It is the borrow of a subtraction of two 128-bit numbers,
// with the time in the upper half. A branch would be slower here, because a processor cannot predict which child of a
// node is first.
func (e *Event) isBefore(f *Event) uint64 {
	const sign = 1 << 63
	_, borrow := bits.Sub64(e.order, f.order, 0)
	_, borrow = bits.Sub64(uint64(e.At)^sign, uint64(f.At)^sign, borrow)
	return borrow
}

// Queue returns events in order: by time, then by kind, then in the order of Push, or by ID for PushByID. The zero value is
// an empty queue. Push and Pop take O(log n), and allocate only if the queue becomes larger than ever before.
type Queue struct {
	events heap
	seq    uint64
}

// Len returns the number of events in the queue.
func (q *Queue) Len() int { return len(q.events) }

// Push adds an event.
func (q *Queue) Push(at time.Duration, kind uint8, id int32, life uint32) {
	q.seq++
	q.events.push(Event{at, uint64(kind)<<56 | q.seq, id, life})
}

// PushByID adds an event that comes before the events of its instant and kind that have larger IDs. All events of a kind
// must be pushed in this way, or none.
func (q *Queue) PushByID(at time.Duration, kind uint8, id int32) {
	q.events.push(Event{At: at, order: uint64(kind)<<56 | uint64(id), ID: id})
}

// Next returns the time of the first event; false if the queue is empty.
func (q *Queue) Next() (time.Duration, bool) {
	if len(q.events) == 0 {
		return 0, false
	}
	return q.events[0].At, true
}

// Pop removes and returns the first event; false if the queue is empty.
func (q *Queue) Pop() (Event, bool) {
	if len(q.events) == 0 {
		return Event{}, false
	}
	return q.events.pop(), true
}
