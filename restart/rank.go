package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// ranks names three attempts of a task by their indexes in [Task].Attempts.
type ranks struct {
	// The attempt that has run for the longest time. Of several, the one with the most work behind it.
	oldest int
	// The attempt with the most work behind it. Of several, the oldest.
	furthest int
	// The attempt that needs the least remaining time (t_rem); -1 if no t_rem is known.
	fastest int
}

// rank finds the three in a list that is not empty. Of equal attempts, the one with the lowest index is taken.
func rank(attempts []Attempt) (r ranks) {
	r.fastest = -1
	for i := range attempts {
		a := &attempts[i]
		if older(a, &attempts[r.oldest]) {
			r.oldest = i
		}
		if b := &attempts[r.furthest]; a.far() > b.far() || a.far() == b.far() && a.Elapsed > b.Elapsed {
			r.furthest = i
		}
		if a.Remaining != estimate.Unknown && (r.fastest < 0 || a.Remaining < attempts[r.fastest].Remaining) {
			r.fastest = i
		}
	}
	return r
}

// older reports whether attempt a has run for longer than attempt b. If both have the same age, it reports whether a
// has more work behind it.
func older(a, b *Attempt) bool {
	return a.Elapsed > b.Elapsed || a.Elapsed == b.Elapsed && a.far() > b.far()
}

// far returns how much of the task's work is behind the attempt.
func (c *Attempt) far() float64 { return c.Resumed + c.Done }

// spares reports whether [Limits] protects attempt i, one of several.
func (r ranks) spares(i int) bool { return i == r.oldest || i == r.furthest }

// mayKill reports whether [Limits] allow the kill of attempt i, one of several attempts, of a task that may have most
// restarts.
func (r ranks) mayKill(i int, t *Task, most int) bool {
	return !r.spares(i) || i == r.oldest && r.furthest != r.oldest && !t.NoRestart && max(t.Restarts, 0) < most
}

// fastestOther returns the attempt with the least remaining time, not including attempt i. It looks only at attempts
// whose remaining time is given as a distribution (Attempt.Left), and returns nil if there is none.
func fastestOther(attempts []Attempt, i int) (other *Attempt) {
	for j := range attempts {
		if o := &attempts[j]; j != i && o.Left != nil && (other == nil || o.Remaining < other.Remaining) {
			other = o
		}
	}
	return other
}

// settling returns the reason CopyTooRecent if the task's last copy began or was killed less than a pause ago, or if one of
// several attempts is younger than that; otherwise NoReason.
func (t *Task) settling(pause time.Duration) (Reason, Comparison) {
	since := t.SinceCopy
	if since <= 0 || since >= pause {
		if since = pause; len(t.Attempts) > 1 {
			for i := range t.Attempts {
				since = min(since, t.Attempts[i].Elapsed)
			}
		}
	}
	if since >= pause {
		return NoReason, Comparison{}
	}
	return CopyTooRecent, Compare(SinceCopySeconds, since.Seconds(), pause.Seconds())
}
