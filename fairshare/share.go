package fairshare

import (
	"log/slog"
	"strconv"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Shares divides total among the pools by the paper's rule and returns one share a pool, in the pools' order. It is
// short for [New] with the zero [Policy] and one call of [Tree.Shares].
//
// It returns an error, which names the pool and the field, for a pool out of range, a parent that does not exist, a
// cycle, or a sum beyond int64; and an [*InfeasibleError] if the minimums do not fit in the total.
//
// Cost: that of New and one call of Tree.Shares; it allocates O(n).
func Shares(pools []Pool, total int64) ([]Share, error) {
	t, err := New(pools, Policy{})
	if err != nil {
		return nil, err
	}
	return t.Shares(nil, nil, total)
}

// Share is what a pool gets, and why. It is comparable and holds no NaN.
type Share struct {
	// Slots is the share in whole units. Siblings' slots add up exactly to what there was to divide among them, or to all
	// that they want if that is less.
	Slots int64
	// Real is the share before rounding, and Slots is it rounded up or down. It is a share of the whole slots that the
	// parent has, not of the parent's own Real.
	Real float64
	// Min and Max are the bounds that held: the guarantee, capped by what the pool wants, and the most that it could get
	// on the basis chosen. Real is Level times the weight, clamped to them; weight zero, and any under [FIFO], counts as
	// 1.
	Min, Max int64
	// Demand is what the pool wants, its maximum and those of its children considered.
	Demand int64
	// Needed is the part of Min that the pool and those under it want, each its own. It is less than Min only on a basis
	// that ignores demand.
	Needed int64
	// Level is the water level among the siblings served together with the pool, in units per weight: +Inf if all of them
	// have all they want, 0 if those served before left nothing. Where minimums were scaled, it is the fraction of the
	// minimum.
	Level float64
	// Bound is which of these numbers fixed the share.
	Bound Bound
}

// Bound is what fixed a share.
type Bound uint8

const (
	// AtDemand means the pool has all it wants.
	AtDemand Bound = iota
	// AtMax means the pool wants more than its maximum.
	AtMax
	// AtMin means the level lies below the pool's guarantee.
	AtMin
	// AtLevel means the pool stands at the water level: its weight fixed the share.
	AtLevel
	// AtRank means that siblings served before left no more: those of a lower rank, earlier in a FIFO pool, or, for a
	// pool of weight zero, those with a weight.
	AtRank
	// AtCut means the minimums did not fit and were cut as the policy says.
	AtCut
)

var boundNames = [...]string{
	AtDemand: "demand", AtMax: "maximum", AtMin: "minimum", AtLevel: "level", AtRank: "rank", AtCut: "cut",
}

// String returns the name of the bound.
func (b Bound) String() string { return enum.Name(boundNames[:], b) }

// MarshalText returns the bound's name.
func (b Bound) MarshalText() ([]byte, error) { return enum.Text(boundNames[:], b) }

// UnmarshalText sets the bound by its name.
func (b *Bound) UnmarshalText(text []byte) error { return enum.Parse(boundNames[:], text, b) }

func (s *Share) wire(c *wire.Codec) {
	c.Kind(0, "share")
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

// String returns the share as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the
// same fields, and those that the line leaves out.
func (s Share) String() string                   { return wire.Line(s.wire) }
func (s Share) LogValue() slog.Value             { return wire.Log(s.wire) }
func (s Share) MarshalJSON() ([]byte, error)     { return wire.JSON(s.wire) }
func (s *Share) UnmarshalJSON(data []byte) error { return wire.Read(data, s, (*Share).wire) }
func (s *Share) UnmarshalText(line []byte) error { return wire.Scan(line, s, (*Share).wire) }

// InfeasibleError reports that the minimums of the top level do not fit in the total. It cannot happen further down: a
// pool is guaranteed what its children are, and New refuses a maximum below that.
type InfeasibleError struct {
	Minimums int64 // the sum of the minimums, each capped by what its pool wants
	Total    int64
}

// Error implements error.
func (e *InfeasibleError) Error() string {
	return "fairshare: the minimums add up to " + strconv.FormatInt(e.Minimums, 10) +
		", above the total of " + strconv.FormatInt(e.Total, 10)
}
