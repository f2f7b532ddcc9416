package replicate

import "time"

// clock turns the host's times into the time since the first one. It never goes back.
type clock struct {
	first   time.Time
	latest  time.Duration
	started bool
}

func (c *clock) since(now time.Time) time.Duration {
	if !c.started {
		c.first, c.started = now, true
	}
	c.latest = max(c.latest, now.Sub(c.first)) // saturates
	return c.latest
}
