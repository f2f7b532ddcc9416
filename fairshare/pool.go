package fairshare

import (
	"fmt"
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
)

const (
	// Unlimited is a demand or a maximum without a bound. A pool with this demand takes all units that it can get.
	Unlimited = math.MaxInt64
	// Zero means the number zero in [Pool.Weight] and [Pool.Max], because a literal 0 there means the default.
	Zero = -1
)

// Pool is one claimant: a queue, a user or a job, or a group of pools. Amounts are whole units of one resource:
// slots, millicores or bytes. An operator chooses Weight, Min, Max, Discipline and Rank; the host observes Demand.
// The zero value is a pool at the top level with weight 1, no minimum, no maximum and no demand.
type Pool struct {
	// Parent refers to the pool above this pool. Siblings divide the share of their parent. Zero is the top level;
	// see [Under].
	Parent Parent
	// Weight is the paper's w, at least 1. At the level, a pool of weight 2 gets twice the units of a pool of weight
	// 1. Only ratios matter: for 1.5 to 1, use 3 and 2. A literal 0 means 1, and [Zero] means weight zero. A pool of
	// weight zero has its minimum. The pools of weight zero divide equally the units that the weighted pools leave.
	// Weights have no effect under [FIFO].
	Weight int64
	// Min is the paper's m, from 0 to Max: the units guaranteed to the pool, up to its demand. A pool with children
	// is guaranteed at least the sum of its children's guarantees. Zero: no guarantee.
	Min int64
	// Max is the largest number of units that the pool may have. A literal 0 means no maximum, and [Zero] closes the
	// pool.
	Max int64
	// Demand is the paper's d, at least 0: the units that running and waiting tasks of the pool need together. A pool
	// with children must have the Demand 0: its demand is the sum of its children's demands.
	Demand int64
	// Discipline says how the pool divides its share among its children. Zero: [Fair].
	Discipline Discipline
	// Rank orders siblings under [FIFO] and [MultiLevel]: the lowest rank is served first. Rank has no effect under
	// [Fair].
	Rank int32
}

// Parent refers to a pool's parent. The zero value is the top level.
type Parent int

// Under returns the reference to the pool with the given index as parent.
func Under(pool int) Parent { return Parent(pool + 1) }

// Index returns the index of the parent pool, or -1 for the top level.
func (p Parent) Index() int { return int(p) - 1 }

// Discipline says how a pool divides its units among its children, after each child has its minimum.
type Discipline uint8

const (
	// Fair divides by max-min fairness with weights (section 3).
	Fair Discipline = iota
	// FIFO serves one pool after another: the lowest rank first, and within a rank the lowest index first. If the
	// rank is the priority and the pools stand in order of submission, this is Hadoop's own order (section 2.1).
	FIFO
	// MultiLevel serves the lowest rank first and divides fairly within a rank. The queues of section 7.2 share by
	// weight: use a Fair pool with FIFO pools as children for them.
	MultiLevel
)

var disciplineNames = [...]string{Fair: "fair", FIFO: "fifo", MultiLevel: "multi-level"}

// String returns the name of the discipline.
func (d Discipline) String() string { return enum.Name(disciplineNames[:], d) }

// MarshalText returns the name of the discipline. It returns an error for an unknown value.
func (d Discipline) MarshalText() ([]byte, error) { return enum.Text(disciplineNames[:], d) }

// UnmarshalText sets the discipline by its name. It returns an error for an unknown name.
func (d *Discipline) UnmarshalText(text []byte) error { return enum.Parse(disciplineNames[:], text, d) }

// weight returns the weight as a number, 0 or more: 1 for the default, 0 for Zero.
func (p *Pool) weight() int64 {
	switch p.Weight {
	case 0:
		return 1
	case Zero:
		return 0
	}
	return p.Weight
}

// limit returns the maximum as a number: Unlimited for the default, 0 for Zero.
func (p *Pool) limit() int64 {
	switch p.Max {
	case 0:
		return Unlimited
	case Zero:
		return 0
	}
	return p.Max
}

// check returns an error for the first field that is out of range without regard to other pools. i is the pool's
// index, and n is the number of pools.
func (p *Pool) check(i, n int) error {
	switch {
	case p.Parent < 0 || int(p.Parent) > n:
		return fmt.Errorf("fairshare: pools[%d].Parent is pool %d, want one of the %d pools", i, p.Parent.Index(), n)
	case p.Weight < Zero:
		return check.Bad("fairshare", check.At("pools", i, "Weight"), p.Weight, "a positive number, 0 for 1, or Zero")
	case p.Max < Zero:
		return check.Bad("fairshare", check.At("pools", i, "Max"), p.Max, "a positive number, 0 for no maximum, or Zero")
	case p.Min < 0:
		return check.Bad("fairshare", check.At("pools", i, "Min"), p.Min, "at least 0")
	case p.Min > p.limit():
		return check.Badf("fairshare", check.At("pools", i, "Min"), p.Min, "at most its Max of %d", p.limit())
	case p.Demand < 0:
		return check.Bad("fairshare", check.At("pools", i, "Demand"), p.Demand, "at least 0")
	case p.Discipline > MultiLevel:
		return check.Bad("fairshare", check.At("pools", i, "Discipline"), p.Discipline, "Fair, FIFO or MultiLevel")
	}
	return nil
}
