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

// instant codes an instant of the clock, if there is one.
func instant(c *snapshot.Codec, ok *bool, at *time.Duration, latest time.Duration) {
	if c.Bool(ok); *ok {
		c.Span(at)
		c.Check(*at <= latest, "has a wait that begins after its clock")
	}
}

// MarshalBinary and AppendBinary return what has to survive a restart: the clock, each pool's waits and cool-down and
// what it waits to run, and whose turn is next; 6 to 36 bytes a pool. They never fail. [Preemptor.Observe] tells shares
// and usage again.
func (p *Preemptor) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }
func (p *Preemptor) AppendBinary(dst []byte) ([]byte, error) {
	return snapshot.Append(dst, snapshotVersion, p.state)
}

// UnmarshalBinary takes over a snapshot of a Preemptor for a tree with as many pools in the same order. It keeps its
// own configuration. It is an error, and changes nothing, if data is anything else.
func (p *Preemptor) UnmarshalBinary(data []byte) error {
	fresh := *p
	fresh.watch = slices.Clone(p.watch)
	return snapshot.RestoreTo(fresh, data, snapshotVersion, p, (*Preemptor).state)
}
