package fairshare

import "cmp"

// Contender is a pool and what it has now. Its Parent, Discipline and Rank are not read.
//
// Safe for concurrent use.
type Contender struct {
	Pool
	Usage int64 // units in use
}

// Compare says which of two siblings under [Fair] should get the next free unit: negative for a, positive for b, zero if
// they stand equal, and then the lower index should have it.
//
//  1. A pool that wants more stands before one that does not. It wants more while Usage is below Demand and Max.
//  2. A pool below its minimum stands before one that is not; of two such, the one with the smaller part of its minimum.
//  3. Of the others the one with the smaller usage per weight comes first, and pools of weight zero come last.
//
// This is a strict weak order for all pools that [New] accepts, weight zero and minimum zero included. Serving in this
// order is how the paper's scheduler reaches the shares as slots become free (section 4.1: the one farthest below).
//
// Cost: O(1), exact in 128 bits, no allocation.
func Compare(a, b Contender) int {
	return compareStanding(a.standing(), b.standing())
}

func (c *Contender) standing() standing {
	return newStanding(c.weight(), c.Min, min(c.Demand, c.limit()), c.Usage)
}

// turn is the first thing that siblings are compared by.
type turn uint8

const (
	turnNeedy turn = iota // below its minimum
	turnWeighted
	turnWeightless
	turnNone // wants no more
)

// standing is a pool's place among its siblings: by turn and then by usage/per.
type standing struct {
	turn       turn
	usage, per int64
}

// newStanding places a pool that may have up to most.
func newStanding(weight, least, most, usage int64) standing {
	usage = max(usage, 0)
	switch least = min(least, most); {
	case usage >= most:
		return standing{turn: turnNone, per: 1}
	case usage < least:
		return standing{turn: turnNeedy, usage: usage, per: least}
	case weight > 0:
		return standing{turn: turnWeighted, usage: usage, per: weight}
	}
	return standing{turn: turnWeightless, usage: usage, per: 1}
}

func compareStanding(a, b standing) int {
	if a.turn != b.turn {
		return cmp.Compare(a.turn, b.turn)
	}
	return compareProducts(a.usage, b.per, b.usage, a.per)
}

// before reports whether node x, standing at a, comes before its sibling y, standing at b. Minimums come first under
// every discipline, as they do in the shares.
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
func (s standing) above() bool { return s.turn == turnWeighted || s.turn == turnWeightless }
