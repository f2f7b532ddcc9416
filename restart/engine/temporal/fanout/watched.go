package fanout

import (
	"context"
	"fmt"
	"time"

	activitypb "go.temporal.io/api/activity/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// watched is the state of one activity of the workflow, and of the copies that Watch has made of it.
type watched struct {
	activity string    // ID of the activity in the workflow
	index    int       // index of this task in the field tasks of its batch
	attempt  string    // name of the attempt of the workflow's own activity that runs; "": no attempt runs
	machine  string    // name of the worker that runs this attempt
	begun    time.Time // when the running attempt began
	next     string    // name of the attempt that was submitted and has not begun; "": none
	queue    string    // queue to which Watch has moved the activity; "": not moved
	queued   time.Time // when Watch moved the activity to this queue
	names    int       // number of names that were made up for attempts of the activity
	gone     bool      // the activity has ended
	copies   []*standalone
	schedule *schedule // the event that scheduled the activity; nil: not read yet
}

const identity = "straggler" // the field Identity in requests of Watch to the server

// observeActivity returns reports for the phase about the attempts of the workflow's own activity. p is the server's
// data about the activity, or nil if the activity is no longer pending. Then the activity has ended, and is reported
// as succeeded, whatever its outcome was. Two attempts are told apart by their start times. Temporal's own numbers of
// attempts can't be used, because a reset starts them anew.
func (w *watcher) observeActivity(ctx context.Context, t *watched, p *workflowpb.PendingActivityInfo) (seen []engine.Attempt) {
	switch {
	case t.gone:
	case p == nil:
		return append(seen, t.leave())
	case !running(p):
		seen = t.endAttempt(seen)
		waits := t.queue != "" && t.next != "" && p.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
		if waits && time.Since(t.queued) > w.ScheduleToStartTimeout {
			seen = append(seen, engine.Attempt{ID: t.next, Task: t.index, State: engine.Lost, Machine: t.queue})
			t.next = ""
		}
		if t.next != "" {
			seen = append(seen, engine.Attempt{ID: t.next, Task: t.index, State: engine.Queued})
		}
		return seen
	default:
		s := toSeen(p, w.Converter)
		if !s.Begun.Equal(t.begun) || t.attempt == "" {
			switch other, err := w.idReused(ctx, t); {
			case err != nil:
				return nil
			case other:
				return append(seen, t.leave())
			}
			seen = t.endAttempt(seen)
			t.attempt, t.begun, t.machine = t.current(), s.Begun, s.Machine
			t.next, t.queue = "", ""
		}
		return append(seen, engine.Attempt{
			ID: t.attempt, Task: t.index, State: engine.Running, Machine: s.Machine, Begun: s.Begun, AsOf: s.AsOf,
			Progress: tracker.Report{Done: s.Done},
		})
	}
	return seen
}

// leave records that the workflow no longer waits for the activity. It returns the report that the last attempt has
// succeeded.
func (t *watched) leave() engine.Attempt {
	t.gone = true
	return engine.Attempt{ID: t.current(), Task: t.index, State: engine.Succeeded, Machine: t.machine, Begun: t.begun}
}

// endAttempt appends to seen a report that the attempt of the activity that ran at the last poll has ended. The
// attempt was reset, or has failed and will be retried by Temporal. If no attempt ran, endAttempt returns seen
// unchanged.
func (t *watched) endAttempt(seen []engine.Attempt) []engine.Attempt {
	if t.attempt == "" {
		return seen
	}
	seen = append(seen, engine.Attempt{ID: t.attempt, Task: t.index, State: engine.Failed, Machine: t.machine})
	t.attempt, t.begun = "", time.Time{}
	return seen
}

// current returns the name of the activity's running attempt, or else of its submitted attempt. If there is neither,
// current makes up a new name.
func (t *watched) current() string {
	switch {
	case t.attempt != "":
		return t.attempt
	case t.next != "":
		return t.next
	}
	t.names++
	return fmt.Sprintf("%s@%d", t.activity, t.names)
}

// reset ends the running attempt of an activity, and lets the activity run again on the worker a.Machine.
func (w *watcher) reset(ctx context.Context, t *watched, a engine.Action) error {
	if err := w.move(ctx, t, a); err != nil {
		return err
	}
	_, err := w.client.WorkflowService().ResetActivity(ctx, &workflowservice.ResetActivityRequest{
		Namespace: w.Namespace, Execution: w.execution(), Identity: identity,
		Activity: &workflowservice.ResetActivityRequest_Id{Id: t.activity}, ResetHeartbeat: true,
	})
	if err == nil {
		t.wait(a)
	}
	return err
}

// retry carries out the submission of a new attempt after a failed or lost attempt. If Watch has not moved the
// activity, retry only records the new attempt, because Temporal itself retries the activity. If the activity waits
// in the queue of a worker that is gone, retry moves it to the queue of another worker.
func (w *watcher) retry(ctx context.Context, t *watched, a engine.Action) error {
	if t.queue == "" {
		t.next = a.ID
		return nil
	}
	err := w.move(ctx, t, a)
	if err == nil {
		t.wait(a)
	}
	return err
}

// wait records that the activity now waits in the queue of the worker a.Machine.
func (t *watched) wait(a engine.Action) { t.next, t.queue, t.queued = a.ID, a.Machine, time.Now() }

// move moves an activity to the queue of the worker a.Machine. If an attempt of the activity runs, the move has an
// effect only for the next attempt.
func (w *watcher) move(ctx context.Context, t *watched, a engine.Action) error {
	_, err := w.client.WorkflowService().UpdateActivityOptions(ctx, &workflowservice.UpdateActivityOptionsRequest{
		Namespace: w.Namespace, Execution: w.execution(), Identity: identity,
		Activity:        &workflowservice.UpdateActivityOptionsRequest_Id{Id: t.activity},
		ActivityOptions: &activitypb.ActivityOptions{TaskQueue: &taskqueuepb.TaskQueue{Name: a.Machine}},
		UpdateMask:      &fieldmaskpb.FieldMask{Paths: []string{"task_queue.name"}},
	})
	return err
}

// execution returns the ID and the run ID of the workflow, in the form that requests to the server need.
func (w *watcher) execution() *commonpb.WorkflowExecution {
	return &commonpb.WorkflowExecution{WorkflowId: w.id, RunId: w.run}
}
