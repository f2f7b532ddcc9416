package assign

import "github.com/straggler-go/straggler/internal/enum"

// Action is what a clone should do about its inputs. The names and values are stable.
type Action uint8

const (
	// Wait reads nothing yet. It is the zero value.
	Wait Action = iota
	// Read reads an upstream copy that no other clone of the task reads.
	Read
	// ReadShared reads an upstream copy that another clone of the task reads, too.
	ReadShared
)

var actionNames = [...]string{"wait", "read", "share"}

// String returns the action's name.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the action's name.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action by its name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason says why. The names and values are stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota
	// OwnCopy: a finished upstream copy is read by no other clone of the task. Read.
	OwnCopy
	// WindowOver: no copy of one's own came within ω. Share.
	WindowOver
	// NoMoreCopies: all copies are taken, and no more are to come. Share.
	NoMoreCopies
	// WindowOpen: all finished copies are taken, and one may yet finish within ω. Wait.
	WindowOpen
	// NothingFinished: no copy has finished yet. Wait.
	NothingFinished
	// NothingLeft: there is nothing left to read, or what is left was lost. Wait.
	NothingLeft
)

var reasonNames = [...]string{
	"no-reason", "own-copy", "window-over", "no-more-copies", "window-open", "nothing-finished", "nothing-left",
}

// String returns the reason's name.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// State is what an upstream copy does. The names and values are stable.
type State uint8

const (
	// Running is the zero value; a copy that is queued counts as running.
	Running State = iota
	// Finished copies can be read.
	Finished
	// Failed copies will not finish, or their output is lost.
	Failed
)

var stateNames = [...]string{"running", "finished", "failed"}

// String returns the state's name.
func (s State) String() string { return enum.Name(stateNames[:], s) }

// MarshalText returns the state's name; an error for a value that does not exist.
func (s State) MarshalText() ([]byte, error) { return enum.Text(stateNames[:], s) }

// UnmarshalText sets the state by its name.
func (s *State) UnmarshalText(text []byte) error { return enum.Parse(stateNames[:], text, s) }
