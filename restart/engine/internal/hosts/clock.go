package hosts

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/num"
)

// Clock is how far a host's clock is off, as far as its own reports show: nothing is heard before it has happened, and
// nothing happens to an attempt before it was asked for. Either bounds the offset from one side. As long as 0 lies
// between the bounds the clock is taken to be right, and else as wrong as the nearer bound says. So a right clock is
// never corrected, and a wrong one to within the shortest delay seen. The zero value knows nothing.
type Clock struct {
	least, most time.Duration // of what it shows more than the caller's
	told        bool
}

// Tell takes what the clock showed at a moment that, by the caller's, lies between two others; the zero time does not
// bound it. What contradicts all before it stands in its place: the clock was set.
func (c *Clock) Tell(shown, after, before time.Time) {
	least, most := num.MinDuration, time.Duration(math.MaxInt64)
	if !before.IsZero() {
		least = shown.Sub(before)
	}
	if !after.IsZero() {
		most = shown.Sub(after)
	}
	switch {
	case least > most: // the moment is none
	case c.told && max(least, c.least) <= min(most, c.most):
		c.least, c.most = max(least, c.least), min(most, c.most)
	default:
		*c = Clock{least: least, most: most, told: true}
	}
}

// Offset is what the clock shows more than the caller's; 0 if that may be.
func (c *Clock) Offset() time.Duration {
	if !c.told {
		return 0
	}
	return min(max(0, c.least), c.most)
}

// Clock returns that of a host, or of those that are not known.
func (s *Set) Clock(i int) *Clock {
	if i == Nowhere {
		return &s.unknown
	}
	return &s.list[i].clock
}

// ForgetClocks forgets how far the clocks are off: the caller's own was set.
func (s *Set) ForgetClocks() {
	s.unknown = Clock{}
	for i := range s.list {
		s.list[i].clock = Clock{}
	}
}
