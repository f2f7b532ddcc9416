package clone

import (
	"cmp"
	"log/slog"
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Off turns off the rule of a field whose zero value means the published default.
const Off = -1

// Config holds the choices of a [Budget]. Its zero value has the paper's parameters and policy.
type Config struct {
	// AcceptableRisk is ε, the probability of straggling that is accepted of a cloned job, in (0, 1). 0 means 0.05.
	AcceptableRisk float64
	// BudgetShare is β, the share of the cluster's slots that cloning may be charged with at any time, in (0, 1]. 0
	// means 0.05; Off: no limit but the ceiling.
	BudgetShare float64
	// Ceiling is τ, the share of the cluster's slots beyond which cloning must not drive its use, in (0, 1]. 0 means
	// 0.8; Off: no ceiling.
	Ceiling float64
	// Charge says what a cloned task costs of the budget. The zero value is the paper's.
	Charge Charge
	// Shortage says what to do with a job for which there is not enough room. The zero value is the paper's.
	Shortage Shortage
}

// Charge says what a task with c copies costs of the budget. The names and values are stable.
type Charge uint8

const (
	// AllCopies charges c slots, as Pseudocode 1 is printed, although the task would use one of them anyway.
	AllCopies Charge = iota
	// ExtraCopies charges c-1 slots: what cloning adds.
	ExtraCopies
)

var chargeNames = [...]string{"all-copies", "extra-copies"}

// String returns the charge's name.
func (c Charge) String() string { return enum.Name(chargeNames[:], c) }

// MarshalText returns the name.
func (c Charge) MarshalText() ([]byte, error) { return enum.Text(chargeNames[:], c) }

// UnmarshalText sets the value by its name.
func (c *Charge) UnmarshalText(text []byte) error { return enum.Parse(chargeNames[:], text, c) }

// Shortage says what to do with a job that there is not enough room for. The names and values are stable.
type Shortage uint8

const (
	// Deny clones all tasks to the full count or none: the paper's admission control [Dolly §3.3].
	Deny Shortage = iota
	// FewerCopies gives all tasks as many copies as there is room for: partial cloning [Dolly §3.3].
	FewerCopies
	// FirstTasks gives the full count to as many tasks as there is room for, in their order, and one copy to the rest:
	// slots go to whoever comes first, with no admission control ("pure-FCFS" in Dolly §5.5, which gives no details).
	FirstTasks
)

var shortageNames = [...]string{"deny", "fewer-copies", "first-tasks"}

// String returns the name of what is done.
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

// Validate reports the first field that is out of range, with its value and its range.
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

// String returns the configuration as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON,
// which UnmarshalJSON reads, have the same fields.
func (c Config) String() string                   { return wire.Line(wire.Settings(&c)) }
func (c Config) LogValue() slog.Value             { return wire.Log(wire.Settings(&c)) }
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }
func (c *Config) UnmarshalText(line []byte) error { return wire.Scan(line, c, wire.Struct) }

// slots returns how many whole slots a share of the capacity is, and all there can be if the share is Off. Shares are
// meant as decimals: 0.29 of 100 slots is 29, although the product of the two in binary is less; hence the allowance
// for a rounding error or two.
func slots(share float64, capacity int) int {
	if share == Off {
		return math.MaxInt
	}
	capacity = max(capacity, 0)
	product := float64(share * float64(capacity))
	return min(toInt(math.Floor(product+max(1e-9, float64(product*4e-16)))), capacity)
}
