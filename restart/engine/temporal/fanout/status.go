package fanout

import (
	"errors"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Event is an event of an attempt.
type Event struct {
	// At is the time since the fan-out began.
	At time.Duration
	// Task is the index of the task.
	Task int
	// ID is the ID of the attempt's activity.
	ID string
	// Host is the worker on which the attempt runs or shall run.
	Host string
	// Kind is submit, begin, succeed, overtaken (the attempt succeeded after another attempt had won), cancel (the attempt
	// was asked to end), cancelled (it has ended for that), fail or lost. Watch has submit and cancel only.
	Kind string
	// Why is the decision with its numbers, or the error.
	Why string
}

// Status is the answer of the query [Query].
type Status struct {
	// Name is the fan-out's name.
	Name string
	// Ledger counts the attempts and their time.
	Ledger tracker.Ledger
	// Events are all events of the attempts so far, the oldest first.
	Events []Event
	// Journal is the journal, if Options.Journal is set; see package journal.
	Journal string `json:",omitempty"`
	// FailedPolls counts the polls that failed.
	FailedPolls int
}

// Query returns the name of the query for a fan-out's [Status]. The query also works after the workflow has ended. The
// argument is Options.Name.
func Query(name string) string {
	if name == "" {
		name = defaultName
	}
	return "straggler-" + name
}

// ErrGivenUp says that too many attempts of a task have failed or were lost.
var ErrGivenUp = errors.New("too many attempts without a result")
