package workload

import (
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/examples/internal/des"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// place assigns the attempts of each executor, or host, to slots: as few slots as attempts ran at once. It records
// when a slot opens, how long it rests between attempts, and how long a failed task waited before it was back in the
// queue. A slot that ends its last attempt while tasks wait declines them. It closes if they are more than the
// other slots that are free and will take one.
func (b *phaseBuilder) place(attempts []recorded) {
	waits := newWaiting(attempts)
	groups := map[int32]*group{}
	var freed, rests []time.Duration // until when each of the phase's slots was in use by an attempt to be replayed
	var idle, used []time.Duration   // when a slot was freed that was used again later, and when that was
	var begun []time.Duration        // when each slot took its last attempt
	opened := time.Duration(0)       // when the last slot opened
	for i := range attempts {
		a := &attempts[i]
		g := groups[a.group]
		if g == nil {
			g = &group{}
			groups[a.group] = g
		}
		s := g.take(a.start, a.end)
		if a.loser {
			continue
		}
		if s.at < 0 {
			a.first = true
			s.at = len(b.phase.Slots)
			b.phase.Slots = append(b.phase.Slots, sim.Slot{Machine: int(a.host), Opens: a.start})
			freed, begun, opened = append(freed, 0), append(begun, 0), a.start
		} else {
			rest := a.start - freed[s.at]
			idle, used = append(idle, freed[s.at]), append(used, a.start)
			if a.index > 0 && a.previous >= freed[s.at] && !waits.other(freed[s.at], a.task) {
				rest, a.wait = 0, a.start-a.previous
			}
			place := &b.phase.Slots[s.at]
			place.Rests = append(place.Rests, rest)
			rests = append(rests, rest)
		}
		a.slot = s.at
		freed[s.at], begun[s.at] = a.end, a.start
	}
	slices.Sort(idle)
	slices.Sort(used)
	for at, end := range freed {
		n := waits.count(end)
		if n == 0 {
			continue
		}
		p := &b.phase.Slots[at]
		p.Declines, p.Last = true, end-1
		if n <= between(idle, used, end) {
			continue // other free slots took them
		}
		if p.Closes = max(end, 1); opened > end { // tasks waited for another slot, and not for this one
			p.Last = begun[at]
		}
	}
	b.phase.Rest = median(rests)
}

// slot is a slot: it ran one attempt at a time. at is the index among the slots of the phase; negative until an
// attempt to be replayed ran on it.
type slot struct {
	number int32 // in its group
	at     int
}

// group has the slots of an executor or a host that were in use at some time.
type group struct {
	slots []*slot
	busy  des.Queue // the ends of the attempts on the slots; of slots freed at the same time, the last is first
	free  []*slot   // the slot that was freed last is last
}

// take occupies the slot that was freed last, or a new slot. Attempts take slots in the order of their starts.
func (g *group) take(start, end time.Duration) *slot {
	for at, ok := g.busy.Next(); ok && at <= start; at, ok = g.busy.Next() {
		e, _ := g.busy.Pop()
		g.free = append(g.free, g.slots[math.MaxInt32-e.ID])
	}
	if len(g.free) == 0 {
		g.free = append(g.free, &slot{number: int32(len(g.slots)), at: -1})
		g.slots = append(g.slots, g.free[0])
	}
	s := g.free[len(g.free)-1]
	g.free = g.free[:len(g.free)-1]
	g.busy.PushByID(end, 0, math.MaxInt32-s.number)
	return s
}

// waiting answers how many tasks were in the queue at a time. A task in the queue has not started, or will start
// again after a failure.
type waiting struct {
	queued, started []time.Duration // times of all attempts, each list in ascending order
	again           map[int][]stay  // for each task with several attempts, its stays in the queue, in order
}

// stay is the time of a task in the queue.
type stay struct{ from, to time.Duration }

func newWaiting(attempts []recorded) *waiting {
	w := &waiting{again: map[int][]stay{}}
	for i := range attempts {
		if a := &attempts[i]; !a.loser && a.index > 0 {
			w.again[a.task] = nil
		}
	}
	for i := range attempts {
		a := &attempts[i]
		if a.loser {
			continue
		}
		s := stay{math.MinInt64, a.start}
		if a.index > 0 {
			s.from = a.previous
		}
		w.queued = append(w.queued, s.from)
		w.started = append(w.started, s.to)
		if stays, several := w.again[a.task]; several {
			w.again[a.task] = append(stays, s)
		}
	}
	slices.Sort(w.queued)
	slices.Sort(w.started)
	return w
}

func (w *waiting) count(at time.Duration) int { return between(w.queued, w.started, at) }

// between returns how many intervals contain a time. from and to are their edges, each list in ascending order. An interval contains
// its lower edge alone.
func between(from, to []time.Duration, at time.Duration) int {
	begun, _ := slices.BinarySearch(from, at+1)
	over, _ := slices.BinarySearch(to, at+1)
	return begun - over
}

// other reports whether another task was in the queue than the given task, which had several attempts.
func (w *waiting) other(at time.Duration, task int) bool {
	n := w.count(at)
	stays := w.again[task]
	i, _ := slices.BinarySearchFunc(stays, at, func(s stay, at time.Duration) int {
		if s.to <= at {
			return -1
		}
		return 1
	})
	if i < len(stays) && stays[i].from <= at {
		n--
	}
	return n > 0
}
