package replicate

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// maxCount limits each number of outputs in a snapshot, so that sums of such numbers do not overflow.
const maxCount = 1 << 56

// state writes all fields to a snapshot or reads them from it.
func (l *Losses) state(c *snapshot.Codec) {
	l.config = l.Config()
	c.Field(1, "config").Fields(func() {
		c.Field(1, "window").Span(&l.config.Window)
		c.Field(2, "prior").Real(&l.config.Prior)
		c.Field(3, "weight").Real(&l.config.Weight)
	})
	if c.Valid(l.config == l.config.Effective(), l.config); !c.OK() {
		return
	}
	c.Field(2, "clock").Clock(&l.clock)
	latest := int64(0)
	if c.OK() {
		latest = int64(l.clock.Since) / (int64(l.config.Window) / sixteenths)
	}
	l.cluster.state(c.Field(3, "cluster"), latest)
	snapshot.List(c.Field(4, "machines"), &l.machine, func(r *record) { r.state(c, latest) })
}

// state writes a record to a snapshot or reads it from it. latest is the number of the current sixteenth of the
// window. A record with a later sixteenth is an error.
func (r *record) state(c *snapshot.Codec, latest int64) {
	c.Number64(&r.latest, 0, math.MaxInt64)
	c.Check(r.latest <= latest, "holds outputs out of time")
	for i := range r.outputs {
		c.Count(&r.outputs[i])
		c.Count(&r.lost[i])
		c.Check(max(r.outputs[i], r.lost[i]) < maxCount, "counts too many outputs")
		if c.Reading() {
			r.sumOutputs += r.outputs[i]
			r.sumLost += r.lost[i]
		}
	}
}

// MarshalBinary and AppendBinary return a snapshot of the state and the configuration. A restored Losses gives the
// same answers as the original. The error is always nil. Both calls take O(m) for m machines, and a snapshot has
// about 40 bytes for each machine. UnmarshalBinary replaces l by the state of a snapshot. If data is no valid
// snapshot, UnmarshalBinary returns an error and changes nothing.
func (l *Losses) MarshalBinary() ([]byte, error) { return l.AppendBinary(nil) }
func (l *Losses) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, l.state)
}
func (l *Losses) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, snapshot.Version, l, (*Losses).state)
}

// state writes all fields to a snapshot or reads them from it.
func (b *LossBursts) state(c *snapshot.Codec) {
	b.config = b.Config()
	c.Field(1, "config").Fields(func() {
		c.Field(1, "losses").Number(&b.config.Losses, Off, maxBurstLosses)
		c.Field(2, "window").Span(&b.config.Window)
		c.Field(3, "prior").Real(&b.config.Prior)
		c.Field(4, "weight").Real(&b.config.Weight)
	})
	c.Valid(b.config == b.config.Effective(), b.config)
	c.Field(2, "clock").Clock(&b.clock)
	c.Field(3, "wanted").Number(&b.wanted, 0, keepWanted)
	c.Field(4, "lost").Number(&b.lost, 0, b.wanted)
	ring := max(b.config.Losses, 0)
	machines := c.Field(5, "machines").Size(len(b.next), 1+ring) // for each machine, the snapshot has one index and a ring of times
	if c.Reading() {
		b.next = make([]int, machines)
	}
	for i := range b.next {
		c.Number(&b.next[i], 0, max(ring-1, 0))
	}
	if c.Reading() {
		b.times = make([]time.Duration, len(b.next)*ring)
	}
	for i := range b.times {
		c.Duration(&b.times[i])
		c.Check(b.times[i] >= never && b.times[i] <= b.clock.Since, "holds a loss out of time")
	}
}

// MarshalBinary and AppendBinary return a snapshot of the state and the configuration. A restored LossBursts gives
// the same answers as the original. The error is always nil. Both calls take O(m) for m machines. A snapshot has
// about 5 bytes for each machine, and more for a machine in a burst. UnmarshalBinary replaces b by the state of a
// snapshot. If data is no valid snapshot, UnmarshalBinary returns an error and changes nothing.
func (b *LossBursts) MarshalBinary() ([]byte, error) { return b.AppendBinary(nil) }
func (b *LossBursts) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, b.state)
}
func (b *LossBursts) UnmarshalBinary(data []byte) error {
	return snapshot.Restore(data, snapshot.Version, b, (*LossBursts).state)
}
