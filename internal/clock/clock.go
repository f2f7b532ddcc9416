// Package clock is the library's rule for a host's clock: the clock may step back, and time continues from the
// earlier instant.
package clock

import (
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Clock turns a host's instants into the time since the first instant. The result never falls. If the clock steps
// back, no time has passed, and the next instant is measured from the earlier instant. Package
// golang.org/x/time/rate has the same rule.
//
// For example, the instants 12:00:00, 12:00:05, 11:00:00 and 11:00:01 give 0 s, 5 s, 5 s and 6 s. So nothing waits
// until the host's clock has caught up, and no time counts twice. A step forward looks like time that has passed,
// and counts.
//
// The zero time.Time stands for a host that has read no clock. A zero instant counts as a step and changes nothing
// else: no time passes, and the next instant is not measured from the year 1.
//
// The zero value has seen no instant. The fields are the whole state, for a snapshot.
type Clock struct {
	// Last is the latest instant passed to At.
	Last time.Time
	// Since is the time since the first instant.
	Since time.Duration
	// Steps is how many instants were before the instant before them, or were the zero time.Time.
	Steps int
	// Begun says that At has had an instant.
	Begun bool
}

// At records the host's instant and returns the time since the first instant. The time saturates. O(1), no allocation.
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
