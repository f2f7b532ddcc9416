package clone

import (
	"cmp"
	"log/slog"
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Off turns a limit off. A field's zero value means the published default, so zero cannot turn the limit off.
const Off = -1

// Config is the configuration of a [Budget]. Its zero value has the paper's parameters and policy.
type Config struct {
	// AcceptableRisk is ε, the accepted probability that a cloned job straggles, in (0, 1). 0 means 0.05.
	AcceptableRisk float64
	// BudgetShare is β, the share of the cluster's slots that may be charged to the cloning budget, in (0, 1]. 0 means
	// 0.05. Off means that only the ceiling limits cloning.
	BudgetShare float64
	// Ceiling is τ, a share of the cluster's slots, in (0, 1]. Cloning must not raise the use of the cluster above this
	// share. 0 means 0.8. Off means no ceiling.
	Ceiling float64
	// Charge says how many slots a cloned task costs. The zero value is the paper's rule.
	Charge Charge
	// Shortage says what happens if there is not enough room for a job's clones. The zero value is the paper's rule.
	Shortage Shortage
}

// Charge says how many slots of the budget a task with c clones costs. The names and values are stable.
type Charge uint8

const (
	// AllClones charges c slots, as Pseudocode 1 of the paper does, although the task needs one slot without cloning too.
	AllClones Charge = iota
	// ExtraClones charges c-1 slots: the slots that cloning adds.
	ExtraClones
)

var chargeNames = [...]string{"all-clones", "extra-clones"}

// String returns the charge's name.
func (c Charge) String() string { return enum.Name(chargeNames[:], c) }

// MarshalText returns the name.
func (c Charge) MarshalText() ([]byte, error) { return enum.Text(chargeNames[:], c) }

// UnmarshalText sets the value by its name.
func (c *Charge) UnmarshalText(text []byte) error { return enum.Parse(chargeNames[:], text, c) }

// Shortage says what happens if there is not enough room for a job's clones. The names and values are stable.
type Shortage uint8

const (
	// Deny gives either all tasks the full number of clones or every task one attempt: the paper's admission control
	// [Dolly §3.3].
	Deny Shortage = iota
	// FewerClones gives all tasks the same smaller number of clones that fits: partial cloning [Dolly §3.3].
	FewerClones
	// FirstTasks gives the full number of clones to the first tasks while there is room, and one attempt to each other
	// task. Slots go to the first tasks that come, without admission control. The paper calls this "pure-FCFS", without
	// details [Dolly §5.5].
	FirstTasks
)

var shortageNames = [...]string{"deny", "fewer-clones", "first-tasks"}

// String returns the name of the rule.
func (s Shortage) String() string { return enum.Name(shortageNames[:], s) }

// MarshalText returns the name.
func (s Shortage) MarshalText() ([]byte, error) { return enum.Text(shortageNames[:], s) }

// UnmarshalText sets the value by its name.
func (s *Shortage) UnmarshalText(text []byte) error { return enum.Parse(shortageNames[:], text, s) }

// Effective returns the configuration with its defaults filled in, for logs.
func (c Config) Effective() Config {
	c.AcceptableRisk = check.Or(c.AcceptableRisk, 0.05)
	c.BudgetShare = check.Or(c.BudgetShare, 0.05)
	c.Ceiling = check.Or(c.Ceiling, 0.8)
	return c
}

// Validate returns an error for the first field that is out of range. The error names the field, its value and its range.
func (c Config) Validate() error {
	const place = "clone: Config"
	return cmp.Or(
		check.Probability(place, "AcceptableRisk", c.AcceptableRisk),
		check.Share(place, "BudgetShare", c.BudgetShare, true),
		check.Share(place, "Ceiling", c.Ceiling, true),
		check.Named(place, "Charge", c.Charge, chargeNames[:]),
		check.Named(place, "Shortage", c.Shortage, shortageNames[:]),
	)
}

// String returns the configuration in one line. LogValue, for log/slog, and MarshalJSON have the same fields. UnmarshalJSON
// reads the JSON.
func (c Config) String() string                   { return wire.Line(wire.Settings(&c)) }
func (c Config) LogValue() slog.Value             { return wire.Log(wire.Settings(&c)) }
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// slots returns the whole number of slots in a share of the capacity, or math.MaxInt if the share is Off. Shares are
// decimal numbers: 0.29 of 100 slots is 29 slots, although the binary product is slightly less. So the product may
// exceed itself by one or two rounding errors.
func slots(share float64, capacity int) int {
	if share == Off {
		return math.MaxInt
	}
	capacity = max(capacity, 0)
	product := float64(share * float64(capacity))
	return min(toInt(math.Floor(product+max(1e-9, float64(product*4e-16)))), capacity)
}
