package clone

import (
	"time"

	"github.com/straggler-go/straggler/internal/clock"
)

// period is a stretch of time that repeats. The first begins with the first instant.
type period struct {
	clock clock.Clock
	start time.Duration // of the present one
}

// roll returns how many periods of the given length have ended since the start of the present one, and moves that on by
// as many.
func (p *period) roll(now time.Time, length time.Duration) int64 {
	n := int64((p.clock.At(now) - p.start) / length)
	p.start += time.Duration(n) * length
	return n
}
