package replicate

import "github.com/straggler-go/straggler/internal/enum"

// Action says what to do with an output. The numbers and the names of the constants will not change. The zero value
// is [Leave].
type Action uint8

const (
	// Leave means that the output is not copied and not recomputed.
	Leave Action = iota
	// Replicate means that the output should be copied to another machine of its rack.
	Replicate
	// Recompute means that the task that made the output should run again before another task asks for the output.
	Recompute
)

var actionNames = [...]string{Leave: "leave", Replicate: "replicate", Recompute: "recompute"}

// String returns the name of the action.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the name of the action. It returns an error for an unknown value.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action to the action with the given name. It returns an error for an unknown name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason says why an action was chosen. The numbers and the names of the constants will not change.
type Reason uint8

const (
	// NoReason is the reason in the zero [Decision].
	NoReason Reason = iota
	// SavesTime means that a copy of the output takes less time than it is expected to save.
	SavesTime
	// SavesTooLittle means that a copy of the output would take at least the time that it is expected to save. If
	// the question was whether to recompute the output, SavesTooLittle means that no time would be saved.
	SavesTooLittle
	// OverBudget means that the action would save time, but the budget has too few tokens for a copy, or too little
	// cluster time for a recomputation.
	OverBudget
	// NotNeeded means that no task will read the output any more.
	NotNeeded
	// CopyLeft means that another copy of the output exists, so no recomputation is needed.
	CopyLeft
	// LossForeseen means that tasks need the output, and that the output is lost or its machine is losing outputs.
	LossForeseen
	// NoEstimate means that a number that the decision needs is missing or out of range.
	NoEstimate
)

var reasonNames = [...]string{
	NoReason: "no-reason", SavesTime: "saves-time", SavesTooLittle: "saves-too-little", OverBudget: "over-budget",
	NotNeeded: "not-needed", CopyLeft: "copy-left", LossForeseen: "loss-foreseen", NoEstimate: "no-estimate",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error for an unknown value.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason to the reason with the given name. It returns an error for an unknown name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
