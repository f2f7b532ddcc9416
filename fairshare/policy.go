package fairshare

import (
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Policy contains the choices of an operator for the division among all pools. The zero value follows the paper,
// except in one field: the paper's Order is [LargestDeficit], and the zero value is [LeastUsage].
type Policy struct {
	// OnInfeasible says what to do if the minimums add up to more than the units to divide. Zero means [Refuse].
	OnInfeasible OnInfeasible
	// Basis says how much a pool may get beyond its minimum. Zero means [Demanded].
	Basis Basis
	// Discipline says how the pools of the top level divide the total. Zero means [Fair].
	Discipline Discipline
	// Surplus says whether a pool with a larger minimum gets less of the units beyond the minimums. Zero means
	// [WaterLevel], and then it gets less.
	Surplus Surplus
	// Order says which of several pools with the same parent gets the next free unit. Only an [Index] uses Order.
	// Zero means [LeastUsage].
	Order Order
}

// OnInfeasible says what to do if pools with the same parent have minimums that add up to more units than these
// pools have to divide. The part of a minimum beyond the pool's demand is not included in the sum. The paper
// assumes that the minimums always fit (appendix A). No choice gives pools more units than exist.
type OnInfeasible uint8

const (
	// Refuse makes the division return an [*InfeasibleError] with the sum of the minimums and the total.
	Refuse OnInfeasible = iota
	// Scale gives every pool the same fraction of its minimum.
	Scale
	// ByWeight divides the units by weight, and each pool gets at most its minimum. So a pool with a small minimum
	// still gets its whole minimum.
	ByWeight
)

var onInfeasibleNames = [...]string{Refuse: "refuse", Scale: "scale", ByWeight: "by-weight"}

// String returns the name of the choice.
func (o OnInfeasible) String() string { return enum.Name(onInfeasibleNames[:], o) }

// MarshalText returns the name of the choice. It returns an error if the value has no name.
func (o OnInfeasible) MarshalText() ([]byte, error) { return enum.Text(onInfeasibleNames[:], o) }

// UnmarshalText sets the choice to the constant whose name is text. It returns an error if no constant has this name.
func (o *OnInfeasible) UnmarshalText(text []byte) error {
	return enum.Parse(onInfeasibleNames[:], text, o)
}

// Basis is the rule for the largest share that a pool may get. [Pool.Max] limits the share under every rule.
type Basis uint8

const (
	// Demanded limits the share of a pool to its demand. Units that a pool does not demand go to other pools
	// (section 3.1).
	Demanded Basis = iota
	// Entitled gives every pool that has any demand its share, however small the demand is. A pool without demand
	// gets nothing. Hadoop YARN calls this the instantaneous fair share.
	Entitled
	// Steady computes shares as if the demand of every pool were unlimited. Use it to plan capacity, and for
	// quotas that must not change with the load.
	Steady
)

var basisNames = [...]string{Demanded: "demanded", Entitled: "entitled", Steady: "steady"}

// String returns the name of the basis.
func (b Basis) String() string { return enum.Name(basisNames[:], b) }

// MarshalText returns the name of the basis. It returns an error if the value has no name.
func (b Basis) MarshalText() ([]byte, error) { return enum.Text(basisNames[:], b) }

// UnmarshalText sets the basis to the constant whose name is text. It returns an error if no constant has this name.
func (b *Basis) UnmarshalText(text []byte) error { return enum.Parse(basisNames[:], text, b) }

// Surplus is the rule by which the units beyond the minimums are divided among the pools.
type Surplus uint8

const (
	// WaterLevel gives units first to the pools with the fewest units per weight, until the pools have the same
	// number of units per weight (Figure 3). The minimum of a pool is included in its units per weight.
	WaterLevel Surplus = iota
	// AboveMinimum divides the units beyond the minimums by weight, and each pool gets its part in addition to its
	// minimum. So a pool with a large minimum gets as much of the surplus as a pool with a small minimum. Kueue
	// divides the quota that its queues borrow in this way. A pool with the minimum m, the demand d and the weight
	// w gets min(m, d) + L·w, at most d. [Share.Level] is L: the number of units per weight above the minimum.
	AboveMinimum
)

var surplusNames = [...]string{WaterLevel: "water-level", AboveMinimum: "above-minimum"}

// String returns the name of the choice.
func (s Surplus) String() string { return enum.Name(surplusNames[:], s) }

// MarshalText returns the name of the choice. It returns an error if the value has no name.
func (s Surplus) MarshalText() ([]byte, error) { return enum.Text(surplusNames[:], s) }

// UnmarshalText sets the choice to the constant whose name is text. It returns an error if no constant has this name.
func (s *Surplus) UnmarshalText(text []byte) error { return enum.Parse(surplusNames[:], text, s) }

// Validate returns an error for the first field that is out of range. The error contains the name of the field,
// its value and its range.
func (p Policy) Validate() error { return check.Valid(p) }

// MarshalJSON returns a JSON object with the fields that are not zero. Its keys are the names of the fields in
// kebab case, for example "on-infeasible". UnmarshalJSON reads that form.
func (p Policy) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&p)) }
func (p *Policy) UnmarshalJSON(data []byte) error { return wire.Read(data, p, wire.Struct) }
