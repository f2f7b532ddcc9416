package preempt

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// snapshotVersion is the first byte of a snapshot.
const snapshotVersion = 2

// state codes the fields of a snapshot, for writing and for reading.
func (p *Preemptor) state(c *snapshot.Codec) {
	pools := uint64(len(p.watch))
	c.Uint(&pools)
	if n := uint64(len(p.watch)); pools != n {
		c.Check(false, fmt.Sprintf("has %d pools, want %d", pools, n))
	}
	c.Clock(&p.clock)
	for i := range p.plan.turns {
		c.Number(&p.plan.turns[i], 0, len(p.watch))
	}
	for i := range p.watch {
		w := &p.watch[i]
		instant(c, &w.starvesMin, &w.minSince, p.clock.Since)
		instant(c, &w.starvesFair, &w.fairSince, p.clock.Since)
		instant(c, &w.cooling, &w.cool, math.MaxInt64)
		if c.Reading() {
			w.cool = min(w.cool, num.Add(p.clock.Since, p.config.Cooldown))
		}
		c.Number64(&w.waiting.Units, math.MinInt64, math.MaxInt64)
		c.Bool(&w.waiting.OneMachine)
	}
}

// instant codes ok, and the instant at if ok is true. A read instant must not be after latest.
func instant(c *snapshot.Codec, ok *bool, at *time.Duration, latest time.Duration) {
	if c.Bool(ok); *ok {
		c.Span(at)
		c.Check(*at <= latest, "has a wait that begins after its clock")
	}
}

// MarshalBinary and AppendBinary return a snapshot of the state that must survive a restart of the host. For each
// pool the snapshot holds the waits, the cool-down and the waiting size. It also holds the clock, and which claims
// come first in the next plan. It takes 6 to 36 bytes for each pool. The error is always nil. Shares and usage are
// not in the snapshot: call [Preemptor.Observe] after UnmarshalBinary.
func (p *Preemptor) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }
func (p *Preemptor) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshotVersion, p.state)
}

// UnmarshalBinary restores a snapshot. The snapshot must be from a Preemptor with the same pools in the same order.
// The configuration of p stays unchanged. If data is no valid snapshot, UnmarshalBinary returns an error and changes
// nothing.
func (p *Preemptor) UnmarshalBinary(data []byte) error {
	fresh := *p
	fresh.watch = slices.Clone(p.watch)
	return snapshot.RestoreTo(fresh, data, snapshotVersion, p, (*Preemptor).state)
}
