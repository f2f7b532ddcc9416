package assign

import "github.com/straggler-go/straggler/internal/enum"

// Action says what a downstream clone should do now. The names and values are stable.
type Action uint8

const (
	// Wait reads no output yet. Wait is the zero value.
	Wait Action = iota
	// Read reads an upstream output that no other clone of the task reads.
	Read
	// ReadShared reads an upstream output that another clone of the task reads too.
	ReadShared
)

var actionNames = [...]string{"wait", "read", "share"}

// String returns the action's name.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the action's name.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action by its name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason says why the clone reads or waits. The names and values are stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota
	// OwnOutput: no other clone of the task reads this finished output. Read.
	OwnOutput
	// WindowOver: the clone got no output of its own within ω. Share.
	WindowOver
	// NoMoreOutputs: all outputs are taken, and no further upstream clone will finish. Share.
	NoMoreOutputs
	// WindowOpen: all finished outputs are taken, and another upstream clone may finish within ω. Wait.
	WindowOpen
	// NothingFinished: no upstream clone has finished yet. Wait.
	NothingFinished
	// NothingLeft: the clone has no input left to read, or all remaining outputs are lost. Wait.
	NothingLeft
)

var reasonNames = [...]string{
	"no-reason", "own-output", "window-over", "no-more-outputs", "window-open", "nothing-finished", "nothing-left",
}

// String returns the reason's name.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// State is the state of an upstream clone. The names and values are stable.
type State uint8

const (
	// Running is the zero value. An upstream clone in a queue counts as running too.
	Running State = iota
	// Finished: the clone's output can be read.
	Finished
	// Failed: the clone will not finish, or its output is lost.
	Failed
)

var stateNames = [...]string{"running", "finished", "failed"}

// String returns the state's name.
func (s State) String() string { return enum.Name(stateNames[:], s) }

// MarshalText returns the state's name, or an error for a value that does not exist.
func (s State) MarshalText() ([]byte, error) { return enum.Text(stateNames[:], s) }

// UnmarshalText sets the state by its name.
func (s *State) UnmarshalText(text []byte) error { return enum.Parse(stateNames[:], text, s) }
