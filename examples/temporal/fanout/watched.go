package fanout

import (
	"context"
	"errors"
	"fmt"
	"time"

	activitypb "go.temporal.io/api/activity/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// watched is an activity of the workflow: a task.
type watched struct {
	activity string
	index    int    // in its batch
	attempt  string // what runs of the workflow's own activity, in the words of package engine; empty if nothing does
	host     string
	begun    time.Time // of that attempt
	next     string    // the attempt that was submitted and has not begun
	gone     bool
	copies   []*standalone
}

var errDryRun = errors.New("dry run")

const identity = "straggler"

// look turns what Temporal shows of the activity into attempts. One that is no longer pending has ended: whether with a
// result is the workflow's affair. Attempts are told apart by the time of their start, since a reset counts them anew.
func (t *watched) look(p *workflowpb.PendingActivityInfo, c converter.DataConverter) (seen []engine.Attempt) {
	switch {
	case t.gone:
	case p == nil:
		t.gone = true
		return append(seen, engine.Attempt{
			ID: t.current(), Task: t.index, State: engine.Succeeded, Host: t.host, Begun: t.begun,
		})
	case !running(p):
		return t.over(seen)
	default:
		s := see(p, c)
		if !s.Begun.Equal(t.begun) || t.attempt == "" {
			seen = t.over(seen)
			t.attempt, t.next, t.begun, t.host = t.next, "", s.Begun, s.Host
			if t.attempt == "" {
				t.attempt = t.newName(s.Begun)
			}
		}
		return append(seen, engine.Attempt{
			ID: t.attempt, Task: t.index, State: engine.Running, Host: s.Host, Begun: s.Begun, AsOf: s.AsOf,
			Progress: restart.Progress{Done: s.Done},
		})
	}
	return seen
}

// over tells that what ran before runs no more: it was reset, or failed and will be tried again.
func (t *watched) over(seen []engine.Attempt) []engine.Attempt {
	if t.attempt == "" {
		return seen
	}
	seen = append(seen, engine.Attempt{ID: t.attempt, Task: t.index, State: engine.Failed, Host: t.host})
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
	return t.newName(time.Time{})
}

func (t *watched) newName(begun time.Time) string {
	return fmt.Sprintf("%s@%d", t.activity, begun.UnixNano())
}

// reset kills what runs of the activity, and runs it again on another host.
func (w *watcher) reset(ctx context.Context, t *watched, a engine.Action) error {
	if w.DryRun {
		return errDryRun
	}
	execution := &commonpb.WorkflowExecution{WorkflowId: w.id, RunId: w.run}
	_, err := w.client.WorkflowService().UpdateActivityOptions(ctx, &workflowservice.UpdateActivityOptionsRequest{
		Namespace: w.Namespace, Execution: execution, Identity: identity,
		Activity:        &workflowservice.UpdateActivityOptionsRequest_Id{Id: t.activity},
		ActivityOptions: &activitypb.ActivityOptions{TaskQueue: &taskqueuepb.TaskQueue{Name: a.Host}},
		UpdateMask:      &fieldmaskpb.FieldMask{Paths: []string{"task_queue.name"}},
	})
	if err != nil {
		return err
	}
	_, err = w.client.WorkflowService().ResetActivity(ctx, &workflowservice.ResetActivityRequest{
		Namespace: w.Namespace, Execution: execution, Identity: identity,
		Activity: &workflowservice.ResetActivityRequest_Id{Id: t.activity}, ResetHeartbeat: true,
	})
	if err == nil {
		t.next = a.ID
	}
	return err
}

// schedule is how the workflow has scheduled an activity.
type schedule = historypb.ActivityTaskScheduledEventAttributes

// schedule reads it from the history; nil if it is not there.
func (w *watcher) schedule(ctx context.Context, activity string) *schedule {
	if s := w.schedules[activity]; s != nil {
		return s
	}
	w.schedules = map[string]*schedule{}
	events := w.client.GetWorkflowHistory(ctx, w.id, w.run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			break
		}
		if s := e.GetActivityTaskScheduledEventAttributes(); s != nil {
			w.schedules[s.GetActivityId()] = s
		}
	}
	return w.schedules[activity]
}
