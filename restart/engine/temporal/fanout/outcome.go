package fanout

import (
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/restart/engine"
)

// end records that an attempt has ended. The first result of a task becomes the task's result.
func (f *fanOut) end(id string, result workflow.Future) {
	a := f.running[id]
	t := &f.attempts[a.task]
	var err error
	if t.hasResult || a.cancelled {
		err = result.Get(f.ctx, nil)
	} else {
		err = f.keepResult(a.task, result)
	}
	state, kind := stateOf(err)
	why := ""
	switch {
	case state == engine.Succeeded && a.cancelled: // the activity may have stopped halfway, whatever it returns
		state, kind = engine.Cancelled, "cancelled"
	case state == engine.Succeeded && t.hasResult:
		kind = "overtaken"
	case state == engine.Succeeded:
		t.hasResult = true
		f.left--
	case !a.cancelled: // a cancelled activity may return any error
		t.countEnd(state, err)
		if isFinal(err) && !t.hasResult && f.err == nil {
			f.err = fmt.Errorf("fanout %s: task %d: %w", f.options.Name, a.task, err)
		}
	}
	if err != nil && kind != "cancelled" {
		why = err.Error()
	}
	f.log(a.task, id, kind, why)
	a.cancel() // otherwise the workflow's context holds the attempt's context for ever
	if !a.cancelled {
		t.running--
	}
	delete(f.running, id)
	delete(f.ids, a.name)
	ended := engine.Attempt{ID: a.name, Task: a.task, State: state, Machine: a.host, Ended: workflow.Now(f.ctx)}
	if state == engine.Succeeded || state == engine.Failed {
		// If the attempt began and ended between two polls, the time since its submission counts as its run time. A lost or
		// cancelled attempt that was never seen to run may never have left the queue, and has no run time.
		ended.Begun = a.submitted
	}
	f.ended = append(f.ended, ended)
}

// isFinal reports whether an activity's error is not retryable, so that no other attempt can succeed.
func isFinal(err error) bool {
	var application *temporal.ApplicationError
	return errors.As(err, &application) && application.NonRetryable()
}

// stateOf returns the state of an attempt, and its kind of event, from the activity's error. After a heartbeat or
// schedule-to-start timeout the worker is gone, and the attempt is lost. After any other timeout the attempt has failed.
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
		return engine.Cancelled, "lost" // not Lost: the worker is not at fault
	}
	return engine.Failed, "fail"
}

// serverAway reports whether the SDK has ended the attempt because the heartbeats did not reach the server, and the
// activity has returned the cause of its context. The SDK names the error's type after the server's error.
func serverAway(err error) bool {
	var application *temporal.ApplicationError
	return errors.As(err, &application) && !application.NonRetryable() &&
		(application.Type() == "DeadlineExceeded" || application.Type() == "Unavailable")
}

// goneWithWorker reports whether a timeout means that the worker is gone.
func goneWithWorker(t enumspb.TimeoutType) bool {
	return t == enumspb.TIMEOUT_TYPE_HEARTBEAT || t == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}
