// Package des has the two basic parts of a discrete-event simulation: a queue of events, and random numbers that do
// not depend on the order of the calls.
package des

import (
	"math"
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

// Queue returns events in order: by time, then by kind, then in the order of Push, or by ID for PushByID. The zero value is an empty queue.
//
// The events of the near future are in a heap. Later events are in a calendar: days of equal length, with their
// events in no order. A day is sorted into the heap when it comes. A single heap of all events would be slower,
// because it would not fit into the cache of the processor.
//
// Push and Pop take O(1) amortised time if the density of events changes slowly, because the length of a day follows
// the density. They take O(log n) time in any case. They allocate only if the queue becomes larger than ever before,
// or if the calendar is rebuilt.
type Queue struct {
	near heap // the events before the next day, or all events if there is no calendar
	far  heap // the events after the last day of the calendar
	seq  uint64
	n    int

	days  []int32 // for each day, the index of its first event in nodes, negative if it has none; the length is a power of two
	today int     // index of the next day in days
	dawn  time.Duration
	shift uint // a day has a length of 1<<shift
	held  int  // number of events in days
	nodes []node
	free  int32

	// The next two fields measure whether the days are too long or too short.
	since time.Duration
	pops  int
	work  int // number of Pops, and of days without events, since then
}

// node is an event of a day, and the index of the next event of the same day or of the next free node.
type node struct {
	Event
	next int32
}

const (
	none      = -1
	leastDays = 256 // number of events from which the queue has a calendar
	perDay    = 16  // events in a day, on average
)

// Len returns the number of events in the queue.
func (q *Queue) Len() int { return q.n }

// Push adds an event.
func (q *Queue) Push(at time.Duration, kind uint8, id int32, life uint32) {
	q.seq++
	q.n++
	q.put(Event{At: at, order: uint64(kind)<<56 | q.seq, ID: id, Life: life})
}

// PushByID adds an event that comes before the events of its instant and kind that have larger IDs. All events of a kind
// must be pushed in this way, or none.
func (q *Queue) PushByID(at time.Duration, kind uint8, id int32) {
	q.n++
	q.put(Event{At: at, order: uint64(kind)<<56 | uint64(id), ID: id})
}

func (q *Queue) put(e Event) {
	switch {
	case len(q.days) == 0 || e.At < q.dawn:
		q.near.push(e)
	case uint64(e.At-q.dawn)>>q.shift < uint64(len(q.days)):
		day := (q.today + int(uint64(e.At-q.dawn)>>q.shift)) & (len(q.days) - 1)
		at := q.free
		if at != none {
			q.free = q.nodes[at].next
		} else {
			at = int32(len(q.nodes))
			q.nodes = append(q.nodes, node{})
		}
		q.nodes[at] = node{e, q.days[day]}
		q.days[day] = at
		q.held++
	default:
		q.far.push(e)
	}
}

// Next returns the time of the first event; false if the queue is empty.
func (q *Queue) Next() (time.Duration, bool) {
	if len(q.near) == 0 && !q.turn() {
		return 0, false
	}
	return q.near[0].At, true
}

// Pop removes and returns the first event; false if the queue is empty.
func (q *Queue) Pop() (Event, bool) {
	if len(q.near) == 0 && !q.turn() {
		return Event{}, false
	}
	e := q.near.pop()
	q.n--
	q.pops++
	if q.work++; q.work >= max(4*leastDays, q.n) {
		q.adapt(e.At)
	}
	return e, true
}

// turn goes to the next day that has events, and moves its events into near; false if no day has events.
func (q *Queue) turn() bool {
	for len(q.near) == 0 {
		if q.held == 0 {
			if len(q.far) == 0 {
				return false
			}
			q.dawn = q.far[0].At
		}
		for len(q.far) > 0 && uint64(q.far[0].At-q.dawn)>>q.shift < uint64(len(q.days)) {
			q.put(q.far.pop())
		}
		at := q.days[q.today]
		q.days[q.today] = none
		q.today = (q.today + 1) & (len(q.days) - 1)
		if day := time.Duration(1) << q.shift; q.dawn < math.MaxInt64-day {
			q.dawn += day
		} else {
			q.dawn = math.MaxInt64
		}
		q.work++
		for at != none {
			q.near.push(q.nodes[at].Event)
			q.held--
			q.nodes[at].next, q.free, at = q.free, at, q.nodes[at].next
		}
	}
	return true
}

// adapt rebuilds the calendar if its days are half as long or twice as long as they should be, or if there are too
// few or too many days.
func (q *Queue) adapt(now time.Duration) {
	gap := uint64(max(now-q.since, 0)) / uint64(max(q.pops, 1))
	q.since, q.pops, q.work = now, 0, 0
	shift, days := uint(min(bits.Len64(gap*perDay), 40)), 0
	if q.n >= leastDays {
		days = 1 << bits.Len(uint(q.n/2))
	}
	if days > 0 && gap == 0 || 2*days >= len(q.days) && days <= 2*len(q.days) && shift+1 >= q.shift && shift <= q.shift+1 {
		return
	}
	all := make([]Event, 0, q.n)
	all = append(append(all, q.near...), q.far...)
	for _, at := range q.days {
		for ; at != none; at = q.nodes[at].next {
			all = append(all, q.nodes[at].Event)
		}
	}
	q.near, q.far, q.nodes, q.free, q.held = q.near[:0], q.far[:0], q.nodes[:0], none, 0
	q.days, q.today, q.dawn, q.shift = make([]int32, days), 0, now, shift
	for i := range q.days {
		q.days[i] = none
	}
	for _, e := range all {
		q.put(e)
	}
}
