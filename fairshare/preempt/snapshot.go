package preempt

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/snapshot"
)

// state encodes or decodes the fields of p that a snapshot contains. The codec c knows which of the two it does.
func (p *Preemptor) state(c *snapshot.Codec) {
	pools := uint64(len(p.watch))
	c.Field(1, "number of pools").Uint(&pools)
	if n := uint64(len(p.watch)); pools != n {
		c.Check(false, fmt.Sprintf("has %d pools, want %d", pools, n))
	}
	c.Field(2, "clock").Clock(&p.clock)
	c.Field(3, "turns")
	for i := range p.plan.turns {
		c.Number(&p.plan.turns[i], 0, len(p.watch))
	}
	c.Field(4, "pools")
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

// instant encodes or decodes *ok, and the instant *at if *ok is true. An instant that was decoded must not be
// after latest.
func instant(c *snapshot.Codec, ok *bool, at *time.Duration, latest time.Duration) {
	if c.Bool(ok); *ok {
		c.Span(at)
		c.Check(*at <= latest, "has a wait that begins after its clock")
	}
}

// MarshalBinary and AppendBinary return a snapshot: the part of the state that must survive a restart of the host.
// For each pool the snapshot contains how long it has waited, its cool-down, and the size set by SetWaiting. The
// snapshot also contains the clock, and which claims come first in the next plan. Its size is 6 to 36 bytes for
// each pool. The error is always nil. The snapshot does not contain shares and usage, so call [Preemptor.Observe]
// after UnmarshalBinary.
func (p *Preemptor) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }
func (p *Preemptor) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshot.Version, p.state)
}

// UnmarshalBinary restores the state from a snapshot. The snapshot must come from a Preemptor with the same pools
// in the same order. The configuration of p does not change. If data is not a valid snapshot, UnmarshalBinary
// returns an error and changes nothing.
func (p *Preemptor) UnmarshalBinary(data []byte) error {
	fresh := *p
	fresh.watch = slices.Clone(p.watch)
	return snapshot.RestoreTo(fresh, data, snapshot.Version, p, (*Preemptor).state)
}
