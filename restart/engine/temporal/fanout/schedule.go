package fanout

import (
	"context"
	"fmt"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// schedule is the history's event by which the workflow has scheduled an activity. The event's number distinguishes
// activities of the same ID.
type schedule struct {
	*historypb.ActivityTaskScheduledEventAttributes
	event int64
}

// readSchedules finds the schedules of activities in the history, the latest if an ID was used several times.
// readSchedules reads the history from its end, and no further than needed, because a running activity has seldom begun
// long ago.
func (w *watcher) readSchedules(ctx context.Context, tasks []*watched) error {
	wanted := map[string]*watched{}
	for _, t := range tasks {
		if t.schedule == nil {
			wanted[t.activity] = t
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	err := w.schedulesBackwards(ctx, func(s *schedule) bool {
		if t := wanted[s.GetActivityId()]; t != nil {
			t.schedule = s
			delete(wanted, t.activity)
		}
		return len(wanted) > 0
	}, 0)
	for activity := range wanted {
		if err == nil {
			err = fmt.Errorf("fanout: the history has no schedule of activity %s", activity)
		}
	}
	return err
}

// idReused reports whether the workflow has scheduled a later activity of the same ID. The workflow may do so as soon
// as the first activity has ended, and a copy of the first activity must not complete the second. A task without a
// schedule, and a task that was never seen to run, have no copies, and idReused returns false.
func (w *watcher) idReused(ctx context.Context, t *watched) (again bool, err error) {
	if t.schedule == nil || t.names == 0 {
		return false, nil
	}
	err = w.schedulesBackwards(ctx, func(s *schedule) bool {
		again = again || s.GetActivityId() == t.activity && s.event != t.schedule.event
		return !again
	}, t.schedule.event)
	if again {
		w.disableCopies() // an ID might always be reused between this check and the end of a copy
	}
	return again, err
}

// schedulesBackwards calls more with the schedules in the history, the last first, down to the event until, or until more
// returns false.
func (w *watcher) schedulesBackwards(ctx context.Context, more func(*schedule) bool, until int64) error {
	r := &workflowservice.GetWorkflowExecutionHistoryReverseRequest{Namespace: w.Namespace, Execution: w.execution()}
	for {
		page, err := w.client.WorkflowService().GetWorkflowExecutionHistoryReverse(ctx, r)
		if err != nil {
			return err
		}
		for _, e := range page.GetHistory().GetEvents() {
			if e.GetEventId() <= until {
				return nil
			}
			if a := e.GetActivityTaskScheduledEventAttributes(); a != nil && !more(&schedule{a, e.GetEventId()}) {
				return nil
			}
		}
		if r.NextPageToken = page.GetNextPageToken(); len(r.NextPageToken) == 0 {
			return nil
		}
	}
}
