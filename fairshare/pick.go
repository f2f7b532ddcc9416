package fairshare

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
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

func (p *Pick) wire(c *wire.Codec) {
	verb := 0
	if p.Pool >= 0 {
		verb = 1
	}
	c.Kind(verb, "wait", "serve")
	c.Word("reason", &p.Reason)
	c.Index("pool", &p.Pool)
	c.When(p.Pool >= 0).Int64("usage", &p.Usage)
	c.When(p.Pool >= 0).Int64("per", &p.Per)
}

// String returns the pick as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (p Pick) String() string                   { return wire.Line(p.wire) }
func (p Pick) LogValue() slog.Value             { return wire.Log(p.wire) }
func (p Pick) MarshalJSON() ([]byte, error)     { return wire.JSON(p.wire) }
func (p *Pick) UnmarshalJSON(data []byte) error { return wire.Read(data, p, (*Pick).wire) }
func (p *Pick) UnmarshalText(line []byte) error { return wire.Scan(line, p, (*Pick).wire) }

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
