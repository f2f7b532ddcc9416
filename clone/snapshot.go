package clone

import (
	"math"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// maxCount is the largest number of tasks that a snapshot may contain for a machine. So no sum of two such numbers
// overflows.
const maxCount = math.MaxInt32 / 2

func (p *period) state(c *snapshot.Codec) {
	c.Field(1, "clock").Clock(&p.clock)
	c.Field(2, "start").Span(&p.start)
	c.Check(p.start <= p.clock.Since, "begins its period out of time")
}

func (e *Estimator) state(c *snapshot.Codec) {
	e.config = e.Config()
	c.Field(1, "config").Fields(func() {
		c.Field(1, "period").Span(&e.config.Period)
		c.Field(2, "slow").Share(&e.config.Slow)
		c.Field(3, "min-tasks").Number(&e.config.MinTasks, 1, math.MaxInt)
	})
	c.Check(e.config.Period > 0 && e.config.Slow > 0, "has no period, or no share")
	c.Field(2, "period").Fields(func() { e.period.state(c) })
	c.Field(3, "tasks").Number(&e.tasks, 0, math.MaxInt/2)
	c.Field(4, "slow").Number(&e.slow, 0, e.tasks)
	c.Field(5, "known").Bool(&e.known)
	c.Field(6, "probability").Share(&e.p)
}

// MarshalBinary and AppendBinary return the state of e, including its configuration. The error is always nil.
// UnmarshalBinary replaces the state of e by the state in data. Then e gives the same answers as the Estimator
// that was saved. If data is not a result of MarshalBinary, UnmarshalBinary returns an error and does not change
// e.
func (e *Estimator) MarshalBinary() ([]byte, error) { return e.AppendBinary(nil) }
func (e *Estimator) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, e.state)
}
func (e *Estimator) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, snapshot.Version, e, (*Estimator).state)
}

func (b *Blacklist) state(c *snapshot.Codec) {
	b.config = b.Config()
	c.Field(1, "config").Fields(func() {
		c.Field(1, "window").Span(&b.config.Window)
		c.Field(2, "recent").Share(&b.config.Recent)
		c.Field(3, "threshold").Share(&b.config.Threshold)
		c.Field(4, "max-share").Share(&b.config.MaxShare)
		c.Field(5, "min-tasks").Number(&b.config.MinTasks, 1, math.MaxInt)
	})
	c.Check(b.config == b.Config() && b.config.Threshold < 1, "has a configuration out of range")
	c.Valid(true, b.config)
	if !c.OK() {
		return
	}
	c.Field(2, "period").Fields(func() { b.period.state(c) })
	snapshot.List(c.Field(3, "machines"), &b.machine, func(m *health) {
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
	return snapshot.Append(dst, snapshot.Version, b.state)
}
func (b *Blacklist) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, snapshot.Version, b, (*Blacklist).state)
}
