package delay

import (
	"time"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// recentSlots is about how many local slots a spacing rests on.
const recentSlots = 20

// Spacing learns t of [Gain] for one job: the mean time between slots on nodes that have its data [FAIR §4.3.1]. Slots
// that come at random are rated by the time watched over the number seen, the time since the last one included: so t
// rises while none comes, as it does towards the end of a job, when few nodes have data that is still to be read. About
// the latest twenty slots count. The paper takes t as known.
//
// The zero value is ready for use. A clock that steps back adds nothing to the time watched, which goes on from there.
// Not safe for concurrent use; one per job.
type Spacing struct {
	clock   clock.Clock
	last    time.Duration // when the latest slot was seen
	watched float64       // seconds up to then, faded
	slots   float64       // faded
}

// Watch begins to watch, or goes on: call it when the job begins to want slots. Without it, watching begins with the
// first slot. O(1), no allocation.
func (s *Spacing) Watch(now time.Time) { s.clock.At(now) }

// Local records that a slot on a node with the job's data was offered, taken or not. O(1), no allocation.
func (s *Spacing) Local(now time.Time) {
	first := !s.clock.Begun
	at := s.clock.At(now)
	if first {
		return // nothing was watched before it
	}
	const fade = 1 - 1.0/recentSlots
	s.watched = float64(s.watched*fade) + (at - s.last).Seconds()
	s.slots = float64(s.slots*fade) + 1
	s.last = at
}

// Mean returns t, and whether it is known: not before a slot was seen after watching began. Until then t is at least
// the time watched. O(1), no allocation.
func (s *Spacing) Mean(now time.Time) (t time.Duration, known bool) {
	if !s.clock.Begun {
		return 0, false
	}
	since := (s.clock.At(now) - s.last).Seconds()
	if s.slots == 0 {
		t, _ = num.Duration(since)
		return t, false
	}
	t, _ = num.Duration((s.watched + since) / s.slots)
	return t, true
}
