package tracker

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
)

// These are choices: a daily job is remembered for a month, and one phase of many tasks does not outweigh the others.
const (
	usualKeep   = 30 * 24 * time.Hour
	mostLessons = 256 // that are kept: the lives of 16 phases of many tasks
	mostTaught  = 16  // tasks whose lives a phase teaches at least, if it has as many; fewer than twice that
	mostKin     = 32  // lives of others that a phase of which no task has ended knows; one less for each that has
	halfLives   = 32  // lives after which a trial counts half: a kind that trials have failed of is tried again
)

// Experience is what phases of a kind teach each other: how their progress runs, how long their copies took, and what
// came of their restarts and copies. So a phase of one task is not without any knowledge, and what a guess may cost that
// is wrong is bounded for the kind: in all of its phases together no more trials are under way than in one.
//
// Who is of a kind, says the host: the same stage of the same job, day after day, or the tasks of one queue. Where works
// are known a copy's time is taken by its work, and otherwise as it is. The newest count: 32 lives of copies, those of
// some 16 tasks of each phase, and 16 trials. A phase knows the lives of others until tasks of its own have ended, of
// which each takes the place of one: from 16 of its own on these outweigh, and from 32 on they stand alone. Trials of
// its own count beside those of others.
//
// The zero value has seen nothing, and keeps what it sees for 30 days. It takes some 20 kB once it has learned. An event
// of a phase costs O(1) more. Phases that share one are told of their events in one order; told the same in the same
// order, they decide the same. Not safe for concurrent use.
type Experience struct {
	config survival.WindowConfig // with a Keep of 0 for usualKeep
	clock  clock.Clock
	shape  survival.Shape
	seen   merge.List[lesson]
	stakes total // what trials may cost that have not come out, of the phases of this process; in no snapshot

	// Of what was seen:
	known     []merge.Observation[lesson]
	lost, won float64
	cost      time.Duration
}

// lesson is what an event has taught.
type lesson struct {
	about   about
	seconds float64 // that a copy ran; or what trials have cost, less what they have saved
	work    float64 // of the copy
	lost    float64 // how many trials were lost, and won
	won     float64
}

// about is what a lesson is about.
type about uint8

const (
	ofTrials about = 0
	ofLife   about = 1 << (iota - 1)
	ended          // with success; otherwise it was killed
	sized          // its work is known
	abouts
)

// NewExperience returns an experience that has seen nothing, with the choices of a window of times, or an error that
// names the field that is out of range.
func NewExperience(c survival.WindowConfig) (*Experience, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Experience{config: c}, nil
}

func (x *Experience) choices() merge.Choices {
	c := x.config.Effective()
	return merge.Choices{Origin: c.Origin, Skew: c.MaxSkew, Keep: check.Or(c.Keep, usualKeep)}
}

// learn takes a lesson in. O(1).
func (x *Experience) learn(now time.Time, l lesson) {
	at := x.choices().At(&x.clock, now)
	x.seen.Add(x.choices(), at, l)
	x.sum(at)
}

// sum finds out what all that is known comes to.
func (x *Experience) sum(at time.Duration) {
	lives, cost := 0.0, 0.0
	x.lost, x.won = 0, 0
	x.known = x.seen.Newest(lessons(), x.choices(), at, mostLessons)
	for i := len(x.known) - 1; i >= 0; i-- {
		l := &x.known[i].Fact
		if l.about&ofLife > 0 {
			lives++
			continue
		}
		left := 1 / (1 + float64((lives/halfLives)*(lives/halfLives))) // no fused multiply-add: one answer everywhere
		cost += float64(left * l.seconds)
		x.lost += float64(left * l.lost)
		x.won += float64(left * l.won)
	}
	x.cost, _ = num.Duration(math.Abs(cost))
	if cost < 0 {
		x.cost = -x.cost
	}
}

// appendKin appends the newest lives, the newest first; sized says which kind of works they should have.
func (x *Experience) appendKin(dst []life, bySize bool) []life {
	for i := len(x.known) - 1; i >= 0 && len(dst) < mostKin; i-- {
		if l := &x.known[i].Fact; l.about&ofLife > 0 && (l.about&sized > 0) == bySize {
			dst = append(dst, life{float32(l.seconds), l.about&ended > 0, l.work})
		}
	}
	return dst
}
