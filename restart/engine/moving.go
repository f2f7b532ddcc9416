package engine

import (
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/num"
)

// Standing is why nothing moves. The names and values are stable.
type Standing uint8

const (
	// Moving: it does, or has not been still for long enough to say.
	Moving Standing = iota
	// NoRoom: tasks wait, and there is no slot for any: no host is up, or all slots are taken by other phases.
	NoRoom
	// NotBegun: attempts were submitted, and none of them has begun: look at the engine's queue, and at its workers.
	NotBegun
	// Silent: attempts run, and none has reported or ended.
	Silent
	// NotGone: all that is left was cancelled, and does not end.
	NotGone
)

var standingNames = [...]string{"moving", "no-room", "not-begun", "silent", "not-gone"}

// String returns the name.
func (s Standing) String() string { return enum.Name(standingNames[:], s) }

// MarshalText returns the name; an error for a value that does not exist.
func (s Standing) MarshalText() ([]byte, error) { return enum.Text(standingNames[:], s) }

// UnmarshalText sets the value by its name.
func (s *Standing) UnmarshalText(text []byte) error { return enum.Parse(standingNames[:], text, s) }

// Movement says whether anything moves in a phase. It is a verdict to alert on, and no action: what is slow is decided
// about task by task, but where all stands still there is nothing to compare with.
type Movement struct {
	// Why is Moving, or why nothing moves.
	Why Standing
	// Still is for how long nothing has begun, reported or ended. Usual is the longest for which that can be explained
	// by the phase's own past: three times its longest pause, or what its longest task is expected to take, whichever
	// is longer.
	Still, Usual time.Duration
}

// moves is what is known of how a phase moves.
type moves struct {
	last    time.Duration // when something last began, reported or ended
	longest time.Duration // from one time to the next
	decided time.Duration // when all was last decided about; never if it was not
	any     bool
}

// move takes note that something has begun, reported or ended.
func (m *moves) move(now time.Duration) {
	if m.any {
		m.longest = max(m.longest, now-m.last)
	}
	m.last, m.any = now, true
}

// pauses are how many of its longest pauses a phase may be still.
const pauses = 3

// Moving says whether anything has moved lately, as of the last call of Poll or Push. O(n) if not.
func (p *Phase) Moving() Movement {
	p.ready()
	m := Movement{Still: p.time.clock.Since - p.moves.last}
	m.Usual = max(num.Times(max(p.moves.longest, p.sight.usual, p.sight.arrival), pauses), p.config.Interval*pauses)
	if r := p.tracker.UnitTimes(); r.Known() {
		longest, _ := num.Duration(r.Quantile(1) * p.config.largest())
		m.Usual = max(m.Usual, longest)
	}
	if p.Done() || m.Still <= m.Usual {
		return m
	}
	switch facts := p.tracker.Phase(); {
	case p.running() > 0:
		m.Why = Silent
	case p.book.live > 0:
		m.Why = NotBegun
	case p.book.dying > 0 && facts.FreeSlots <= 0:
		m.Why = NotGone
	default:
		m.Why = NoRoom
	}
	return m
}

// running returns how many attempts have begun that go on.
func (p *Phase) running() (n int) {
	for i := range p.book.tasks {
		for _, a := range p.book.tasks[i].live {
			if a.begun {
				n++
			}
		}
	}
	return n
}

// largest returns the work of the largest task.
func (c *Config) largest() float64 {
	largest := 0.0
	for _, w := range c.Work {
		largest = max(largest, w)
	}
	if c.Work == nil {
		return 1
	}
	return largest
}
