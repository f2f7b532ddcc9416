package clone

import (
	"time"

	"github.com/straggler-go/straggler/internal/clock"
)

// period is a time span of constant length that repeats. The first period begins at the first instant that the
// host passes.
type period struct {
	clock clock.Clock
	start time.Duration // start of the current period
}

// roll returns how many periods of the given length have ended since the start of the current period. Then it
// moves the start forward by these periods.
func (p *period) roll(now time.Time, length time.Duration) int64 {
	n := int64((p.clock.At(now) - p.start) / length)
	p.start += time.Duration(n) * length
	return n
}
