// Package des holds what a discrete-event simulation stands on: a queue of events, and random numbers that do not depend
// on the order in which they are asked for.
package des

import (
	"math"
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
// they were pushed. The zero value is empty.
//
// It is a heap of what comes soon, and before that a calendar: days of equal length, whose events lie in no order
// until their day comes. A heap of all would be as large as the simulation, and each step down it a look at memory
// that the processor's cache does not hold. Push and Pop take O(1) amortised where events come about as densely for a
// while, which the length of the days follows, and O(log n) in any case; they allocate only when the queue grows
// beyond its largest size so far, or the calendar is made anew.
type Queue struct {
	near heap // before dawn, or all if there is no calendar
	far  heap // beyond the calendar
	seq  uint64
	n    int

	days  []int32 // the first event of each, in nodes; none if there is none. A power of two of them
	today int     // the next day to come, in days
	dawn  time.Duration
	shift uint // a day is 1<<shift long
	held  int  // events in days
	nodes []node
	free  int32

	// To see whether the days are too long or too short:
	since time.Duration
	pops  int
	work  int // pops, and days without an event
}

// node is an event of a day, and the next of that day, or of the free ones.
type node struct {
	Event
	next int32
}

const (
	none      = -1
	leastDays = 256 // events from which on there is a calendar
	perDay    = 16  // events
)

// Len returns the number of events that are left.
func (q *Queue) Len() int { return q.n }

// Push adds an event.
func (q *Queue) Push(at time.Duration, kind uint8, id int32, life uint32) {
	q.seq++
	q.n++
	q.put(Event{At: at, order: uint64(kind)<<56 | q.seq, ID: id, Life: life})
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

// Next returns the time of the first event; false if there is none.
func (q *Queue) Next() (time.Duration, bool) {
	if len(q.near) == 0 && !q.turn() {
		return 0, false
	}
	return q.near[0].At, true
}

// Pop removes and returns the first event; false if there is none.
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

// turn turns the days over until one has events, and puts these into near; false if there are none.
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

// adapt makes the calendar anew, if its days are half as long as they should be or twice as long, or too few or too many.
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
