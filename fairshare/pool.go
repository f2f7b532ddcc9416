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
	// Zero means the number zero in [Pool.Weight] and [Pool.Max]. A literal 0 in these fields means the default
	// value.
	Zero = -1
)

// Pool is one claimant of slots: a queue, a user or a job, or a group of pools. Amounts are whole units of one
// resource: slots, millicores or bytes. An operator chooses Weight, Min, Max, Discipline and Rank. The scheduler
// observes Demand. The zero value is a pool at the top level with weight 1, no minimum, no maximum and no demand.
type Pool struct {
	// Parent is the pool above this pool. Pools with the same parent divide the share of their parent. The value 0
	// means that this pool is at the top level. For another parent use the function [Under].
	Parent Parent
	// Weight is the paper's w, at least 1. If no minimum or demand limits the shares, a pool of weight 2 gets
	// twice the units of a pool of weight 1. Only the ratios of weights matter: for a ratio of 1.5 to 1, use the
	// weights 3 and 2. A literal 0 means weight 1, and [Zero] means weight zero. A pool of weight zero is still
	// guaranteed its minimum. Beyond that, pools of weight zero get only the units that pools with a weight leave,
	// in equal parts. Weights have no effect under [FIFO].
	Weight int64
	// Min is the paper's m, from 0 to Max: the number of units that are guaranteed to the pool if its demand is
	// that large. A pool with children is guaranteed at least the sum of the guarantees of its children. Zero
	// means no guarantee.
	Min int64
	// Max is the largest number of units that the pool may have. A literal 0 means no maximum. [Zero] means that
	// the pool gets no units.
	Max int64
	// Demand is the paper's d, at least 0: the number of units that the running and the waiting tasks of the pool
	// need together. A pool with children must have the Demand 0, because its demand is the sum of the demands of
	// its children.
	Demand int64
	// Discipline says how the pool divides its share among its children. The value 0 means [Fair].
	Discipline Discipline
	// Rank orders pools with the same parent under [FIFO] and [MultiLevel]: the pool with the lowest rank is
	// served first. Rank has no effect under [Fair].
	Rank int32
}

// Parent refers to the parent of a pool. The zero value means that the pool has no parent: it is at the top level.
type Parent int

// Under returns the [Pool.Parent] of a pool whose parent is the pool with the given index.
func Under(pool int) Parent { return Parent(pool + 1) }

// Index returns the index of the parent pool, or -1 if the pool is at the top level.
func (p Parent) Index() int { return int(p) - 1 }

// Discipline says how a pool divides its units among its children, after each child has its minimum.
type Discipline uint8

const (
	// Fair divides by max-min fairness with weights (section 3): it raises the smallest units per weight first.
	Fair Discipline = iota
	// FIFO serves one pool after another: the pool with the lowest rank first, and among pools of equal rank the
	// pool with the lowest index first. For example, let the rank be the priority of a job, and list the jobs in
	// the order of submission. Then the order is the default order of Hadoop (section 2.1).
	FIFO
	// MultiLevel serves the pools of the lowest rank first and divides fairly among pools of equal rank. Do not
	// use it for the queues of section 7.2 of the paper, which share by weight. Use a Fair pool with FIFO pools as
	// children for them.
	MultiLevel
)

var disciplineNames = [...]string{Fair: "fair", FIFO: "fifo", MultiLevel: "multi-level"}

// String returns the name of the discipline.
func (d Discipline) String() string { return enum.Name(disciplineNames[:], d) }

// MarshalText returns the name of the discipline. It returns an error if the value has no name.
func (d Discipline) MarshalText() ([]byte, error) { return enum.Text(disciplineNames[:], d) }

// UnmarshalText sets the discipline to the constant whose name is text. It returns an error if no constant has this
// name.
func (d *Discipline) UnmarshalText(text []byte) error { return enum.Parse(disciplineNames[:], text, d) }

// weight returns the weight of the pool as a number, 0 or more. A field of 0 means 1, and the constant Zero means
// 0.
func (p *Pool) weight() int64 {
	switch p.Weight {
	case 0:
		return 1
	case Zero:
		return 0
	}
	return p.Weight
}

// limit returns the maximum of the pool as a number. A field of 0 means Unlimited, and the constant Zero means 0.
func (p *Pool) limit() int64 {
	switch p.Max {
	case 0:
		return Unlimited
	case Zero:
		return 0
	}
	return p.Max
}

// check returns an error for the first field of the pool that is out of range. It does not compare the pool with
// other pools. i is the index of the pool, and n is the number of pools.
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
