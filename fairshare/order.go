package fairshare

import (
	"cmp"
	"math"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/exact"
)

// Order is who among siblings under [Fair] gets the next free unit. A pool that wants more, whose usage is below its
// demand and its maximum, stands before one that does not, under every order.
type Order uint8

const (
	// LeastUsage serves pools below their minimum first, by the part of it that they have, and then whoever has the
	// smallest usage per weight; pools of weight zero come last. It needs no shares, and is the order of Hadoop's and
	// Spark's fair schedulers. With [AboveMinimum] only the usage above the minimum counts.
	LeastUsage Order = iota
	// LargestDeficit serves the pool "farthest below its fair share", as section 4.1 of the paper has it: the one that
	// misses most units. Minimums count through the share. Pools that have their share come after all others, the one
	// with least above it first. An [Index] must be told the shares; see [Index.SetShares].
	LargestDeficit
	// SmallestPart is the same in proportion: it serves the pool with the smallest part of its share, so that a small
	// pool does not wait until a large one has all but a few units. Pools with a share of zero come last.
	SmallestPart
)

var orderNames = [...]string{LeastUsage: "least-usage", LargestDeficit: "largest-deficit",
	SmallestPart: "smallest-part"}

// String returns the name of the order.
func (o Order) String() string { return enum.Name(orderNames[:], o) }

// MarshalText returns the order's name.
func (o Order) MarshalText() ([]byte, error) { return enum.Text(orderNames[:], o) }

// UnmarshalText sets the order by its name.
func (o *Order) UnmarshalText(text []byte) error { return enum.Parse(orderNames[:], text, o) }

// turn is the first thing that siblings are compared by.
type turn uint8

const (
	turnNeedy turn = iota // below its minimum
	turnShort             // below its share
	turnWeighted
	turnWeightless
	turnNone // wants no more
)

// standing is a pool's place among its siblings: by turn and then by usage/per.
type standing struct {
	turn       turn
	usage, per int64
}

// newStanding places a pool that may have up to most, by its usage; of what is above the minimum, base does not count.
func newStanding(weight, least, base, most, usage int64) standing {
	usage = max(usage, 0)
	switch {
	case usage >= most:
		return standing{turn: turnNone, per: 1}
	case usage < least:
		return standing{turn: turnNeedy, usage: usage, per: least}
	case weight > 0:
		return standing{turn: turnWeighted, usage: usage - base, per: weight}
	}
	return standing{turn: turnWeightless, usage: usage - base, per: 1}
}

// byShare places a pool by what it misses of its share.
func (o Order) byShare(usage, share, most int64) standing {
	switch {
	case usage >= most:
		return standing{turn: turnNone, per: 1}
	case o == SmallestPart && share == 0:
		return standing{turn: turnWeightless, usage: usage, per: 1}
	case o == SmallestPart:
		return standing{turn: turnShort, usage: usage, per: share}
	case usage < share:
		return standing{turn: turnShort, usage: math.MaxInt64 - (share - usage), per: 1}
	}
	return standing{turn: turnWeighted, usage: usage - share, per: 1}
}

func compareStanding(a, b standing) int {
	if a.turn != b.turn {
		return cmp.Compare(a.turn, b.turn)
	}
	return exact.CompareProducts(a.usage, b.per, b.usage, a.per)
}

// before reports whether node x, standing at a, comes before its sibling y, standing at b. Under FIFO and MultiLevel
// minimums come first, as they do in the shares.
func (d Discipline) before(x, y *node, a, b standing) bool {
	if d != Fair && a.above() && b.above() && x.rank != y.rank {
		return x.rank < y.rank
	}
	if d != FIFO || !a.above() || !b.above() {
		if c := compareStanding(a, b); c != 0 {
			return c < 0
		}
	}
	return x.pool < y.pool
}

// above reports whether the pool has its minimum and wants more.
func (s standing) above() bool { return s.turn != turnNeedy && s.turn != turnNone }
