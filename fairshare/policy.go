package fairshare

import (
	"cmp"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Policy holds the choices of an operator for the whole tree. The zero value follows the paper, except for Order: the
// paper's order is [LargestDeficit].
type Policy struct {
	// OnInfeasible says what to do if the minimums add up to more than the total. Zero: [Refuse].
	OnInfeasible OnInfeasible
	// Basis says how much a pool may get beyond its minimum. Zero: [Demanded].
	Basis Basis
	// Discipline says how the total is divided among the pools of the top level. Zero: [Fair].
	Discipline Discipline
	// Surplus says whether a minimum counts when the units beyond the minimums are divided. Zero: [WaterLevel].
	Surplus Surplus
	// Order says which of several siblings gets the next free unit. Only an [Index] uses Order. Zero: [LeastUsage].
	Order Order
}

// OnInfeasible says what to do if the minimums of siblings, each capped by the pool's demand, add up to more than the
// siblings have to divide. The paper assumes that the minimums always fit (appendix A). No choice hands out more
// units than exist.
type OnInfeasible uint8

const (
	// Refuse returns an [*InfeasibleError] with the sum and the total.
	Refuse OnInfeasible = iota
	// Scale gives every pool the same fraction of its minimum.
	Scale
	// ByWeight divides by weight as usual, and each pool gets at most its minimum. So small guarantees are kept in
	// full.
	ByWeight
)

var onInfeasibleNames = [...]string{Refuse: "refuse", Scale: "scale", ByWeight: "by-weight"}

// String returns the name of the choice.
func (o OnInfeasible) String() string { return enum.Name(onInfeasibleNames[:], o) }

// MarshalText returns the name of the choice. It returns an error for an unknown value.
func (o OnInfeasible) MarshalText() ([]byte, error) { return enum.Text(onInfeasibleNames[:], o) }

// UnmarshalText sets the choice by its name. It returns an error for an unknown name.
func (o *OnInfeasible) UnmarshalText(text []byte) error {
	return enum.Parse(onInfeasibleNames[:], text, o)
}

// Basis names the upper bound of a share, besides [Pool.Max].
type Basis uint8

const (
	// Demanded bounds a share by the pool's demand. Units that a pool does not want go to other pools (section 3.1).
	Demanded Basis = iota
	// Entitled gives every pool with a demand its share, however small the demand is. A pool without demand gets
	// nothing. Hadoop YARN calls this the instantaneous fair share.
	Entitled
	// Steady ignores demand. Use it for capacity plans and for quotas that must not change with the load.
	Steady
)

var basisNames = [...]string{Demanded: "demanded", Entitled: "entitled", Steady: "steady"}

// String returns the name of the basis.
func (b Basis) String() string { return enum.Name(basisNames[:], b) }

// MarshalText returns the name of the basis. It returns an error for an unknown value.
func (b Basis) MarshalText() ([]byte, error) { return enum.Text(basisNames[:], b) }

// UnmarshalText sets the basis by its name. It returns an error for an unknown name.
func (b *Basis) UnmarshalText(text []byte) error { return enum.Parse(basisNames[:], text, b) }

// Surplus says how the units beyond the minimums are divided by weight.
type Surplus uint8

const (
	// WaterLevel fills the pools with the least units per weight first, up to one level. A pool's minimum counts
	// towards the level (Figure 3).
	WaterLevel Surplus = iota
	// AboveMinimum gives every pool its part of the surplus on top of its minimum. So a large guarantee does not
	// reduce a pool's part of the surplus. Kueue divides in this way the quota that its queues borrow. A pool gets
	// min(m, d) + L·w, at most d. [Share.Level] is L: units per weight above the minimum.
	AboveMinimum
)

var surplusNames = [...]string{WaterLevel: "water-level", AboveMinimum: "above-minimum"}

// String returns the name of the choice.
func (s Surplus) String() string { return enum.Name(surplusNames[:], s) }

// MarshalText returns the name of the choice. It returns an error for an unknown value.
func (s Surplus) MarshalText() ([]byte, error) { return enum.Text(surplusNames[:], s) }

// UnmarshalText sets the surplus by its name. It returns an error for an unknown name.
func (s *Surplus) UnmarshalText(text []byte) error { return enum.Parse(surplusNames[:], text, s) }

// Validate returns an error for the first field that is out of range. The error names the field, its value and its
// range.
func (p Policy) Validate() error {
	const place = "fairshare: Policy"
	return cmp.Or(
		check.Named(place, "OnInfeasible", p.OnInfeasible, onInfeasibleNames[:]),
		check.Named(place, "Basis", p.Basis, basisNames[:]),
		check.Named(place, "Discipline", p.Discipline, disciplineNames[:]),
		check.Named(place, "Surplus", p.Surplus, surplusNames[:]),
		check.Named(place, "Order", p.Order, orderNames[:]),
	)
}

// MarshalJSON returns the fields that are not zero, with names in kebab case. UnmarshalJSON reads that form.
func (p Policy) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&p)) }
func (p *Policy) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }
