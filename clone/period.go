package clone

import (
	"time"

	"github.com/straggler-go/straggler/internal/clock"
)

// period is a repeated time span of constant length. The first period begins with the first time that the host reports.
type period struct {
	clock clock.Clock
	start time.Duration // start of the current period
}

// roll returns the number of periods of the given length that have ended since the start of the current period. roll
// also moves the start on by this number of periods.
func (p *period) roll(now time.Time, length time.Duration) int64 {
	n := int64((p.clock.At(now) - p.start) / length)
	p.start += time.Duration(n) * length
	return n
}
