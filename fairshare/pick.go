package fairshare

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Reason says why [Index.Next] chose a pool for the next free unit. The zero value is [NobodyWants].
type Reason uint8

const (
	// NobodyWants means that no pool was chosen. Each pool has its demand or its maximum, or [Index.Hold] excludes
	// it.
	NobodyWants Reason = iota
	// BelowMinimum means that the pool uses less than its minimum. Its ratio of used units to minimum is the
	// smallest among the pools with the same parent.
	BelowMinimum
	// LeastServed means that the pool has the smallest ratio of used units to weight among the pools with the same
	// parent. Under [LargestDeficit] and [SmallestPart] it means something else: all these pools that want more
	// units have their share, and this pool is the least above its share.
	LeastServed
	// BelowShare means that the pool uses less than its share and is the farthest below it among the pools with
	// the same parent. The distance is a number of units under [LargestDeficit], and a ratio under [SmallestPart].
	BelowShare
	// Leftover means that the pool has weight zero, or a share of zero under [SmallestPart]. The pools with the
	// same parent that have a weight, or a share, want no more units.
	Leftover
	// InTurn means that the parent of the pool has the discipline [FIFO], and that the pool is the first child
	// that wants more: the child with the lowest rank, or with the lowest index among children of equal rank.
	InTurn
)

var reasonNames = [...]string{
	NobodyWants: "nobody-wants", BelowMinimum: "below-minimum", LeastServed: "least-served", BelowShare: "below-share",
	Leftover: "leftover", InTurn: "in-turn",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error if the value has no name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason to the constant whose name is text. It returns an error if no constant has this name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// Pick is the answer of [Index.Next]: the pool that gets the next free unit, and the reason. Picks can be compared
// with ==. A Pick prints as one line, for example:
//
//	serve least-served pool=0 usage=2 per=3
//
// Pool 0 is next. It uses 2 units and has weight 3. Its usage divided by its weight is 2/3, the smallest ratio
// among the pools with the same parent.
type Pick struct {
	Pool   int    // index of a pool without children; -1 if no pool wants the unit
	Reason Reason // why this pool is next
	// Usage/Per is the ratio that was compared with the ratios of the pools with the same parent. Usage is the
	// number of units that the pool uses. Per is the minimum of the pool if Reason is [BelowMinimum], and
	// otherwise its weight or its share; Per is 1 if Usage alone was compared. If [Policy.Surplus] is
	// [AboveMinimum] and Per is a weight, Usage is the number of used units beyond the minimum.
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

// String returns the pick as one line. MarshalJSON and LogValue (for log/slog)
// return the same fields.
func (p Pick) String() string               { return wire.Line(p.wire) }
func (p Pick) LogValue() slog.Value         { return wire.Log(p.wire) }
func (p Pick) MarshalJSON() ([]byte, error) { return wire.JSON(p.wire) }

// pick returns the Pick for the pool without children at position i, which is the first of its group g. The pick
// contains the reason why the pool is the first.
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
