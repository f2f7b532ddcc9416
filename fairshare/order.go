package fairshare

import (
	"cmp"
	"math"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/exact"
)

// Order is the rule that decides which of several pools with the same parent gets the next free unit, if the
// discipline of the parent is [Fair]. Under every order a pool wants another unit if it uses less than its demand
// and less than its maximum. Pools that want no unit come last. The zero value is [LeastUsage].
type Order uint8

const (
	// LeastUsage first serves the pools that use less than their minimum. Among them it serves the pool with the
	// smallest ratio of used units to minimum. Then it serves the pool with the smallest ratio of used units to
	// weight. Pools of weight zero come last. LeastUsage does not read the shares. The fair schedulers of Hadoop
	// and Spark use this order. With [AboveMinimum] the ratio to the weight includes only the used units beyond
	// the minimum.
	LeastUsage Order = iota
	// LargestDeficit serves the pool "farthest below its fair share" (section 4.1 of the paper): the pool that
	// lacks the most units of its share. Minimums have no rule of their own here, because a minimum already raises
	// the share. Pools that use their whole share come after all pools that use less than their share. Among them
	// the pool with the fewest units beyond its share comes first. This order needs a call of [Index.SetShares].
	LargestDeficit
	// SmallestPart serves the pool with the smallest ratio of used units to share. So a small pool need not wait
	// until a large pool has almost all of its units. Pools with a share of zero come last. This order needs a
	// call of [Index.SetShares].
	SmallestPart
)

var orderNames = [...]string{LeastUsage: "least-usage", LargestDeficit: "largest-deficit",
	SmallestPart: "smallest-part"}

// String returns the name of the order.
func (o Order) String() string { return enum.Name(orderNames[:], o) }

// MarshalText returns the name of the order. It returns an error if the value has no name.
func (o Order) MarshalText() ([]byte, error) { return enum.Text(orderNames[:], o) }

// UnmarshalText sets the order to the constant whose name is text. It returns an error if no constant has this name.
func (o *Order) UnmarshalText(text []byte) error { return enum.Parse(orderNames[:], text, o) }

// turn is the class of a pool in the order in which pools are served. A pool of a lower turn is served before a
// pool of a higher turn.
type turn uint8

const (
	turnNeedy      turn = iota // uses less than its minimum
	turnShort                  // uses less than its share, under LargestDeficit; or has a share, under SmallestPart
	turnWeighted               // uses its minimum or more, under LeastUsage; its share or more, under LargestDeficit
	turnWeightless             // has weight zero, or a share of zero under SmallestPart
	turnNone                   // wants no more units, or Next must skip it
)

// standing is the key by which pools with the same parent are compared. The pool with the lower value of turn is
// served first. Among pools with the same turn, the pool with the smaller ratio usage/per is served first.
type standing struct {
	turn       turn
	usage, per int64
}

// newStanding returns the key by which a pool is compared under LeastUsage. The argument usage is the number of units
// that the pool uses. The pool is guaranteed the number of units in the argument least, and it may have at most the
// number of units in the argument most. If the pool has its guarantee, base is subtracted from usage. base is the
// guarantee under AboveMinimum, and otherwise 0.
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

// byShare returns the key by which a pool is compared under LargestDeficit or SmallestPart. The argument usage is the
// number of units that the pool uses, and share is its share. The pool may have at most the number of units in the
// argument most.
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

// before reports whether node x, with the key a, is served before node y with the same parent and the key b. Pools
// that use less than their minimum are served first, under FIFO and MultiLevel, too, because the shares also give
// minimums first.
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

// above reports whether the pool has at least its minimum and wants more units.
func (s standing) above() bool { return s.turn != turnNeedy && s.turn != turnNone }
