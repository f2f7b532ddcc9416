package delay

import "github.com/straggler-go/straggler/internal/enum"

// Action is what to do: with an offered slot, or with an output to read. The names and values are stable.
type Action uint8

const (
	// Wait leaves the slot to another job, or reads nothing yet. It is the zero value.
	Wait Action = iota
	// Launch starts a task of the job at the level that was offered.
	Launch
	// Read reads an upstream copy that no other clone of the task reads.
	Read
	// Share reads an upstream copy that another clone of the task reads, too.
	Share
)

var actionNames = [...]string{"wait", "launch", "read", "share"}

// String returns the action's name.
func (a Action) String() string {
	return enum.Name(actionNames[:], int(a), "Action")
}

// Reason says why. The names and values are stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota

	// Answers to an offer.

	// LocalEnough: the offered level is allowed. Launch.
	LocalEnough
	// Delayed: there is a task for this slot, and it waits for a more local one. This reason alone is a rejection
	// because of the delay.
	Delayed
	// NoTask: the job has no task for this slot.
	NoTask

	// Answers to a clone that would read.

	// OwnCopy: a finished upstream copy is read by no other clone of the task. Read.
	OwnCopy
	// WindowOver: no copy of one's own came within ω. Share.
	WindowOver
	// NoMoreCopies: all copies are taken, and no more are to come. Share.
	NoMoreCopies
	// WindowOpen: all finished copies are taken, and one may yet finish within ω.
	WindowOpen
	// NothingFinished: no copy has finished yet.
	NothingFinished
	// NothingLeft: there is nothing left to read, or what is left was lost.
	NothingLeft
)

var reasonNames = [...]string{
	"no-reason", "local-enough", "delayed", "no-task", "own-copy", "window-over", "no-more-copies", "window-open",
	"nothing-finished", "nothing-left",
}

// String returns the reason's name.
func (r Reason) String() string {
	return enum.Name(reasonNames[:], int(r), "Reason")
}
