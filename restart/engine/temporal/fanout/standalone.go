package fanout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	activitypb "go.temporal.io/api/activity/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// standalone is a copy of a workflow's activity that runs outside of the workflow.
type standalone struct {
	attempt string // the name in package engine
	id      string // the ID of the standalone activity
	host    string
	ended   bool // the copy has ended, or the server knows that it shall end
	refused bool // the start has failed; the server may have the copy all the same
}

// startCopy starts a copy of the activity on another worker.
func (w *watcher) startCopy(ctx context.Context, b *batch, t *watched, a engine.Action) error {
	if w.DryRun {
		return errDryRun
	}
	if slices.ContainsFunc(t.copies, func(c *standalone) bool { return c.attempt == a.ID }) {
		return nil // the phase asks again, because the server has not shown the copy yet
	}
	if t.schedule == nil {
		here := slices.DeleteFunc(slices.Clone(b.tasks), func(t *watched) bool { return t.gone })
		if err := w.readSchedules(ctx, here); err != nil {
			return err
		}
	}
	s := t.schedule
	inQueue := s.GetScheduleToStartTimeout()
	if inQueue.AsDuration() == 0 {
		inQueue = durationpb.New(w.ScheduleToStartTimeout)
	}
	// The start time distinguishes the copies of several Watches of the same run.
	id := fmt.Sprintf("%s/%s/%s/%s/%d", w.id, w.run, t.activity, a.ID, w.start.UnixNano())
	c := &standalone{attempt: a.ID, id: id, host: a.Machine}
	t.copies = append(t.copies, c)
	_, err := w.client.WorkflowService().StartActivityExecution(ctx, &workflowservice.StartActivityExecutionRequest{
		Namespace: w.Namespace, Identity: identity, RequestId: c.id, ActivityId: c.id,
		TaskQueue: &taskqueuepb.TaskQueue{Name: a.Machine}, ActivityType: s.GetActivityType(),
		Input: s.GetInput(), Header: s.GetHeader(), Priority: s.GetPriority(),
		ScheduleToCloseTimeout: s.GetScheduleToCloseTimeout(), ScheduleToStartTimeout: inQueue,
		StartToCloseTimeout: s.GetStartToCloseTimeout(), HeartbeatTimeout: s.GetHeartbeatTimeout(),
		RetryPolicy: &commonpb.RetryPolicy{MaximumAttempts: 1},
	})
	c.refused = err != nil
	var unimplemented *serviceerror.Unimplemented
	if errors.As(err, &unimplemented) {
		w.disableCopies()
	}
	return err
}

// disableCopies tells all phases that no task can be copied.
func (w *watcher) disableCopies() {
	w.noCopies = true
	for _, b := range w.batches {
		for _, t := range b.tasks {
			b.phase.SetEligible(t.index, false, true)
		}
	}
}

// observeCopies returns the copies of a task as attempts. A copy that ends first completes its task.
func (w *watcher) observeCopies(ctx context.Context, t *watched) (seen []engine.Attempt) {
	for _, c := range t.copies {
		if c.ended || c.refused {
			continue
		}
		r := &workflowservice.DescribeActivityExecutionRequest{
			Namespace: w.Namespace, ActivityId: c.id, IncludeOutcome: true, IncludeHeartbeatDetails: true,
		}
		d, err := w.client.WorkflowService().DescribeActivityExecution(ctx, r)
		if err != nil {
			var unknown *serviceerror.NotFound
			if c.ended = errors.As(err, &unknown); c.ended {
				seen = append(seen, engine.Attempt{ID: c.attempt, Task: t.index, State: engine.Lost, Machine: c.host})
			}
			continue
		}
		a := w.observeCopy(ctx, t, c, d)
		if seen = append(seen, a); a.State != engine.Queued {
			c.ended = a.State != engine.Running
		}
	}
	return seen
}

// observeCopy returns a copy as an attempt, and delivers the result of a copy that has completed.
func (w *watcher) observeCopy(
	ctx context.Context, t *watched, c *standalone, d *workflowservice.DescribeActivityExecutionResponse,
) engine.Attempt {
	info := d.GetInfo()
	a := engine.Attempt{ID: c.attempt, Task: t.index, Machine: c.host}
	if begun := info.GetLastStartedTime(); begun != nil {
		s := toSeen(asPending(info), w.Converter)
		a.State, a.Begun, a.AsOf, a.Progress = engine.Running, s.Begun, s.AsOf, tracker.Report{Done: s.Done}
	}
	switch info.GetStatus() {
	case enumspb.ACTIVITY_EXECUTION_STATUS_RUNNING:
		return a
	case enumspb.ACTIVITY_EXECUTION_STATUS_COMPLETED:
		a.State = w.deliver(ctx, t, d.GetOutcome().GetResult())
	case enumspb.ACTIVITY_EXECUTION_STATUS_CANCELED, enumspb.ACTIVITY_EXECUTION_STATUS_TERMINATED:
		a.State = engine.Cancelled
	default:
		a.State = engine.Failed
		if goneWithWorker(d.GetOutcome().GetFailure().GetTimeoutFailureInfo().GetTimeoutType()) {
			a.State = engine.Lost
		}
	}
	a.Ended = info.GetCloseTime().AsTime()
	return a
}

// asPending converts a standalone activity to an activity of a workflow.
func asPending(info *activitypb.ActivityExecutionInfo) *workflowpb.PendingActivityInfo {
	return &workflowpb.PendingActivityInfo{
		ActivityId: info.GetActivityId(), State: info.GetRunState(), HeartbeatDetails: info.GetHeartbeatDetails(),
		LastHeartbeatTime: info.GetLastHeartbeatTime(), LastStartedTime: info.GetLastStartedTime(),
		LastWorkerIdentity: info.GetLastWorkerIdentity(),
	}
}

// deliver completes the workflow's activity with a copy's result. If the activity has ended by itself, the copy is too
// late, and counts as cancelled. After an error of the server the copy counts as queued, and the next poll tries again.
func (w *watcher) deliver(ctx context.Context, t *watched, result *commonpb.Payloads) engine.State {
	switch other, err := w.idReused(ctx, t); {
	case err != nil:
		return engine.Queued
	case other:
		return engine.Cancelled
	}
	r := &workflowservice.RespondActivityTaskCompletedByIdRequest{
		Namespace: w.Namespace, WorkflowId: w.id, RunId: w.run, ActivityId: t.activity,
		Result: result, Identity: identity,
	}
	_, err := w.client.WorkflowService().RespondActivityTaskCompletedById(ctx, r)
	var over *serviceerror.NotFound
	switch {
	case err == nil:
		t.gone = true
		return engine.Succeeded
	case errors.As(err, &over):
		return engine.Cancelled
	}
	return engine.Queued
}

// cancelCopy cancels a copy. cancelCopy does nothing for the workflow's own activity, which is reset or completed
// instead.
func (w *watcher) cancelCopy(ctx context.Context, t *watched, a engine.Action) error {
	i := slices.IndexFunc(t.copies, func(c *standalone) bool { return c.attempt == a.ID })
	if i < 0 {
		return nil
	}
	return w.requestEnd(ctx, t.copies[i], a.Decision.String())
}

// requestEnd asks the server to cancel a copy.
func (w *watcher) requestEnd(ctx context.Context, c *standalone, why string) error {
	_, err := w.client.WorkflowService().RequestCancelActivityExecution(ctx, &workflowservice.RequestCancelActivityExecutionRequest{
		Namespace: w.Namespace, ActivityId: c.id, Identity: identity, RequestId: c.id, Reason: why,
	})
	return err
}

// endCopy cancels a copy whose task is over, and reports whether the server knows it.
func (w *watcher) endCopy(ctx context.Context, c *standalone) bool {
	if !c.ended {
		err := w.requestEnd(ctx, c, "its task is over")
		var unknown *serviceerror.NotFound
		c.ended = err == nil || errors.As(err, &unknown)
	}
	return c.ended
}

const lastCalls = 10 * time.Second // how long endAll may take

// endAll ends all phases and cancels all copies.
func (w *watcher) endAll() {
	ctx, cancel := context.WithTimeout(context.Background(), lastCalls)
	defer cancel()
	for _, b := range w.batches {
		b.close()
		for _, t := range b.tasks {
			for _, c := range t.copies {
				w.endCopy(ctx, c) // if this fails, the copy runs until the server's timeout
			}
		}
	}
}
