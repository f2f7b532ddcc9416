package replicate

import "github.com/straggler-go/straggler/internal/enum"

// Action says what to do with an output. The names and values are stable. The zero value is [Leave].
type Action uint8

const (
	// Leave means that nothing is done.
	Leave Action = iota
	// Replicate means that the output is copied to another machine of its rack.
	Replicate
	// Recompute means that the output's task runs again before a task asks for the output.
	Recompute
)

var actionNames = [...]string{"leave", "replicate", "recompute"}

// String returns the name of the action.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the name of the action. It returns an error for an unknown value.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action by its name. It returns an error for an unknown name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason says why an action was chosen. The names and values are stable.
type Reason uint8

const (
	// NoReason is the reason in the zero [Decision].
	NoReason Reason = iota
	// SavesTime means that the copy takes less time than it is expected to save.
	SavesTime
	// SavesTooLittle means that the copy takes at least the time that it is expected to save. For a recomputation it
	// means that no time is saved.
	SavesTooLittle
	// OverBudget means that the action would save time, but the tokens or the cluster time of the budget do not cover
	// it.
	OverBudget
	// NotNeeded means that no task will read the output any more.
	NotNeeded
	// CopyLeft means that another copy of the output exists, so no recomputation is needed.
	CopyLeft
	// LossForeseen means that tasks need the output, and that it is lost or its machine is losing outputs.
	LossForeseen
	// NoEstimate means that a fact is missing or out of range.
	NoEstimate
)

var reasonNames = [...]string{
	"no-reason", "saves-time", "saves-too-little", "over-budget", "not-needed", "copy-left", "loss-foreseen",
	"no-estimate",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error for an unknown value.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name. It returns an error for an unknown name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
