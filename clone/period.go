package clone

import "time"

// period is a stretch of time that repeats.
type period struct {
	start   time.Time
	started bool
}

// roll returns how many periods of the given length have ended since the start of the present one, and moves that on by
// as many. The first call, and a clock that steps back behind the start, set the start to now.
func (p *period) roll(now time.Time, length time.Duration) int64 {
	if !p.started || now.Before(p.start) {
		p.start, p.started = now, true
		return 0
	}
	n := int64(now.Sub(p.start) / length)
	p.start = p.start.Add(time.Duration(n) * length)
	return n
}
