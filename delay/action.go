package delay

import "github.com/straggler-go/straggler/internal/enum"

// Action says whether a job should launch a task on an offered slot. The values and the names of the constants will not
// change.
type Action uint8

const (
	// Wait means: leave the slot to another job. Wait is the zero value.
	Wait Action = iota
	// Launch means: start a task of the job on the offered slot.
	Launch
)

var actionNames = [...]string{Wait: "wait", Launch: "launch"}

// String returns the name of the action.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the name of the action. It returns an error if the value has no name.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action to the constant whose name is text. It returns an error if no constant has this name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason says why a job should launch a task on an offered slot, or wait. The values and the names of the
// constants will not change.
type Reason uint8

const (
	// NoReason is the zero value. No answer to an offer has it.
	NoReason Reason = iota
	// LocalEnough: the slot is near enough to the job's data. The action is Launch.
	LocalEnough
	// Delayed: the job has a task for this slot, but it still waits for a slot nearer to its data. The action is
	// Wait. With the rule [OnLaunch] such an offer begins the job's wait, if it has not begun.
	Delayed
	// NoTask: the job has no task for this slot. The action is Wait. Such an offer never begins the job's wait.
	NoTask
)

var reasonNames = [...]string{NoReason: "no-reason", LocalEnough: "local-enough", Delayed: "delayed", NoTask: "no-task"}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error if the value has no name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason to the constant whose name is text. It returns an error if no constant has this name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
