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

// watched is an activity of the workflow: a task.
type watched struct {
	activity string
	index    int    // in its batch
	attempt  string // what runs of the workflow's own activity, in the words of package engine; empty if nothing does
	host     string
	begun    time.Time // of that attempt
	next     string    // the attempt that was submitted and has not begun
	queue    string    // the host in whose queue that was put by us
	queued   time.Time // when
	names    int       // that were made up for attempts
	gone     bool
	copies   []*standalone
	schedule *schedule // how the workflow has scheduled it; nil if that was not read yet
}

var errDryRun = errors.New("dry run")

const identity = "straggler"

// look turns what Temporal shows of the activity into attempts. One that is no longer pending has ended: whether with a
// result is the workflow's affair. Attempts are told apart by the time of their start, since a reset counts them anew.
func (w *watcher) look(ctx context.Context, t *watched, p *workflowpb.PendingActivityInfo) (seen []engine.Attempt) {
	switch {
	case t.gone:
	case p == nil:
		return append(seen, t.leaves())
	case !running(p):
		seen = t.over(seen)
		waits := t.queue != "" && t.next != "" && p.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
		if waits && time.Since(t.queued) > w.InQueue {
			seen = append(seen, engine.Attempt{ID: t.next, Task: t.index, State: engine.Lost, Machine: t.queue})
			t.next = ""
		}
		if t.next != "" {
			seen = append(seen, engine.Attempt{ID: t.next, Task: t.index, State: engine.Queued})
		}
		return seen
	default:
		s := see(p, w.Converter)
		if !s.Begun.Equal(t.begun) || t.attempt == "" {
			switch other, err := w.usedAgain(ctx, t); {
			case err != nil:
				return nil
			case other:
				return append(seen, t.leaves())
			}
			seen = t.over(seen)
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

// leaves tells that the workflow waits for the activity no more.
func (t *watched) leaves() engine.Attempt {
	t.gone = true
	return engine.Attempt{ID: t.current(), Task: t.index, State: engine.Succeeded, Machine: t.host, Begun: t.begun}
}

// over tells that what ran before runs no more: it was reset, or failed and will be tried again.
func (t *watched) over(seen []engine.Attempt) []engine.Attempt {
	if t.attempt == "" {
		return seen
	}
	seen = append(seen, engine.Attempt{ID: t.attempt, Task: t.index, State: engine.Failed, Machine: t.host})
	t.attempt, t.begun = "", time.Time{}
	return seen
}

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

// reset kills what runs of the activity, and runs it again on another host.
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

// retry is for an attempt that has failed, which Temporal tries again by itself, or that was put in the queue of a host
// that is gone.
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

func (t *watched) wait(a engine.Action) { t.next, t.queue, t.queued = a.ID, a.Machine, time.Now() }

// move puts an activity in another host's queue, at once or, if it runs, from its next attempt on.
func (w *watcher) move(ctx context.Context, t *watched, a engine.Action) error {
	_, err := w.client.WorkflowService().UpdateActivityOptions(ctx, &workflowservice.UpdateActivityOptionsRequest{
		Namespace: w.Namespace, Execution: w.execution(), Identity: identity,
		Activity:        &workflowservice.UpdateActivityOptionsRequest_Id{Id: t.activity},
		ActivityOptions: &activitypb.ActivityOptions{TaskQueue: &taskqueuepb.TaskQueue{Name: a.Machine}},
		UpdateMask:      &fieldmaskpb.FieldMask{Paths: []string{"task_queue.name"}},
	})
	return err
}

func (w *watcher) execution() *commonpb.WorkflowExecution {
	return &commonpb.WorkflowExecution{WorkflowId: w.id, RunId: w.run}
}
