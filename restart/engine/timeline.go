package engine

import (
	"time"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// timeline places what an engine dates on one line of time that never falls: that of the calls, by the caller's clock.
// It begins with the first thing that is told at the first call, and so before that if the engine has a past.
type timeline struct {
	clock    clock.Clock
	epoch    time.Time     // where the line begins
	earliest time.Duration // where nothing more may be placed before: the call before this one
	now      time.Time     // of this call, as the tracker is told
	wall     time.Time     // of this call, as the caller said
}

// tick takes the time of a call, and returns whether the clock was set back. Instead of the zero time.Time it is that
// of the call before. The first call says how far the past goes back that it tells of.
func (l *timeline) tick(now time.Time, past time.Duration) (set bool) {
	now = inRange(now)
	if !l.clock.Begun {
		l.epoch = now.Add(-past)
		if past > 0 {
			l.clock.At(l.epoch)
		}
	}
	l.earliest = l.clock.Since
	steps := l.clock.Steps
	since := l.clock.At(now)
	l.wall, l.now = l.clock.Last, l.epoch.Add(since)
	return l.clock.Steps > steps
}

// when returns the time of the line at which something was true that the engine dates by a clock of the given offset,
// or limit if it does not say, or says a later time. What was true before the last call counts as true at that one.
func (l *timeline) when(t time.Time, offset, limit time.Duration) time.Duration {
	if t.IsZero() {
		return limit
	}
	ago := num.Add(l.wall.Sub(t), offset)
	if ago <= 0 {
		return limit
	}
	return min(max(num.Sub(l.clock.Since, ago), l.earliest), limit)
}

// asSaid returns a time of the line by the caller's clock, as it is now.
func (l *timeline) asSaid(d time.Duration) time.Time { return l.wall.Add(d - l.clock.Since) }

// inRange moves an instant that no snapshot holds to the nearest year that one does; what is before the year 1 is none.
func inRange(t time.Time) time.Time {
	const last = 253402300799 // seconds from 1970 to the end of the year 9999
	switch {
	case t.Unix() > last:
		return time.Unix(last, 0)
	case t.Before(time.Time{}):
		return time.Time{}
	}
	return t
}

// sight is how regularly the engine is seen.
type sight struct {
	seen    time.Time     // when attempts were last seen to run
	usual   time.Duration // from one time to the next, at least the interval
	blind   time.Time     // until when silence says nothing
	arrival time.Duration // the longest that a submitted attempt took lately until it was seen
	parting time.Duration // the longest that a cancelled attempt took lately until it was seen to have ended
	listed  time.Duration // when a list last showed anything that has not ended
	checked time.Duration // when it was last seen to that nothing is missing
}

// look notes when attempts were last seen to run, and how long it usually takes from one time to the next. After a gap,
// in which the engine or the machine was away, all attempts look silent; nothing is decided about them until they have had
// the time to report.
func (s *sight) look(now time.Time, interval time.Duration) {
	if s.tooLong(now) {
		s.blind = now.Add(afterGap * s.usual)
	}
	if !s.seen.IsZero() { // a slow poller is no gap for long, but one gap is not to hide the next
		since := min(max(now.Sub(s.seen), 0), min(s.usual, num.MaxDuration/gap)*gap)
		s.usual = max(s.usual+(since-s.usual)/4, interval)
	}
	s.seen = now
}

// isBlind reports whether the silence of attempts means nothing.
func (s *sight) isBlind(now time.Time) bool { return now.Before(s.blind) || s.tooLong(now) }

func (s *sight) tooLong(now time.Time) bool { return !s.seen.IsZero() && now.Sub(s.seen)/gap > s.usual }

// In usual times between polls.
const (
	gap      = 5
	afterGap = 2
)

// patience is for how long a request is not repeated that has been made a number of times: at first twice as long as it
// took lately, and at least two looks.
func (s *sight) patience(op Op, times uint8) time.Duration {
	lag := s.arrival
	if op == Cancel {
		lag = s.parting
	}
	return num.Times(max(lag, s.usual), float64(int(2)<<min(times, maxDoublings)))
}

const maxDoublings = 6

// took takes how long a request took into the longest of late.
func took(longest *time.Duration, lag time.Duration) { *longest = max(lag, *longest-*longest/16) }

// trace is for how long an attempt may be missing.
func (s *sight) trace(c *Config) time.Duration {
	if c.Trace > 0 {
		return c.Trace
	}
	return max(num.Times(c.Interval, traceIntervals), num.Times(s.arrival, 8))
}
