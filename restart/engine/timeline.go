package engine

import (
	"time"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
)

// timeline converts all times to the caller's clock. Its time never goes back, even if the caller's clock is set
// back. The timeline begins with the earliest event of the first call, which may be long before the call itself.
type timeline struct {
	clock clock.Clock
	// The time at which the timeline begins.
	epoch time.Time
	// The time of the previous call. No event is given an earlier time.
	earliest time.Duration
	// The time of this call, as it is passed to the tracker.
	now time.Time
	// The time of this call, as the caller gave it.
	wall time.Time
}

// tick sets the time of a call. It reports whether the caller's clock was set back. If now is zero, the time of the
// previous call is used. At the first call, past is the time from the earliest reported event until now.
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

// when converts a time t that the engine has reported to the timeline, and corrects it by the offset of the clock
// that reported it. If t is zero, or is later than limit, when returns limit. If t is before the previous call, when
// returns the time of the previous call.
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

// asSaid converts a time of the timeline to the caller's clock, as this clock is set now.
func (l *timeline) asSaid(d time.Duration) time.Time { return l.wall.Add(d - l.clock.Since) }

// inRange moves a time into the years 1 to 9999, because a snapshot can contain only such times. A time before the
// year 1 becomes the zero time.
func inRange(t time.Time) time.Time {
	// The number of seconds from 1970 to the end of the year 9999.
	const last = 253402300799
	switch {
	case t.Unix() > last:
		return time.Unix(last, 0)
	case t.Before(time.Time{}):
		return time.Time{}
	}
	return t
}

// timing contains measurements of how often the engine is polled and how fast it carries out requests.
type timing struct {
	// The time at which attempts were last seen to run.
	lastRunning time.Time
	// The usual time between two polls that see running attempts; at least the interval.
	period time.Duration
	// After an outage of the engine: the time until which silent attempts are not judged.
	blindUntil time.Time
	// The recent longest time from a Submit until the attempt was seen.
	submitLag time.Duration
	// The longest of the recent times from a Cancel to the poll that showed the end of the attempt.
	cancelLag time.Duration
	// The time at which a list last contained an attempt that has not ended.
	lastListed time.Duration
	// The time at which the phase last looked for missing attempts.
	lastChecked time.Duration
}

// notePoll records that attempts were seen to run, and updates the usual time between two such polls. A gap means
// that the engine or the caller was away. After a gap no attempt seems to have reported progress. So nothing is
// decided about attempts until they have had time to report again.
func (s *timing) notePoll(now time.Time, interval time.Duration) {
	if s.isGap(now) {
		s.blindUntil = now.Add(afterGap * s.period)
	}
	// Slow polling soon becomes the usual time. But a single gap must not hide the next gap, so its length is limited
	// to gap times the usual time.
	if !s.lastRunning.IsZero() {
		since := min(max(now.Sub(s.lastRunning), 0), min(s.period, num.MaxDuration/gap)*gap)
		s.period = max(s.period+(since-s.period)/4, interval)
	}
	s.lastRunning = now
}

// isBlind reports whether an attempt that has not reported progress must not be judged now, because of an outage.
func (s *timing) isBlind(now time.Time) bool { return now.Before(s.blindUntil) || s.isGap(now) }

// isGap reports an outage: no attempt was seen to run for so long that the engine must have been cut off.
func (s *timing) isGap(now time.Time) bool {
	return !s.lastRunning.IsZero() && now.Sub(s.lastRunning)/gap > s.period
}

const (
	// An outage is a time in which no poll sees running attempts, if it is more than gap times the usual time between
	// such polls.
	gap = 5
	// After an outage, nothing is decided for afterGap times the usual time between polls.
	afterGap = 2
)

// retryAfter returns how long to wait before a request is repeated. Argument times is the number of repetitions so
// far. The lag is the longest time that the engine recently took to carry out such a request. The first wait is twice
// the lag, and at least twice the usual time between polls. Each repetition doubles the wait.
func (s *timing) retryAfter(op Op, times uint8) time.Duration {
	lag := s.submitLag
	if op == Cancel {
		lag = s.cancelLag
	}
	return num.Times(max(lag, s.period), float64(int(2)<<min(times, maxDoublings)))
}

// maxDoublings is how often a wait may double. So a wait becomes at most 64 times as long.
const maxDoublings = 6

// raiseLag updates longest, the longest lag of recent requests, with the lag of a new request. A longer lag replaces
// the value at once. Otherwise the value falls by at most a sixteenth.
func raiseLag(longest *time.Duration, lag time.Duration) { *longest = max(lag, *longest-*longest/16) }

// maxMissing returns how long an attempt may be missing from the engine's lists: Config.Trace, or its default.
func (s *timing) maxMissing(c *Config) time.Duration {
	if c.Trace > 0 {
		return c.Trace
	}
	return max(num.Times(c.Interval, traceIntervals), num.Times(s.submitLag, 8))
}
