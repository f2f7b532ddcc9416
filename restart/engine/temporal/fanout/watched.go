package fanout

import (
	"context"
	"errors"
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

// watched is a task: an activity of the workflow, with its copies.
type watched struct {
	activity string    // the activity's ID
	index    int       // the task's index in its batch
	attempt  string    // the name of the running attempt of the workflow's own activity; empty: none runs
	host     string    // the worker of this attempt
	begun    time.Time // when this attempt began
	next     string    // the attempt that was submitted and has not begun; empty: none
	queue    string    // the queue to which the watcher has moved it; empty: not moved
	queued   time.Time // when it was moved
	names    int       // how many names were made up for attempts
	gone     bool      // the activity has ended
	copies   []*standalone
	schedule *schedule // nil: not read yet
}

var errDryRun = errors.New("dry run")

const identity = "straggler" // names the watcher in requests to the server

// observeActivity returns the attempts of the workflow's own activity. An activity that is not pending has ended, and
// counts as succeeded, whatever its result is. The start time distinguishes attempts, because a reset begins Temporal's
// own count of attempts anew.
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
			t.attempt, t.begun, t.host = t.current(), s.Begun, s.Host
			t.next, t.queue = "", ""
		}
		return append(seen, engine.Attempt{
			ID: t.attempt, Task: t.index, State: engine.Running, Machine: s.Host, Begun: s.Begun, AsOf: s.AsOf,
			Progress: tracker.Report{Done: s.Done},
		})
	}
	return seen
}

// leave returns the attempt of an activity for which the workflow does not wait any more.
func (t *watched) leave() engine.Attempt {
	t.gone = true
	return engine.Attempt{ID: t.current(), Task: t.index, State: engine.Succeeded, Machine: t.host, Begun: t.begun}
}

// endAttempt appends the attempt that ran before and has ended: it was reset, or has failed and will be retried.
func (t *watched) endAttempt(seen []engine.Attempt) []engine.Attempt {
	if t.attempt == "" {
		return seen
	}
	seen = append(seen, engine.Attempt{ID: t.attempt, Task: t.index, State: engine.Failed, Machine: t.host})
	t.attempt, t.begun = "", time.Time{}
	return seen
}

// current returns the name of the running or submitted attempt, or a new name.
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

// reset ends the running attempt of the activity, and runs the activity again on another worker.
func (w *watcher) reset(ctx context.Context, t *watched, a engine.Action) error {
	if w.DryRun {
		return errDryRun
	}
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

// retry follows a failed or lost attempt. Temporal itself retries a failed activity. An activity in the queue of a worker
// that is gone is moved to another queue.
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

// wait records that the activity waits in a worker's queue.
func (t *watched) wait(a engine.Action) { t.next, t.queue, t.queued = a.ID, a.Machine, time.Now() }

// move moves an activity to another worker's queue: at once, or, if the activity runs, for its next attempt.
func (w *watcher) move(ctx context.Context, t *watched, a engine.Action) error {
	_, err := w.client.WorkflowService().UpdateActivityOptions(ctx, &workflowservice.UpdateActivityOptionsRequest{
		Namespace: w.Namespace, Execution: w.execution(), Identity: identity,
		Activity:        &workflowservice.UpdateActivityOptionsRequest_Id{Id: t.activity},
		ActivityOptions: &activitypb.ActivityOptions{TaskQueue: &taskqueuepb.TaskQueue{Name: a.Machine}},
		UpdateMask:      &fieldmaskpb.FieldMask{Paths: []string{"task_queue.name"}},
	})
	return err
}

// execution names the workflow's run in requests.
func (w *watcher) execution() *commonpb.WorkflowExecution {
	return &commonpb.WorkflowExecution{WorkflowId: w.id, RunId: w.run}
}
