// Package des holds what a discrete-event simulation stands on: a queue of events, and random numbers that do not depend
// on the order in which they are asked for.
package des

import (
	"math/bits"
	"time"
)

// Event is something that happens at an instant. What Kind, ID and Life mean is the simulation's affair: usually what
// happens, to which of its objects, and to which of those that have been in its place, so that an event whose object is
// gone can be told from one that counts.
type Event struct {
	At    time.Duration
	order uint64 // kind, then the order of Push
	ID    int32
	Life  uint32
}

// Kind returns the kind that the event was pushed with.
func (e Event) Kind() uint8 { return uint8(e.order >> 56) }

func (e *Event) before(f *Event) bool { return e.isBefore(f) != 0 }

// isBefore is 1 or 0: the borrow of a subtraction of 128 bits, the time first. Which of a node's children is the first is
// anybody's guess, and a branch that is guessed wrong takes longer than the comparison.
func (e *Event) isBefore(f *Event) uint64 {
	const sign = 1 << 63
	_, borrow := bits.Sub64(e.order, f.order, 0)
	_, borrow = bits.Sub64(uint64(e.At)^sign, uint64(f.At)^sign, borrow)
	return borrow
}

// Queue holds events and gives them back in order: by time, at one instant by kind, and of one kind in the order in which
// they were pushed. It is a heap with four children a node: half the levels of a binary one, and the children of a node
// lie together. The zero value is empty. Push and Pop take O(log n) and allocate only when the queue grows beyond its
// largest size so far.
type Queue struct {
	heap []Event
	seq  uint64
}

// Len returns the number of events that are left.
func (q *Queue) Len() int { return len(q.heap) }

// Push adds an event.
func (q *Queue) Push(at time.Duration, kind uint8, id int32, life uint32) {
	q.seq++
	e := Event{At: at, order: uint64(kind)<<56 | q.seq, ID: id, Life: life}
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = e
}

// Next returns the time of the first event; false if there is none.
func (q *Queue) Next() (time.Duration, bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].At, true
}

// Pop removes and returns the first event; false if there is none.
func (q *Queue) Pop() (Event, bool) {
	if len(q.heap) == 0 {
		return Event{}, false
	}
	first := q.heap[0]
	n := len(q.heap) - 1
	last := q.heap[n]
	q.heap = q.heap[:n]
	if n > 0 {
		q.sink(last)
	}
	return first, true
}

// sink puts e where the root was, and down from there as far as it belongs.
func (q *Queue) sink(e Event) {
	i, n := 0, len(q.heap)
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		if child+4 <= n {
			c := q.heap[child : child+4 : child+4]
			a := c[1].isBefore(&c[0])
			b := 2 + c[3].isBefore(&c[2])
			least += int(a + (b-a)&-c[b&3].isBefore(&c[a&3]))
		} else {
			for c := child + 1; c < n; c++ {
				least += (c - least) & -int(q.heap[c].isBefore(&q.heap[least]))
			}
		}
		if !q.heap[least].before(&e) {
			break
		}
		q.heap[i] = q.heap[least]
		i = least
	}
	q.heap[i] = e
}
