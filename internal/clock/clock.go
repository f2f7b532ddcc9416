// Package clock contains the library's rule for a host's clock: if the clock is set back, time continues from the
// earlier instant.
package clock

import (
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Clock converts a host's instants to the time since the first instant. The result never becomes smaller. If the
// host's clock is set back, the result stays the same, and the next instant is compared with the earlier instant.
// Package golang.org/x/time/rate has the same rule.
//
// For example, the instants 12:00:00, 12:00:05, 11:00:00 and 11:00:01 give 0 s, 5 s, 5 s and 6 s. So nothing waits
// until the host's clock has reached 12:00:05 again, and no time is included twice. If the host's clock is set
// forward, Clock cannot know it, and treats the difference as time that has passed.
//
// The zero time.Time stands for a host that has not read its clock. A zero time is included in Steps and changes
// nothing else: no time passes, and the next instant is not compared with the year 1.
//
// The zero value of Clock has had no instant. The fields are the whole state, so a snapshot needs no others.
type Clock struct {
	// Last is the latest instant passed to At.
	Last time.Time
	// Since is the time since the first instant.
	Since time.Duration
	// Steps is the number of instants that were earlier than the instant before them, or were the zero time.Time.
	Steps int
	// Begun says that At was called with an instant that is not the zero time.Time.
	Begun bool
}

// At records the host's instant and returns the time since the first instant. If that time is too long for a
// time.Duration, At returns the longest time.Duration. O(1), no allocation.
func (c *Clock) At(now time.Time) time.Duration {
	if now.IsZero() {
		c.Steps++
		return c.Since
	}
	if !c.Begun {
		c.Begun, c.Last = true, now
		return c.Since
	}
	if passed := now.Sub(c.Last); passed >= 0 {
		c.Since = num.Add(c.Since, passed)
	} else {
		c.Steps++
	}
	c.Last = now
	return c.Since
}
