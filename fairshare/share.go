package fairshare

import (
	"log/slog"
	"strconv"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Shares divides total units among the pools by the paper's rule. It returns one share for each pool, in the pools'
// order. Shares is short for [New] with the zero [Policy] and one call of [Tree.Shares].
//
// Shares returns an error for a field out of range, an unknown parent, a cycle, or a sum beyond int64. The error
// names the pool and the field. If the minimums do not fit in total, the error is an [*InfeasibleError].
//
// Cost: New and one call of Tree.Shares; it allocates O(n) for n pools.
func Shares(pools []Pool, total int64) ([]Share, error) {
	t, err := New(pools, Policy{})
	if err != nil {
		return nil, err
	}
	return t.Shares(nil, nil, total)
}

// Share is the answer of [Shares] and [Tree.Shares] for one pool: its units, and the number that fixed them. It is
// comparable and holds no NaN. One line:
//
//	share level slots=14 min=10 max=18 level=14
//
// The pool gets 14 slots, because the level is 14 and its weight is 1. At least 10 and at most 18 slots were
// possible.
type Share struct {
	// Slots is the share in whole units. The slots of siblings add up exactly to the units that they divide, or to
	// the sum of their upper bounds if that sum is smaller.
	Slots int64
	// Real is the share before it is rounded up or down to Slots. Siblings divide the Slots of their parent, and not
	// the parent's Real.
	Real float64
	// Min and Max are the bounds of the share in units. Min is the guarantee, capped by Max. Max is the demand under
	// [Demanded], capped by the pool's maximum; see [Basis]. Real is Level times the weight, clamped to Min and Max.
	// Weight zero, and every weight under [FIFO], counts as 1.
	Min, Max int64
	// Demand is the pool's demand in units, capped by its maximum. For a pool with children it is the sum of the
	// children's capped demands, capped again by the pool's own maximum.
	Demand int64
	// Needed is the part of Min that the demand covers, in units. For a pool with children, each pool below it counts
	// with its own demand. Needed differs from Min only under [Entitled] and [Steady], which ignore the size of the
	// demand.
	Needed int64
	// Level is the water level in units per weight. It is common to siblings that are served together: siblings of
	// one rank that all have a weight, or all have weight zero. Level is +Inf if all these siblings have their Max.
	// It is 0 if siblings that were served before left nothing. Under [Scale], if minimums were cut, Level is the
	// fraction of the minimum.
	Level float64
	// Bound names the number that fixed the share.
	Bound Bound
}

// Bound names the number that fixed a share. The zero value is [AtDemand].
type Bound uint8

const (
	// AtDemand means that the pool has its whole demand.
	AtDemand Bound = iota
	// AtMax means that the pool has its maximum and wants more.
	AtMax
	// AtMin means that the pool has its guarantee and no more: the level is below the guarantee, or minimums of
	// siblings were cut.
	AtMin
	// AtLevel means that the pool stands at the water level, so its weight fixed the share.
	AtLevel
	// AtRank means that siblings that are served earlier left no more units. They have a lower rank, or stand earlier
	// in a FIFO pool. For a pool of weight zero they are the siblings with a weight.
	AtRank
	// AtCut means that the minimums did not fit, and [Policy.OnInfeasible] cut the pool's minimum.
	AtCut
)

var boundNames = [...]string{
	AtDemand: "demand", AtMax: "maximum", AtMin: "minimum", AtLevel: "level", AtRank: "rank", AtCut: "cut",
}

// String returns the name of the bound.
func (b Bound) String() string { return enum.Name(boundNames[:], b) }

// MarshalText returns the name of the bound. It returns an error for an unknown value.
func (b Bound) MarshalText() ([]byte, error) { return enum.Text(boundNames[:], b) }

// UnmarshalText sets the bound by its name. It returns an error for an unknown name.
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

// String returns the share as one line. MarshalJSON and LogValue (for log/slog) have the fields of the line and also real,
// demand and needed.
func (s Share) String() string               { return wire.Line(s.wire) }
func (s Share) LogValue() slog.Value         { return wire.Log(s.wire) }
func (s Share) MarshalJSON() ([]byte, error) { return wire.JSON(s.wire) }

// InfeasibleError reports, under [Refuse], that the minimums of the top level do not fit in the total. At deeper
// levels the minimums always fit: a pool is guaranteed the sum of its children's guarantees, and New refuses a
// smaller maximum.
type InfeasibleError struct {
	Minimums int64 // the sum of the minimums in units, each capped by the pool's demand
	Total    int64 // the units to divide
}

// Error returns the two numbers as a sentence.
func (e *InfeasibleError) Error() string {
	return "fairshare: the minimums add up to " + strconv.FormatInt(e.Minimums, 10) +
		", above the total of " + strconv.FormatInt(e.Total, 10)
}
