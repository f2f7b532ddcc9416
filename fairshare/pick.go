package fairshare

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Reason says why a pool is next. The zero value is [NobodyWants].
type Reason uint8

const (
	// NobodyWants means that no pool is next. Each pool has its demand or its maximum, or is held.
	NobodyWants Reason = iota
	// BelowMinimum means that the pool is below its minimum, and its usage/minimum is the smallest among its
	// siblings.
	BelowMinimum
	// LeastServed means that the pool has the smallest usage per weight among its siblings. Under an order by share
	// it means that all siblings have their share, and that this pool is the least above its share.
	LeastServed
	// BelowShare means that the pool is the farthest below its share: in units under [LargestDeficit], in proportion
	// under [SmallestPart].
	BelowShare
	// Leftover means that the pool has weight zero, and its siblings with a weight want no more.
	Leftover
	// InTurn means that the pool is the first of a FIFO group that wants more: the lowest rank, then the lowest
	// index.
	InTurn
)

var reasonNames = [...]string{
	NobodyWants: "nobody-wants", BelowMinimum: "below-minimum", LeastServed: "least-served", BelowShare: "below-share",
	Leftover: "leftover", InTurn: "in-turn",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error for an unknown value.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name. It returns an error for an unknown name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// Pick is the answer of [Index.Next]: the pool that gets the next free unit, and the reason. It is comparable. One
// line:
//
//	serve least-served pool=0 usage=2 per=3
//
// Pool 0 is next, because its usage of 2 units for a weight of 3 is the smallest ratio among its siblings.
type Pick struct {
	Pool   int    // index of a pool without children; -1 if no pool wants the unit
	Reason Reason // why this pool is next
	// Usage/Per is the ratio that was compared with the siblings. Usage is the pool's usage in units. Per is the
	// pool's minimum, weight or share, whichever Reason names; Per is 1 if none of the three counts. Under
	// [AboveMinimum] Usage is the usage beyond the minimum when Per is the weight.
	Usage, Per int64
}

func (p *Pick) wire(c *wire.Codec) {
	verb := "wait"
	if p.Pool >= 0 {
		verb = "serve"
	}
	c.Kind(verb)
	c.Word("reason", &p.Reason)
	c.Index("pool", &p.Pool)
	c.When(p.Pool >= 0).Int64("usage", &p.Usage)
	c.When(p.Pool >= 0).Int64("per", &p.Per)
}

// String returns the pick as one line. MarshalJSON and LogValue (for log/slog) have the same fields.
func (p Pick) String() string               { return wire.Line(p.wire) }
func (p Pick) LogValue() slog.Value         { return wire.Log(p.wire) }
func (p Pick) MarshalJSON() ([]byte, error) { return wire.JSON(p.wire) }

// pick returns the Pick for the leaf at position i, with the reason why the leaf is the first of its group g.
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
