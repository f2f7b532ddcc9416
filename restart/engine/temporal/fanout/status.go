package fanout

import (
	"errors"
	"time"

	"github.com/straggler-go/straggler/restart/tracker"
)

// Event is something that happened to an attempt.
type Event struct {
	// At is the time since the fan-out began.
	At   time.Duration
	Task int
	// ID is the attempt's activity, Host where it runs or is to run.
	ID, Host string
	// Kind is submit, begin, succeed, overtaken (it ended after another one had won), cancel (it was asked to end),
	// cancelled (it did), fail or lost.
	Kind string
	// Why is the decision, or the error.
	Why string
}

// Status is what [Query] answers.
type Status struct {
	Name    string
	Ledger  tracker.Ledger
	Events  []Event
	Journal string `json:",omitempty"`
	// Unseen counts polls that failed.
	Unseen int
}

// Query is the name of the query that tells what a fan-out did and why, also of a workflow that has ended: its answer
// is a [Status].
func Query(name string) string {
	if name == "" {
		name = defaultName
	}
	return "straggler-" + name
}

// ErrGivenUp says that a task failed, or was lost, too often.
var ErrGivenUp = errors.New("too many attempts without a result")
