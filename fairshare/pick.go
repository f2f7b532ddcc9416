package fairshare

import (
	"fmt"
	"log/slog"

	"github.com/straggler-go/straggler/internal/enum"
)

// Reason is why a pool is next.
type Reason uint8

const (
	// NobodyWants means that no pool is next: all have what they want or may have, or are held.
	NobodyWants Reason = iota
	// BelowMinimum means the pool has less of its minimum than its siblings.
	BelowMinimum
	// LeastServed means the pool has the smallest usage per weight among its siblings, or least above its share.
	LeastServed
	// BelowShare means the pool is the farthest below its share, in units or in proportion as the order says.
	BelowShare
	// Leftover means the pool has weight zero and its weighted siblings want no more.
	Leftover
	// InTurn means the pool is first in rank or in line.
	InTurn
)

var reasonNames = [...]string{
	NobodyWants: "nobody-wants", BelowMinimum: "below-minimum", LeastServed: "least-served", BelowShare: "below-share",
	Leftover: "leftover", InTurn: "in-turn",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// Pick is who is next, and why, as compared with its siblings. It is comparable.
type Pick struct {
	Pool   int // a pool without children; -1 if nobody wants the unit
	Reason Reason
	// Usage and Per are what was compared, as a ratio: the pool's usage, and its minimum, its weight or its share. Per
	// is 1 where none of them counts. Under [AboveMinimum] only what it has beyond its minimum is compared with the
	// weight.
	Usage, Per int64
}

// String returns the pick as one line, such as "serve below-minimum pool=2 usage=0 per=1".
func (p Pick) String() string {
	if p.Pool < 0 {
		return "wait " + p.Reason.String()
	}
	return fmt.Sprintf("serve %v pool=%d usage=%d per=%d", p.Reason, p.Pool, p.Usage, p.Per)
}

// LogValue implements [slog.LogValuer].
func (p Pick) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("pool", p.Pool), slog.String("reason", p.Reason.String()),
		slog.Int64("usage", p.Usage), slog.Int64("per", p.Per))
}

// pick says why the pool at position i of its group is next.
func (x *Index) pick(g group, i int32) Pick {
	e := &x.entries[i]
	p := Pick{Pool: int(x.nodes[i].pool), Reason: LeastServed, Usage: e.standing.usage, Per: e.per}
	switch {
	case e.turn == turnNeedy:
		p.Reason = BelowMinimum
	case g.discipline == FIFO:
		p.Reason = InTurn
	case e.turn == turnWeightless:
		p.Reason = Leftover
	case x.policy.Order != LeastUsage:
		p.Usage, p.Per = e.usage, x.shares[i]
		if p.Usage < p.Per {
			p.Reason = BelowShare
		}
	}
	return p
}
