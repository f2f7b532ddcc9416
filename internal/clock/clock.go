// Package clock is the house's one rule for a host's clock: it may step back, and time goes on from where it steps to.
package clock

import (
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Clock turns a host's instants into the time since the first of them, which never falls. Where an instant is before
// the one before it, no time has passed, and the next is measured from there, as in golang.org/x/time/rate: nothing
// waits until the host's clock has caught up, and nothing ages by time that is given twice. A step forward cannot be
// told from time that has passed, and counts.
//
// The zero time.Time is what a host has that has read no clock. It is counted as a step and changes nothing else: no
// time passes by it, nor by the next instant as if from the year 1.
//
// The zero value has seen no instant. The fields are the whole state, for a snapshot.
type Clock struct {
	// Last is the instant told last.
	Last time.Time
	// Since is the time since the first one.
	Since time.Duration
	// Steps is how often an instant was before the one before it, or the zero time.Time.
	Steps int
	// Begun says that there was an instant.
	Begun bool
}

// At takes the host's instant and returns the time since the first one. It saturates. O(1), no allocation.
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
