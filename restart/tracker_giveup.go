package restart

import "time"

// GiveUp records that a task that waits will not be run again, because it has failed too often, say. It is no longer
// counted as waiting, which keeps some policies from making copies, nor is it started by [Tracker.Next]. It never counts
// as finished. A task that does not wait, because it has a copy that has not ended, has finished or was given up before,
// is not given up, which is counted as ignored. O(1), no allocation.
func (t *Tracker) GiveUp(now time.Time, task int) {
	t.tick(now)
	s := t.task(task)
	switch {
	case s == nil:
	case s.flags&waits == 0:
		t.ledger.Ignored++
	default:
		t.leaveQueue(s)
		s.flags |= givenUp
	}
}
