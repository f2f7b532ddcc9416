package engine

import (
	"time"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// timeline puts all times on one line by the caller's clock; time on this line never goes back. The line begins
// with the first event of the first call, which may be long before that call.
type timeline struct {
	clock    clock.Clock
	epoch    time.Time     // where the line begins
	earliest time.Duration // time of the call before: no event is placed earlier
	now      time.Time     // time of this call, as the tracker is told
	wall     time.Time     // time of this call, as the caller said
}

// tick sets the time of a call and returns whether the caller's clock was set back. A zero now counts as the
// time of the call before. At the first call, past says how far the reports go back.
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

// when converts a time that the engine reported to the line, corrected by the offset of its clock. when returns
// limit for the zero time and for a later time. A time before the last call counts as the time of the last
// call.
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

// asSaid converts a time of the line to the caller's clock, as that clock is set now.
func (l *timeline) asSaid(d time.Duration) time.Time { return l.wall.Add(d - l.clock.Since) }

// inRange moves a time into the years 1 to 9999, which a snapshot can hold. A time before the year 1 becomes
// the zero time.
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

// timing holds how often the engine is polled and how fast it carries requests out.
type timing struct {
	lastRunning time.Time     // when attempts were last seen to run
	period      time.Duration // usual time between two polls that see running attempts; at least the interval
	blindUntil  time.Time     // after an outage: until when silent attempts are not judged
	submitLag   time.Duration // recent longest time from Submit until the attempt was seen
	cancelLag   time.Duration // recent longest time from Cancel until the attempt was seen to have ended
	lastListed  time.Duration // when a list last showed an attempt that has not ended
	lastChecked time.Duration // when missing attempts were last looked for
}

// notePoll notes that attempts were seen to run, and updates the usual time between two such polls. A gap means
// that the engine or the caller was away, so all attempts look silent. Until they have had time to report
// again, nothing is decided about them.
func (s *timing) notePoll(now time.Time, interval time.Duration) {
	if s.isGap(now) {
		s.blindUntil = now.Add(afterGap * s.period)
	}
	if !s.lastRunning.IsZero() { // slow polling soon becomes usual, but one gap must not hide the next
		since := min(max(now.Sub(s.lastRunning), 0), min(s.period, num.MaxDuration/gap)*gap)
		s.period = max(s.period+(since-s.period)/4, interval)
	}
	s.lastRunning = now
}

// isBlind reports whether silence says nothing about the attempts now.
func (s *timing) isBlind(now time.Time) bool { return now.Before(s.blindUntil) || s.isGap(now) }

// isGap reports whether the time since attempts were last seen to run is an outage.
func (s *timing) isGap(now time.Time) bool {
	return !s.lastRunning.IsZero() && now.Sub(s.lastRunning)/gap > s.period
}

const (
	gap      = 5 // x usual time between polls; a longer time without running attempts is an outage
	afterGap = 2 // x usual time between polls; for so long nothing is decided after an outage
)

// retryAfter returns how long to wait before the next repetition of a request; times is the number of
// repetitions so far. The wait starts at twice the recent lag, and at least two usual polls. The wait doubles
// with each repetition.
func (s *timing) retryAfter(op Op, times uint8) time.Duration {
	lag := s.submitLag
	if op == Cancel {
		lag = s.cancelLag
	}
	return num.Times(max(lag, s.period), float64(int(2)<<min(times, maxDoublings)))
}

// maxDoublings bounds the doublings of a wait: at most 64 times as long.
const maxDoublings = 6

// raiseLag updates a recent longest lag: it rises to the new lag at once and falls by at most a sixteenth.
func raiseLag(longest *time.Duration, lag time.Duration) { *longest = max(lag, *longest-*longest/16) }

// maxMissing returns how long an attempt may be missing: Config.Trace or its default.
func (s *timing) maxMissing(c *Config) time.Duration {
	if c.Trace > 0 {
		return c.Trace
	}
	return max(num.Times(c.Interval, traceIntervals), num.Times(s.submitLag, 8))
}
