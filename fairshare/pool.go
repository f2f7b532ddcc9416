package fairshare

import (
	"fmt"
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
)

const (
	// Unlimited is a demand that no share can satisfy, for a pool that takes whatever it is given.
	Unlimited = math.MaxInt64
	// Zero stands for the number zero in Weight and Max, where a literal 0 means the default.
	Zero = -1
)

// Pool is one claimant: a queue, a user or a job, or a group of them. Amounts are whole units of one resource: slots,
// millicores, bytes. Weight, Min, Max, Discipline and Rank are an operator's choices; Demand is what the host
// observes. The zero value is a pool at the top level with weight 1, no minimum, no maximum, and nothing to run.
type Pool struct {
	// Parent is the pool that this one divides the share of. Zero is the top level; see [Under].
	Parent Parent
	// Weight is w: of what is shared by level, a pool of weight 2 gets twice what a pool of weight 1 gets. Only ratios
	// matter: for 1.5 to 1, say 3 and 2. Zero means 1; [Zero] means weight zero: such a pool has its minimum, and shares
	// equally with others of weight zero what the weighted pools leave. Weights have no effect under [FIFO].
	Weight int64
	// Min is m: what the pool is guaranteed as long as it wants it. A pool with children is guaranteed at least the sum
	// of what they are, where a child's minimum counts only as far as that child wants it.
	// At most Max.
	Min int64
	// Max is the most that the pool may have. Zero means no maximum; [Zero] closes the pool.
	Max int64
	// Demand is d: running and waiting together, for a pool without children. The demand of a pool with children is
	// the sum of what they want, so its own must be zero.
	Demand int64
	// Discipline says how the pool divides its share among its children.
	Discipline Discipline
	// Rank orders siblings under [FIFO] and [MultiLevel], lower first. It has no effect under [Fair].
	Rank int32
}

// Parent refers to a pool's parent. The zero value is the top level.
type Parent int

// Under returns the reference to the pool with the given index as parent.
func Under(pool int) Parent { return Parent(pool + 1) }

// Index returns the index of the parent pool; -1 for the top level.
func (p Parent) Index() int { return int(p) - 1 }

// Discipline is how a pool divides what it has among its children, once each has its minimum.
type Discipline uint8

const (
	// Fair divides by max-min fairness with weights (section 3).
	Fair Discipline = iota
	// FIFO serves the lowest rank first, and the lowest index first within a rank: with the priority as rank and pools
	// in order of submission this is Hadoop's own order (section 2.1).
	FIFO
	// MultiLevel serves the lowest rank first and divides fairly within a rank. For the weighted queues of section 7.2
	// use a Fair pool whose children are FIFO pools.
	MultiLevel
)

var disciplineNames = [...]string{Fair: "fair", FIFO: "fifo", MultiLevel: "multi-level"}

// String returns the name of the discipline.
func (d Discipline) String() string { return enum.Name(disciplineNames[:], d) }

// MarshalText returns the discipline's name.
func (d Discipline) MarshalText() ([]byte, error) { return enum.Text(disciplineNames[:], d) }

// UnmarshalText sets the discipline by its name.
func (d *Discipline) UnmarshalText(text []byte) error { return enum.Parse(disciplineNames[:], text, d) }

// weight returns w with the default filled in.
func (p *Pool) weight() int64 {
	switch p.Weight {
	case 0:
		return 1
	case Zero:
		return 0
	}
	return p.Weight
}

// limit returns the maximum with the default filled in.
func (p *Pool) limit() int64 {
	switch p.Max {
	case 0:
		return Unlimited
	case Zero:
		return 0
	}
	return p.Max
}

// check reports the first field that is out of range by itself.
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
