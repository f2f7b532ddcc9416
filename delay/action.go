package delay

import "github.com/straggler-go/straggler/internal/enum"

// Action says what to do with an offered slot. The names and values are stable.
type Action uint8

const (
	// Wait leaves the slot to another job. Wait is the zero value.
	Wait Action = iota
	// Launch starts a task of the job on the offered slot.
	Launch
)

var actionNames = [...]string{"wait", "launch"}

// String returns the action's name.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the action's name.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action by its name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason says why the job launches or waits. The names and values are stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota
	// LocalEnough: the job may launch at the offered level. Launch.
	LocalEnough
	// Delayed: the job has a task for this slot, but waits for a more local slot. Only this reason is a rejection because
	// of the delay.
	Delayed
	// NoTask: the job has no task for this slot, so the slot is declined and no wait begins.
	NoTask
)

var reasonNames = [...]string{"no-reason", "local-enough", "delayed", "no-task"}

// String returns the reason's name.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
