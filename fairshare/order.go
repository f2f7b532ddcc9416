package fairshare

import (
	"cmp"
	"math"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/exact"
)

// Order decides which of several siblings under [Fair] gets the next free unit. Under every order a pool wants more
// if its usage is below its demand and its maximum, and pools that want no more come last. The zero value is
// [LeastUsage].
type Order uint8

const (
	// LeastUsage first serves the pools below their minimum; the smallest usage/minimum comes first. Then it serves
	// the pool with the smallest usage per weight. Pools of weight zero come last. LeastUsage needs no shares.
	// Hadoop's and Spark's fair schedulers use this order. With [AboveMinimum] only the usage above the minimum
	// counts.
	LeastUsage Order = iota
	// LargestDeficit serves the pool "farthest below its fair share" (section 4.1 of the paper): the pool that
	// lacks the most units of its share. A minimum counts because it raises the share. Pools that have their share
	// come after all pools below their share; the pool with the fewest units above its share is first. This order
	// needs [Index.SetShares].
	LargestDeficit
	// SmallestPart serves the pool with the smallest usage/share. So a small pool need not wait until a large pool
	// has almost all of its units. Pools with a share of zero come last. This order needs [Index.SetShares].
	SmallestPart
)

var orderNames = [...]string{LeastUsage: "least-usage", LargestDeficit: "largest-deficit",
	SmallestPart: "smallest-part"}

// String returns the name of the order.
func (o Order) String() string { return enum.Name(orderNames[:], o) }

// MarshalText returns the name of the order. It returns an error for an unknown value.
func (o Order) MarshalText() ([]byte, error) { return enum.Text(orderNames[:], o) }

// UnmarshalText sets the order by its name. It returns an error for an unknown name.
func (o *Order) UnmarshalText(text []byte) error { return enum.Parse(orderNames[:], text, o) }

// turn is the class of a pool. Siblings are compared by turn first; a lower turn is served earlier.
type turn uint8

const (
	turnNeedy      turn = iota // usage below the minimum
	turnShort                  // usage below the share, under an order by share
	turnWeighted               // has its minimum, or its share under an order by share
	turnWeightless             // weight zero, or share zero under SmallestPart
	turnNone                   // wants no more, or is held
)

// standing is the key by which siblings are compared: first turn, then the ratio usage/per. The smaller key is served
// first.
type standing struct {
	turn       turn
	usage, per int64
}

// newStanding returns the key of a pool under LeastUsage. The pool may have up to most units, and its wanted minimum
// is least. Once the pool has its minimum, base is subtracted from its usage: the minimum under AboveMinimum, else 0.
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

// byShare returns the key of a pool under LargestDeficit or SmallestPart.
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

// before reports whether node x with the key a is served before its sibling y with the key b. Under FIFO and
// MultiLevel pools below their minimum are served first, because the shares give minimums first, too.
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
