package fanout

import (
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/restart/engine"
)

// end takes note that an attempt has ended. The first result of a task is its result.
func (f *fanOut) end(id string, result workflow.Future) {
	a := f.running[id]
	t := &f.attempts[a.task]
	var err error
	if t.got || a.cancelled {
		err = result.Get(f.ctx, nil)
	} else {
		err = f.take(a.task, result)
	}
	state, kind := stateOf(err)
	why := ""
	switch {
	case state == engine.Succeeded && a.cancelled: // it may have ended halfway, whatever it says
		state, kind = engine.Cancelled, "cancelled"
	case state == engine.Succeeded && t.got:
		kind = "overtaken"
	case state == engine.Succeeded:
		t.got = true
		f.left--
	case !a.cancelled: // what ends because it was told to may say so by any error
		t.note(state, err)
		if isFinal(err) && !t.got && f.err == nil {
			f.err = fmt.Errorf("fanout %s: task %d: %w", f.options.Name, a.task, err)
		}
	}
	if err != nil && kind != "cancelled" {
		why = err.Error()
	}
	f.log(a.task, id, kind, why)
	a.cancel() // or the workflow's context would hold it for ever
	if !a.cancelled {
		t.running--
	}
	delete(f.running, id)
	delete(f.ids, a.name)
	ended := engine.Attempt{ID: a.name, Task: a.task, State: state, Machine: a.host, Ended: workflow.Now(f.ctx)}
	if state == engine.Succeeded || state == engine.Failed {
		// The time from its submission stands for its run time if it came and went between two polls. What was lost or
		// cancelled without having been seen may never have left the queue.
		ended.Begun = a.submitted
	}
	f.ended = append(f.ended, ended)
}

// isFinal reports whether an activity says that no other attempt can do better.
func isFinal(err error) bool {
	var application *temporal.ApplicationError
	return errors.As(err, &application) && application.NonRetryable()
}

// stateOf reads an activity's error. A worker that fell silent, or that did not take its work from its queue, is gone;
// a task that took too long has failed.
func stateOf(err error) (engine.State, string) {
	var timeout *temporal.TimeoutError
	switch {
	case err == nil:
		return engine.Succeeded, "succeed"
	case temporal.IsCanceledError(err):
		return engine.Cancelled, "cancelled"
	case errors.As(err, &timeout) && goneWithWorker(timeout.TimeoutType()):
		return engine.Lost, "lost"
	case serverAway(err):
		return engine.Cancelled, "lost" // which is not the host's fault
	}
	return engine.Failed, "fail"
}

// serverAway reports whether the SDK ended the attempt because its heartbeats did not reach the server, and the activity
// returned the cause of its context. The types are those of the server's own errors, in the words of the SDK.
func serverAway(err error) bool {
	var application *temporal.ApplicationError
	return errors.As(err, &application) && !application.NonRetryable() &&
		(application.Type() == "DeadlineExceeded" || application.Type() == "Unavailable")
}

func goneWithWorker(t enumspb.TimeoutType) bool {
	return t == enumspb.TIMEOUT_TYPE_HEARTBEAT || t == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}
