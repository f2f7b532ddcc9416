package fairshare

import "fmt"

// Policy is what an operator chooses about the tree as a whole. The zero value is the paper's.
//
// Safe for concurrent use.
type Policy struct {
	// Infeasible says what to do when the minimums add up to more than there is.
	Infeasible Infeasible
	// Basis says what a pool may claim beyond its minimum.
	Basis Basis
	// Discipline divides the total among the pools of the top level.
	Discipline Discipline
}

// Infeasible is what to do when the minimums of siblings, each capped by what the pool wants, add up to more than there
// is for them. The paper assumes that they never do (appendix A). No choice hands out more than there is.
type Infeasible uint8

const (
	// Refuse returns an [*InfeasibleError] with the sum and the total.
	Refuse Infeasible = iota
	// Scale gives every pool the same fraction of its minimum.
	Scale
	// ByWeight divides by weight as usual, with the minimums as maximums: small guarantees are kept in full.
	ByWeight
)

var infeasibleNames = [...]string{Refuse: "refuse", Scale: "scale", ByWeight: "by-weight"}

// String returns the name of the choice.
func (i Infeasible) String() string { return nameOf(infeasibleNames[:], uint8(i)) }

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
func (b Basis) String() string { return nameOf(basisNames[:], uint8(b)) }

func (p Policy) check() error {
	switch {
	case p.Infeasible > ByWeight:
		return fmt.Errorf("fairshare: policy: Infeasible is %d, want Refuse, Scale or ByWeight", p.Infeasible)
	case p.Basis > Steady:
		return fmt.Errorf("fairshare: policy: Basis is %d, want Demanded, Entitled or Steady", p.Basis)
	case p.Discipline > MultiLevel:
		return fmt.Errorf("fairshare: policy: Discipline is %d, want Fair, FIFO or MultiLevel", p.Discipline)
	}
	return nil
}
