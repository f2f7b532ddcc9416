package fairshare

import (
	"cmp"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Policy is what an operator chooses about the tree as a whole. The zero value is the paper's, except that
// [LeastUsage] needs no shares where [LargestDeficit] does.
type Policy struct {
	// OnInfeasible says what to do when the minimums add up to more than there is.
	OnInfeasible OnInfeasible
	// Basis says what a pool may claim beyond its minimum.
	Basis Basis
	// Discipline divides the total among the pools of the top level.
	Discipline Discipline
	// Surplus says whether minimums count when what is above them is divided.
	Surplus Surplus
	// Order says who among siblings gets the next free unit; only an [Index] reads it.
	Order Order
}

// OnInfeasible is what to do when the minimums of siblings, each capped by what the pool wants, add up to more than
// there is for them. The paper assumes that they never do (appendix A). No choice hands out more than there is.
type OnInfeasible uint8

const (
	// Refuse returns an [*InfeasibleError] with the sum and the total.
	Refuse OnInfeasible = iota
	// Scale gives every pool the same fraction of its minimum.
	Scale
	// ByWeight divides by weight as usual, with the minimums as maximums: small guarantees are kept in full.
	ByWeight
)

var onInfeasibleNames = [...]string{Refuse: "refuse", Scale: "scale", ByWeight: "by-weight"}

// String returns the name of the choice.
func (o OnInfeasible) String() string { return enum.Name(onInfeasibleNames[:], o) }

// MarshalText returns the choice's name.
func (o OnInfeasible) MarshalText() ([]byte, error) { return enum.Text(onInfeasibleNames[:], o) }

// UnmarshalText sets the choice by its name.
func (o *OnInfeasible) UnmarshalText(text []byte) error {
	return enum.Parse(onInfeasibleNames[:], text, o)
}

// Basis is what bounds a share from above, besides Max.
type Basis uint8

const (
	// Demanded shares are bounded by demand: what one pool does not want goes to others (section 3.1).
	Demanded Basis = iota
	// Entitled shares ignore how much an active pool wants, and are zero for one with no demand. It is what Hadoop YARN
	// calls the instantaneous fair share.
	Entitled
	// Steady shares ignore demand altogether, for capacity plans and quotas that should not move with the load.
	Steady
)

var basisNames = [...]string{Demanded: "demanded", Entitled: "entitled", Steady: "steady"}

// String returns the name of the basis.
func (b Basis) String() string { return enum.Name(basisNames[:], b) }

// MarshalText returns the basis's name.
func (b Basis) MarshalText() ([]byte, error) { return enum.Text(basisNames[:], b) }

// UnmarshalText sets the basis by its name.
func (b *Basis) UnmarshalText(text []byte) error { return enum.Parse(basisNames[:], text, b) }

// Surplus is how what is left above the minimums is divided by weight.
type Surplus uint8

const (
	// WaterLevel raises the emptiest pools first, to one level: what a pool has as its minimum counts (Figure 3).
	WaterLevel Surplus = iota
	// AboveMinimum gives every pool its part on top of its minimum, which does not count: a large guarantee costs its
	// pool nothing of the surplus. It is how Kueue shares what its queues borrow above their nominal quota. A pool then
	// gets min(m, d) + L·w, at most d, and [Share.Level] is L, units per weight above the minimum.
	AboveMinimum
)

var surplusNames = [...]string{WaterLevel: "water-level", AboveMinimum: "above-minimum"}

// String returns the name of the choice.
func (s Surplus) String() string { return enum.Name(surplusNames[:], s) }

// MarshalText returns the choice's name.
func (s Surplus) MarshalText() ([]byte, error) { return enum.Text(surplusNames[:], s) }

// UnmarshalText sets the surplus by its name.
func (s *Surplus) UnmarshalText(text []byte) error { return enum.Parse(surplusNames[:], text, s) }

// Validate reports the first field that is out of range, with its value and its range.
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

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (p Policy) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&p)) }
func (p *Policy) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }
