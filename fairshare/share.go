package fairshare

import (
	"log/slog"
	"strconv"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Shares divides total units among the pools by the paper's rule. It returns one share for each pool, in the order
// of the pools. Shares does the same as [New] with the zero [Policy] and one call of [Tree.Shares].
//
// Shares returns an error for a field out of range, for a parent that does not exist, for parents that form a
// cycle, and for a sum that does not fit in an int64. The error contains the index of the pool and the field. If
// the minimums add up to more than total, the error is an [*InfeasibleError].
//
// Cost: as New and one call of Tree.Shares. It allocates O(n) memory for n pools.
func Shares(pools []Pool, total int64) ([]Share, error) {
	t, err := New(pools, Policy{})
	if err != nil {
		return nil, err
	}
	return t.Shares(nil, nil, total)
}

// Share is the answer of [Shares] and [Tree.Shares] for one pool: the number of units, and the reason for this
// number. Shares can be compared with ==, and no field is NaN. A Share prints as one line, for example:
//
//	share level slots=14 min=10 max=18 level=14
//
// The pool gets 14 slots, because the division gives 14 slots per weight and the weight of the pool is 1. The pool
// could not get fewer than 10 slots or more than 18.
type Share struct {
	// Slots is the share in whole units. Slots of pools with the same parent add up exactly to the units that
	// these pools divide. If the sum of their upper bounds Max is smaller, the slots add up to that sum.
	Slots int64
	// Real is the share before rounding; Slots is Real, rounded up or down. The children of a pool divide the
	// Slots of the pool, and not its Real.
	Real float64
	// Min and Max are the smallest and the largest possible share in units. Min is the guarantee of the pool, and
	// at most Max. Max is the demand of the pool, and at most the maximum of the pool; under [Entitled] and
	// [Steady] it ignores the demand. If [Policy.Surplus] is [WaterLevel], Real is Level times the weight of the
	// pool, limited to the range from Min to Max. In this product, the weight zero is replaced by 1, and so is
	// every weight under [FIFO].
	Min, Max int64
	// Demand is the demand of the pool in units, and at most the maximum of the pool. For a pool with children it
	// is the sum of their Demand, and at most the maximum of the pool.
	Demand int64
	// Needed is the part of Min that the demand of the pool covers, in units. For example, a pool with a Min of 10
	// and a demand of 4 has a Needed of 4. For a pool with children, each pool below it adds the part of its own
	// minimum that its own demand covers. Needed differs from Min only under [Entitled] and [Steady], which ignore
	// the size of the demand.
	Needed int64
	// Level is the number of units per weight at which the pool shares with other pools. These are the pools with the
	// same parent and the same rank; the pools of weight zero among them share apart. All these pools have the same
	// Level. Level is +Inf if all these pools have their Max. Level is 0 if pools that are served earlier have left
	// no units. Under [Scale], if minimums were cut, Level is the fraction of its minimum that each pool gets.
	Level float64
	// Bound says which number fixed the share, for example the demand of the pool.
	Bound Bound
}

// Bound says which number fixed a share, for example the demand of the pool. The zero value is [AtDemand].
type Bound uint8

const (
	// AtDemand means that the pool gets its whole demand.
	AtDemand Bound = iota
	// AtMax means that the pool gets its maximum and wants more.
	AtMax
	// AtMin means that the pool gets its minimum and no more. Either the weight of the pool alone would give it
	// less, or the minimums of other pools with the same parent were cut.
	AtMin
	// AtLevel means that the weight of the pool fixed its share: no minimum, demand or maximum of the pool limited
	// it.
	AtLevel
	// AtRank means that pools with the same parent are served earlier and have left no more units. They have a
	// lower rank, or they stand earlier under [FIFO]. For a pool of weight zero they may also be the pools with a
	// weight.
	AtRank
	// AtCut means that the minimums added up to more than the units to divide, so that [Policy.OnInfeasible] has
	// cut the minimum of this pool.
	AtCut
)

var boundNames = [...]string{
	AtDemand: "demand", AtMax: "maximum", AtMin: "minimum", AtLevel: "level", AtRank: "rank", AtCut: "cut",
}

// String returns the name of the bound.
func (b Bound) String() string { return enum.Name(boundNames[:], b) }

// MarshalText returns the name of the bound. It returns an error if the value has no name.
func (b Bound) MarshalText() ([]byte, error) { return enum.Text(boundNames[:], b) }

// UnmarshalText sets the bound to the constant whose name is text. It returns an error if no constant has this name.
func (b *Bound) UnmarshalText(text []byte) error { return enum.Parse(boundNames[:], text, b) }

func (s *Share) wire(c *wire.Codec) {
	c.Kind("share")
	c.Word("bound", &s.Bound)
	c.When(true).Int64("slots", &s.Slots)
	if !c.InLine() {
		c.When(true).Float("real", &s.Real)
		wire.Limit(c.When(true), "demand", &s.Demand)
		wire.Limit(c.When(true), "needed", &s.Needed)
	}
	wire.Limit(c.When(true), "min", &s.Min)
	wire.Limit(c.When(true), "max", &s.Max)
	wire.Limit(c.When(true), "level", &s.Level)
}

// String returns the share as one line. MarshalJSON and LogValue (for log/slog)
// return the fields of the line and also real, demand and needed.
func (s Share) String() string               { return wire.Line(s.wire) }
func (s Share) LogValue() slog.Value         { return wire.Log(s.wire) }
func (s Share) MarshalJSON() ([]byte, error) { return wire.JSON(s.wire) }

// InfeasibleError is the error that [Refuse] returns if the minimums of the pools at the top level add up to more
// than the units to divide. For pools with a parent the minimums always fit. The parent is guaranteed the sum of
// the guarantees of its children, and New returns an error if the maximum of the parent is smaller than this sum.
type InfeasibleError struct {
	Minimums int64 // the sum of the minimums in units, each at most the demand of its pool
	Total    int64 // the units to divide
}

// Error returns a sentence with the sum of the minimums and the total.
func (e *InfeasibleError) Error() string {
	return "fairshare: the minimums add up to " + strconv.FormatInt(e.Minimums, 10) +
		", above the total of " + strconv.FormatInt(e.Total, 10)
}
