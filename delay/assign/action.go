package assign

import "github.com/straggler-go/straggler/internal/enum"

// Action says what a clone of a downstream task should do now. The values and the names of the constants will not
// change.
type Action uint8

const (
	// Wait means: read no output yet. Wait is the zero value.
	Wait Action = iota
	// Read means: read an output that no other clone of the same task reads.
	Read
	// ReadShared means: read an output that another clone of the same task also reads.
	ReadShared
)

var actionNames = [...]string{Wait: "wait", Read: "read", ReadShared: "share"}

// String returns the name of the action.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the name of the action. It returns an error if the value has no name.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action to the constant whose name is text. It returns an error if no constant has this name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason says why a clone should read or wait. The values and the names of the constants will not change.
type Reason uint8

const (
	// NoReason is the zero value. No result of [Decide] has it.
	NoReason Reason = iota
	// OwnOutput: an output is finished, and no other clone of the same task reads it. The action is Read.
	OwnOutput
	// WindowOver: the clone has waited for the whole window and got no output that no other clone reads. The
	// action is ReadShared.
	WindowOver
	// NoMoreOutputs: other clones read all finished outputs, and no further upstream clone will finish. The action
	// is ReadShared.
	NoMoreOutputs
	// WindowOpen: other clones read all finished outputs, but another upstream clone may finish before the end of
	// the window. The action is Wait.
	WindowOpen
	// NothingFinished: no upstream clone has finished yet. The action is Wait.
	NothingFinished
	// NothingLeft: the clone has read all its inputs, or the outputs that remain are lost. The action is Wait.
	NothingLeft
)

var reasonNames = [...]string{
	NoReason: "no-reason", OwnOutput: "own-output", WindowOver: "window-over", NoMoreOutputs: "no-more-outputs",
	WindowOpen: "window-open", NothingFinished: "nothing-finished", NothingLeft: "nothing-left",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error if the value has no name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason to the constant whose name is text. It returns an error if no constant has this name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// State is the state of a clone of an upstream task. The values and the names of the constants will not change.
type State uint8

const (
	// Running means that the clone may still finish. It is also the state of a clone in a queue. Running is the
	// zero value.
	Running State = iota
	// Finished means that the output of the clone can be read.
	Finished
	// Failed means that the clone will not finish, or that its output is lost.
	Failed
)

var stateNames = [...]string{Running: "running", Finished: "finished", Failed: "failed"}

// String returns the name of the state.
func (s State) String() string { return enum.Name(stateNames[:], s) }

// MarshalText returns the name of the state. It returns an error if the value has no name.
func (s State) MarshalText() ([]byte, error) { return enum.Text(stateNames[:], s) }

// UnmarshalText sets the state to the constant whose name is text. It returns an error if no constant has this name.
func (s *State) UnmarshalText(text []byte) error { return enum.Parse(stateNames[:], text, s) }
