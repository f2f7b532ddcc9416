package fanout

import (
	"errors"
	"time"

	"github.com/straggler-go/straggler/restart/engine/shadow"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Event is something that happened to one attempt of a task, such as its begin or its end.
type Event struct {
	// At is the time from the call of Map or Watch to the event.
	At time.Duration
	// Task is the index of the task in the call of Map. With Watch, it is the index among the activities that one
	// poll has shown first.
	Task int
	// ID is the ID of the activity that runs the attempt. With the kind shadow of Map it is "".
	ID string
	// Machine is the name of the worker on which the attempt runs or shall run.
	Machine string
	// Kind is the kind of the event. Watch sets only the kinds submit, cancel and shadow. Map sets the following kinds:
	//
	//   - submit: the attempt was submitted.
	//   - begin: the attempt has begun.
	//   - succeed: the attempt gave the task its result.
	//   - overtaken: the attempt succeeded after another attempt had given the task its result.
	//   - cancel: Map has cancelled the attempt, which may still run.
	//   - cancelled: the attempt has ended because it was cancelled, or because its worker stopped.
	//   - fail: the attempt has failed.
	//   - shadow: in shadow mode, the policy wanted an action, which is not carried out.
	//   - lost: the attempt has ended without its own fault, for example with its worker.
	Kind string
	// Why is the policy's decision with its numbers, or the error of the attempt.
	Why string
}

// Status is the answer to the query whose name [Query] returns. It describes the attempts of a call of Map so far.
type Status struct {
	// Name is Options.Name of the call of Map.
	Name string
	// Ledger contains the numbers of attempts, copies and restarts, and the slot time that they took.
	Ledger tracker.Ledger
	// Events are all events of the attempts so far, the oldest first.
	Events []Event
	// Journal is a text with all events, in the format of package journal. It is empty unless Options.Journal is set.
	Journal string `json:",omitempty"`
	// Bill says how much time the policy would have saved so far, if Options.Shadow is set. See package shadow. In the
	// bill a task with NoCopy is not copied, and a task with NoRestart is not restarted. If the fan-out is too large for
	// shadow.Replay, Bill.Why says so. An answer with a bill takes some 10 ms for 100 tasks, and seconds for thousands.
	Bill shadow.Bill
	// FailedPolls is the number of polls that failed, because the function Options.Snapshot returned an error.
	FailedPolls int
}

// Query returns the name of the workflow query whose answer is the [Status] of a call of Map. name is Options.Name of
// this call. The query also works after the workflow has ended.
func Query(name string) string {
	if name == "" {
		name = defaultName
	}
	return "straggler-" + name
}

// ErrGivenUp is the error of Map if too many attempts of one task have failed or were lost.
var ErrGivenUp = errors.New("too many attempts without a result")
