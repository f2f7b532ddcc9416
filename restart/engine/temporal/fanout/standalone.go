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

// standalone is a copy of a workflow's activity: a Temporal standalone activity, which runs outside of the workflow.
type standalone struct {
	attempt string // the name that the copy has in the engine.Phase
	id      string // the ID of the standalone activity
	machine string
	ended   bool // the copy has ended, or the server has accepted a request to cancel it
	refused bool // the call that starts the copy returned an error; the server may have started the copy all the same
}

// startCopy starts a copy of an activity on the worker a.Machine.
func (w *watcher) startCopy(ctx context.Context, b *batch, t *watched, a engine.Action) error {
	if slices.ContainsFunc(t.copies, func(c *standalone) bool { return c.attempt == a.ID }) {
		return nil // the copy was started before, and the server has not shown it yet
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
	// The ID contains the start time of Watch, so that several calls of Watch for the same run use different IDs.
	id := fmt.Sprintf("%s/%s/%s/%s/%d", w.id, w.run, t.activity, a.ID, w.start.UnixNano())
	c := &standalone{attempt: a.ID, id: id, machine: a.Machine}
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

// disableCopies makes sure that no activity is copied from now on: neither in the present phases nor in later phases.
func (w *watcher) disableCopies() {
	w.noCopies = true
	for _, b := range w.batches {
		for _, t := range b.tasks {
			b.phase.SetEligible(t.index, false, true)
		}
	}
}

// observeCopies asks the server about the copies of an activity, and returns a report about each copy for the phase.
// If a copy has a result, observeCopies completes the workflow's activity with it.
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
				seen = append(seen, engine.Attempt{ID: c.attempt, Task: t.index, State: engine.Lost, Machine: c.machine})
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

// observeCopy converts the server's answer d about a copy to a report for the phase. If the copy has a result,
// observeCopy completes the workflow's activity with it.
func (w *watcher) observeCopy(
	ctx context.Context, t *watched, c *standalone, d *workflowservice.DescribeActivityExecutionResponse,
) engine.Attempt {
	info := d.GetInfo()
	a := engine.Attempt{ID: c.attempt, Task: t.index, Machine: c.machine}
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

// asPending converts the server's data about a standalone activity to the form of the data about a workflow's pending
// activity.
func asPending(info *activitypb.ActivityExecutionInfo) *workflowpb.PendingActivityInfo {
	return &workflowpb.PendingActivityInfo{
		ActivityId: info.GetActivityId(), State: info.GetRunState(), HeartbeatDetails: info.GetHeartbeatDetails(),
		LastHeartbeatTime: info.GetLastHeartbeatTime(), LastStartedTime: info.GetLastStartedTime(),
		LastWorkerIdentity: info.GetLastWorkerIdentity(),
	}
}

// deliver completes the workflow's activity with the result of a copy, and returns the state in which the copy is
// reported. If the activity has ended by itself, the copy is too late, and the state is Cancelled. If the server
// returns an error, the state is Queued, and the next poll tries again.
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

// cancelCopy cancels the attempt of the action a if it is a copy. If it is the workflow's own activity, cancelCopy
// does nothing, because Watch ends such an attempt by a reset or by completing the activity.
func (w *watcher) cancelCopy(ctx context.Context, t *watched, a engine.Action) error {
	i := slices.IndexFunc(t.copies, func(c *standalone) bool { return c.attempt == a.ID })
	if i < 0 {
		return nil
	}
	return w.requestEnd(ctx, t.copies[i], a.Decision.String())
}

// requestEnd asks the server to cancel a copy. why is the text that the server stores as the reason.
func (w *watcher) requestEnd(ctx context.Context, c *standalone, why string) error {
	_, err := w.client.WorkflowService().RequestCancelActivityExecution(ctx, &workflowservice.RequestCancelActivityExecutionRequest{
		Namespace: w.Namespace, ActivityId: c.id, Identity: identity, RequestId: c.id, Reason: why,
	})
	return err
}

// endCopy cancels a copy that is no longer needed. It reports whether the copy has ended, or the server has accepted
// the request to cancel it.
func (w *watcher) endCopy(ctx context.Context, c *standalone) bool {
	if !c.ended {
		err := w.requestEnd(ctx, c, "its task is over")
		var unknown *serviceerror.NotFound
		c.ended = err == nil || errors.As(err, &unknown)
	}
	return c.ended
}

const lastCalls = 10 * time.Second // longest time for the requests of endAll

// endAll ends all phases and cancels all copies, before Watch returns.
func (w *watcher) endAll() {
	ctx, cancel := context.WithTimeout(context.Background(), lastCalls)
	defer cancel()
	for _, b := range w.batches {
		w.sumUp(b)
		b.close()
		for _, t := range b.tasks {
			for _, c := range t.copies {
				w.endCopy(ctx, c) // if this fails, the copy runs to its end or to a timeout
			}
		}
	}
}
