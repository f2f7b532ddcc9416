package clone

import (
	"math"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// The first byte of a snapshot, which is the saved state of an Estimator or of a Blacklist.
const (
	estimatorVersion = 2
	blacklistVersion = 4
)

// maxCount is the largest number of tasks that a snapshot may contain for a machine. So no sum of two such numbers
// overflows.
const maxCount = math.MaxInt32 / 2

func (p *period) state(c *snapshot.Codec) {
	c.Clock(&p.clock)
	c.Span(&p.start)
	c.Check(p.start <= p.clock.Since, "begins its period out of time")
}

func (e *Estimator) state(c *snapshot.Codec) {
	e.config = e.Config()
	c.Span(&e.config.Period)
	c.Share(&e.config.Slow)
	c.Number(&e.config.MinTasks, 1, math.MaxInt)
	c.Check(e.config.Period > 0 && e.config.Slow > 0, "has no period, or no share")
	e.period.state(c)
	c.Number(&e.tasks, 0, math.MaxInt/2)
	c.Number(&e.slow, 0, e.tasks)
	c.Bool(&e.known)
	c.Share(&e.p)
}

// MarshalBinary and AppendBinary return the state of e, including its configuration. The error is always nil.
// UnmarshalBinary replaces the state of e by the state in data. Then e gives the same answers as the Estimator
// that was saved. If data is not a result of MarshalBinary, UnmarshalBinary returns an error and does not change
// e.
func (e *Estimator) MarshalBinary() ([]byte, error) { return e.AppendBinary(nil) }
func (e *Estimator) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, estimatorVersion, e.state)
}
func (e *Estimator) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, estimatorVersion, e, (*Estimator).state)
}

func (b *Blacklist) state(c *snapshot.Codec) {
	b.config = b.Config()
	c.Span(&b.config.Window)
	c.Share(&b.config.Recent)
	c.Share(&b.config.Threshold)
	c.Share(&b.config.MaxShare)
	c.Number(&b.config.MinTasks, 1, math.MaxInt)
	c.Check(b.config == b.Config() && b.config.Threshold < 1, "has a configuration out of range")
	c.Valid(true, b.config)
	if !c.OK() {
		return
	}
	b.period.state(c)
	snapshot.List(c, &b.machine, func(m *health) {
		c.Number(&m.tasks, 0, maxCount)
		c.Number(&m.slow, 0, m.tasks)
		c.Bool(&m.seen)
		if m.seen {
			c.Share(&m.predicted)
			c.Bool(&m.banned)
		}
	})
	if c.Reading() {
		b.worst = make([]int32, 0, len(b.machine))
	}
}

// MarshalBinary and AppendBinary return the state of b, including its configuration. The error is always nil. The
// result has 3 to 15 bytes for each machine. UnmarshalBinary replaces the state of b by the state in data. Then b
// gives the same answers as the Blacklist that was saved. If data is not a result of MarshalBinary,
// UnmarshalBinary returns an error and does not change b. Cost: O(m) for m machines.
func (b *Blacklist) MarshalBinary() ([]byte, error) { return b.AppendBinary(nil) }
func (b *Blacklist) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, blacklistVersion, b.state)
}
func (b *Blacklist) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, blacklistVersion, b, (*Blacklist).state)
}
