package replicate

import "github.com/straggler-go/straggler/internal/enum"

// Action is what to do about an output. The names and values are stable.
type Action uint8

const (
	// Leave does nothing. It is the zero value.
	Leave Action = iota
	// Replicate copies the output to another machine of its rack.
	Replicate
	// Recompute runs the output's task again before anyone asks for it.
	Recompute
)

var actionNames = [...]string{"leave", "replicate", "recompute"}

// String returns the action's name.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the action's name.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action by its name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason is why. The names and values are stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota
	// SavesTime: copying takes less time than it is expected to save.
	SavesTime
	// SavesTooLittle: it takes as much time as it saves, or more.
	SavesTooLittle
	// OverBudget: it would be worth it, and there are not as many tokens, or not as much cluster time, left.
	OverBudget
	// NotNeeded: no task is left to read the output.
	NotNeeded
	// CopyLeft: another copy is there to read.
	CopyLeft
	// LossForeseen: the output is lost, or its machine is losing outputs, and tasks need it.
	LossForeseen
	// NoEstimate: a fact is missing or makes no sense.
	NoEstimate
)

var reasonNames = [...]string{
	"no-reason", "saves-time", "saves-too-little", "over-budget", "not-needed", "copy-left", "loss-foreseen",
	"no-estimate",
}

// String returns the reason's name.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
