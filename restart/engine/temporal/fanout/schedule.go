package fanout

import (
	"context"
	"fmt"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// schedule is how the workflow has scheduled an activity: the event in the history, by whose number activities of the same
// ID are told apart.
type schedule struct {
	*historypb.ActivityTaskScheduledEventAttributes
	event int64
}

// schedules reads how activities were scheduled, and of those of the same ID, how the last was. It reads the history from
// its end, no further than needed: what runs has seldom begun long ago.
func (w *watcher) schedules(ctx context.Context, tasks []*watched) error {
	wanted := map[string]*watched{}
	for _, t := range tasks {
		if t.schedule == nil {
			wanted[t.activity] = t
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	err := w.backwards(ctx, func(s *schedule) bool {
		if t := wanted[s.GetActivityId()]; t != nil {
			t.schedule = s
			delete(wanted, t.activity)
		}
		return len(wanted) > 0
	}, 0)
	for activity := range wanted {
		if err == nil {
			err = fmt.Errorf("the schedule of activity %s is not in the history", activity)
		}
	}
	return err
}

// usedAgain reports whether the workflow has scheduled another activity of the same ID since. It may do so as soon as the
// first has ended, and a copy of the first must not end the second. A task of which no schedule was read, or that was not seen
// to run, has no copies.
func (w *watcher) usedAgain(ctx context.Context, t *watched) (again bool, err error) {
	if t.schedule == nil || t.names == 0 {
		return false, nil
	}
	err = w.backwards(ctx, func(s *schedule) bool {
		again = again || s.GetActivityId() == t.activity && s.event != t.schedule.event
		return !again
	}, t.schedule.event)
	if again {
		w.forgoCopies() // between the last look and the end of a copy there would always be a moment
	}
	return again, err
}

// backwards goes through the scheduling of activities, the last one first, until that of an event or until the function
// has had enough.
func (w *watcher) backwards(ctx context.Context, more func(*schedule) bool, until int64) error {
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
