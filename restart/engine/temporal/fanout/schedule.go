package fanout

import (
	"context"
	"fmt"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// schedule is the event in the history by which the workflow has scheduled an activity. The number of the event
// distinguishes two activities with the same ID.
type schedule struct {
	*historypb.ActivityTaskScheduledEventAttributes
	event int64
}

// readSchedules sets the field schedule of the tasks that do not have it yet. It finds the events by which the
// workflow has scheduled their activities. If an ID was used several times, the latest event is found. readSchedules
// reads the history backwards from its end, and stops when it has found all events. This is fast because a running
// activity has seldom begun long ago.
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

// idReused reports whether the workflow has scheduled a later activity with the ID of the task's activity. The
// workflow may do so as soon as the first activity has ended. A copy of the first activity must not complete the
// second activity. If the schedule of the activity was never read, or the activity was never seen to run, there is no
// copy. Then idReused returns false.
func (w *watcher) idReused(ctx context.Context, t *watched) (again bool, err error) {
	if t.schedule == nil || t.names == 0 {
		return false, nil
	}
	err = w.schedulesBackwards(ctx, func(s *schedule) bool {
		again = again || s.GetActivityId() == t.activity && s.event != t.schedule.event
		return !again
	}, t.schedule.event)
	if again {
		w.disableCopies() // an ID might be used again between this check and the completion by a copy
	}
	return again, err
}

// schedulesBackwards calls more with each schedule in the workflow's history, the latest schedule first. It stops
// when more returns false, or when it reaches the event whose number is the argument until.
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
