package clone

import (
	"log/slog"
	"math"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Off as the value of a field of [Config] turns a limit off. The value 0 cannot do this, because it means the
// default.
const Off = -1

// Config is the configuration of a [Budget]. The zero value has the paper's parameters and rules.
type Config struct {
	// AcceptableRisk is the paper's ε: the probability, in (0, 1), that a cloned job may straggle. Zero means
	// 0.05.
	AcceptableRisk float64 `want:"probability" default:"0.05"`
	// BudgetShare is the paper's β: the share of the cluster's slots that may be charged to cloning, in (0, 1].
	// Zero means 0.05. [Off] means that there is no such limit, so only Ceiling limits cloning.
	BudgetShare float64 `want:"share or off" default:"0.05"`
	// Ceiling is the paper's τ: a share of the cluster's slots, in (0, 1]. A job is cloned only if at most this share
	// of the slots is busy after its clones have started. Zero means 0.8. [Off] means that there is no such limit.
	Ceiling float64 `want:"share or off" default:"0.8"`
	// Charge says how many slots are charged for a cloned task. The zero value is the paper's rule.
	Charge Charge
	// Shortage says what happens if the limits leave too few slots for the clones of a job. The zero value is the
	// paper's rule.
	Shortage Shortage
}

// Charge says how many slots of the cloning budget a task with c clones uses. The values and the names of the
// constants will not change.
type Charge uint8

const (
	// AllClones charges c slots for a task with c clones, as Pseudocode 1 of the paper does. This includes the slot
	// that the task needs without cloning.
	AllClones Charge = iota
	// ExtraClones charges c-1 slots for a task with c clones: the slots that the task needs only because it is cloned.
	ExtraClones
)

var chargeNames = [...]string{AllClones: "all-clones", ExtraClones: "extra-clones"}

// String returns the name of the charge.
func (c Charge) String() string { return enum.Name(chargeNames[:], c) }

// MarshalText returns the name of the charge. It returns an error if the value has no name.
func (c Charge) MarshalText() ([]byte, error) { return enum.Text(chargeNames[:], c) }

// UnmarshalText sets the charge to the constant whose name is text. It returns an error if no constant has this name.
func (c *Charge) UnmarshalText(text []byte) error { return enum.Parse(chargeNames[:], text, c) }

// Shortage says what happens if the limits leave too few slots for the clones of a job. The values and the names
// of the constants will not change.
type Shortage uint8

const (
	// Deny launches one attempt of every task if there are too few slots for all clones of the job. So a job gets all
	// its clones or none. This is the admission control of the paper [Dolly §3.3].
	Deny Shortage = iota
	// FewerClones launches fewer clones of each task: the largest number for which there are enough slots, the
	// same for all tasks. The paper calls this partial cloning [Dolly §3.3].
	FewerClones
	// FirstTasks launches all clones of the first tasks, as long as there are enough slots, and one attempt of
	// each other task. The paper calls this "pure-FCFS": first come, first served, without admission control. It
	// gives no details [Dolly §5.5].
	FirstTasks
)

var shortageNames = [...]string{Deny: "deny", FewerClones: "fewer-clones", FirstTasks: "first-tasks"}

// String returns the name of the rule.
func (s Shortage) String() string { return enum.Name(shortageNames[:], s) }

// MarshalText returns the name of the shortage. It returns an error if the value has no name.
func (s Shortage) MarshalText() ([]byte, error) { return enum.Text(shortageNames[:], s) }

// UnmarshalText sets the shortage to the constant whose name is text. It returns an error if no constant has this name.
func (s *Shortage) UnmarshalText(text []byte) error { return enum.Parse(shortageNames[:], text, s) }

// Effective returns the configuration with its zero fields replaced by their defaults, for example for a log.
func (c Config) Effective() Config { return check.Filled(c) }

// Validate returns an error for the first field that is out of range. The error contains the name of the field,
// its value and its range.
func (c Config) Validate() error { return check.Valid(c) }

// String returns the configuration as one line. LogValue returns the same fields for log/slog. MarshalJSON writes the
// same fields, and UnmarshalJSON reads the JSON.
func (c Config) String() string                   { return wire.Line(wire.Settings(&c)) }
func (c Config) LogValue() slog.Value             { return wire.Log(wire.Settings(&c)) }
func (c Config) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&c)) }
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, wire.Struct) }

// slots returns the whole number of slots that are a share of the capacity, rounded down, or math.MaxInt if the
// share is Off. For example, 0.29 of 100 slots are 29 slots. In binary arithmetic the product is slightly less
// than 29, so a small number is added before the product is rounded down.
func slots(share float64, capacity int) int {
	if share == Off {
		return math.MaxInt
	}
	capacity = max(capacity, 0)
	product := float64(share * float64(capacity))
	return min(toInt(math.Floor(product+max(1e-9, float64(product*4e-16)))), capacity)
}
