package fanout

import (
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/restart/engine"
)

// end records that an attempt has ended. If the attempt has a result and its task has none, this result becomes the
// task's result.
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
	case state == engine.Succeeded && a.cancelled: // the activity may have stopped halfway, even if it returns no error
		state, kind = engine.Cancelled, "cancelled"
	case state == engine.Succeeded && t.hasResult:
		kind = "overtaken"
	case state == engine.Succeeded:
		t.hasResult = true
		f.left--
	case !a.cancelled: // the error of a cancelled activity means nothing
		t.countEnd(state, err)
		if isFinal(err) && !t.hasResult && f.err == nil {
			f.err = fmt.Errorf("fanout %s: task %d: %w", f.options.Name, a.task, err)
		}
	}
	if err != nil && kind != "cancelled" {
		why = err.Error()
	}
	f.log(a.task, id, kind, why)
	a.cancel() // otherwise the workflow's context would keep the attempt's context in memory
	if !a.cancelled {
		t.running--
	}
	delete(f.running, id)
	delete(f.ids, a.name)
	ended := engine.Attempt{ID: a.name, Task: a.task, State: state, Machine: a.machine, Ended: workflow.Now(f.ctx)}
	if state == engine.Succeeded || state == engine.Failed {
		// If the attempt began and ended between two polls, no poll has shown its begin. Then the time of its
		// submission is used as its begin. This is not done for a lost or cancelled attempt, because it may never
		// have left the queue.
		ended.Begun = a.submitted
	}
	f.ended = append(f.ended, ended)
}

// isFinal reports whether an activity's error is marked as not retryable, which means that no other attempt can
// succeed.
func isFinal(err error) bool {
	var application *temporal.ApplicationError
	return errors.As(err, &application) && application.NonRetryable()
}

// stateOf returns the state of an attempt whose activity has ended with the error err, and the kind of the [Event]
// that is recorded. If the activity has ended by a heartbeat timeout or a schedule-to-start timeout, its worker is
// gone, and the attempt is lost. After any other timeout the attempt has failed.
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
		return engine.Cancelled, "lost" // the state is not Lost, because it is not the worker's fault
	}
	return engine.Failed, "fail"
}

// serverAway reports whether the activity was ended because its heartbeats did not reach the server. In this case the
// SDK ends the activity's context, and the activity returns the cause of the context. The type of this error is the
// name of the error that the heartbeat returned.
func serverAway(err error) bool {
	var application *temporal.ApplicationError
	return errors.As(err, &application) && !application.NonRetryable() &&
		(application.Type() == "DeadlineExceeded" || application.Type() == "Unavailable")
}

// goneWithWorker reports whether a timeout of this type means that the worker of the activity is gone.
func goneWithWorker(t enumspb.TimeoutType) bool {
	return t == enumspb.TIMEOUT_TYPE_HEARTBEAT || t == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}
