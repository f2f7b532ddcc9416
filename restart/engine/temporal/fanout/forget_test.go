package fanout

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	activitypb "go.temporal.io/api/activity/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// imitation is the part of a Temporal server that Watch needs: one workflow, and copies that end when the function
// ready says so.
type imitation struct {
	polls     int
	pending   func(poll int) []*workflowpb.PendingActivityInfo // nil: the workflow has ended
	history   []*historypb.HistoryEvent
	pages     int // number of pages of the history that were read
	copies    map[string]*workflowservice.StartActivityExecutionRequest
	ready     func(poll int) bool // the copies have their results
	completed []string
	cancelled []string
	away      bool // the server does not answer requests to cancel a copy
}

// imitated is a client whose requests go to the imitation.
type imitated struct {
	client.Client
	server *imitation
}

func (c imitated) WorkflowService() workflowservice.WorkflowServiceClient {
	return service{imitation: c.server}
}

type service struct {
	workflowservice.WorkflowServiceClient
	*imitation
}

func (s service) DescribeWorkflowExecution(
	context.Context, *workflowservice.DescribeWorkflowExecutionRequest, ...grpc.CallOption,
) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	s.polls++
	status, pending := enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, s.pending(s.polls)
	if pending == nil {
		status = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
			Status: status, Execution: &commonpb.WorkflowExecution{WorkflowId: "w", RunId: "r"},
		},
		PendingActivities: pending,
	}, nil
}

// GetWorkflowExecutionHistoryReverse returns the history in pages of two events.
func (s service) GetWorkflowExecutionHistoryReverse(
	_ context.Context, r *workflowservice.GetWorkflowExecutionHistoryReverseRequest, _ ...grpc.CallOption,
) (*workflowservice.GetWorkflowExecutionHistoryReverseResponse, error) {
	s.pages++
	end := len(s.history)
	if len(r.NextPageToken) > 0 {
		_, _ = fmt.Sscan(string(r.NextPageToken), &end)
	}
	page := &workflowservice.GetWorkflowExecutionHistoryReverseResponse{History: &historypb.History{}}
	for at := end - 1; at >= max(0, end-2); at-- {
		page.History.Events = append(page.History.Events, s.history[at])
	}
	if end > 2 {
		page.NextPageToken = []byte(fmt.Sprint(end - 2))
	}
	return page, nil
}

func (s service) StartActivityExecution(
	_ context.Context, r *workflowservice.StartActivityExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.StartActivityExecutionResponse, error) {
	s.copies[r.ActivityId] = r
	return &workflowservice.StartActivityExecutionResponse{}, nil
}

func (s service) DescribeActivityExecution(
	_ context.Context, r *workflowservice.DescribeActivityExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.DescribeActivityExecutionResponse, error) {
	info := &activitypb.ActivityExecutionInfo{ActivityId: r.ActivityId, Status: enumspb.ACTIVITY_EXECUTION_STATUS_RUNNING}
	d := &workflowservice.DescribeActivityExecutionResponse{Info: info}
	if s.ready(s.polls) {
		info.Status = enumspb.ACTIVITY_EXECUTION_STATUS_COMPLETED
		info.LastStartedTime, info.CloseTime = timestamppb.New(time.Now().Add(-time.Second)), timestamppb.Now()
		input := s.copies[r.ActivityId].GetInput().GetPayloads()[0].GetData()
		d.Outcome = &activitypb.ActivityExecutionOutcome{
			Value: &activitypb.ActivityExecutionOutcome_Result{Result: payload("result of " + string(input))},
		}
	}
	return d, nil
}

func (s service) RespondActivityTaskCompletedById(
	_ context.Context, r *workflowservice.RespondActivityTaskCompletedByIdRequest, _ ...grpc.CallOption,
) (*workflowservice.RespondActivityTaskCompletedByIdResponse, error) {
	s.completed = append(s.completed, fmt.Sprintf("%s: %s", r.ActivityId, r.Result.GetPayloads()[0].GetData()))
	return &workflowservice.RespondActivityTaskCompletedByIdResponse{}, nil
}

func (s service) RequestCancelActivityExecution(
	_ context.Context, r *workflowservice.RequestCancelActivityExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.RequestCancelActivityExecutionResponse, error) {
	if s.away {
		return nil, serviceerror.NewUnavailable("not now")
	}
	s.cancelled = append(s.cancelled, r.ActivityId)
	return &workflowservice.RequestCancelActivityExecutionResponse{}, nil
}

func payload(text string) *commonpb.Payloads {
	return &commonpb.Payloads{Payloads: []*commonpb.Payload{{Data: []byte(text)}}}
}

// schedules adds the schedule of an activity to the history.
func (s *imitation) schedules(id, input string) {
	s.history = append(s.history, &historypb.HistoryEvent{
		EventId: int64(len(s.history) + 1),
		Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
			ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
				ActivityId: id, ActivityType: &commonpb.ActivityType{Name: "work"}, Input: payload(input),
			},
		},
	})
}

func started(id string, begun time.Time) *workflowpb.PendingActivityInfo {
	return &workflowpb.PendingActivityInfo{
		ActivityId: id, ActivityType: &commonpb.ActivityType{Name: "work"}, State: enumspb.PENDING_ACTIVITY_STATE_STARTED,
		LastStartedTime: timestamppb.New(begun), LastWorkerIdentity: "a", ScheduledTime: timestamppb.New(begun), Attempt: 1,
	}
}

// onceEach is a policy that copies each task once.
type onceEach struct{}

func (onceEach) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	if len(t.Attempts) != 1 || t.Copies > 0 || t.Attempts[0].Elapsed == 0 {
		return restart.Decision{}
	}
	return restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot, Gain: 1}
}

func newImitation() *imitation {
	return &imitation{copies: map[string]*workflowservice.StartActivityExecutionRequest{}, ready: func(int) bool { return false }}
}

func (s *imitation) watcher(t *testing.T, policy restart.Policy, log func(Event)) *watcher {
	known, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 8}, {Name: "b", Slots: 8}}})
	require.NoError(t, err)
	o := WatchOptions{Machines: known, Interval: time.Millisecond, Policy: policy, OnAction: log}
	w, err := newWatcher(imitated{server: s}, "w", "", o)
	require.NoError(t, err)
	return w
}

func (s *imitation) watch(t *testing.T, w *watcher) {
	for open := true; open; {
		var err error
		open, err = w.poll(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Millisecond)
	}
	w.endAll()
}

// A workflow uses an activity's ID again after the first activity has ended. Then the copy of the first activity is
// cancelled, and never completes the second activity, whether the copy has a result or not. After that, Watch makes
// no more copies.
func TestACopyNeverCompletesALaterActivity(t *testing.T) {
	for _, readyAt := range []int{5, 6, 8, 12} {
		s := newImitation()
		s.schedules("chunk", "input 1")
		s.schedules("other", "input 0")
		begun, again := time.Now().Add(-time.Minute), time.Now()
		s.pending = func(poll int) []*workflowpb.PendingActivityInfo {
			switch {
			case poll < 5:
				return []*workflowpb.PendingActivityInfo{started("chunk", begun)}
			case poll == 5:
				s.schedules("chunk", "input 2")
				fallthrough
			case poll < 15:
				return []*workflowpb.PendingActivityInfo{started("chunk", again)}
			}
			return nil
		}
		s.ready = func(poll int) bool { return poll >= readyAt }
		w := s.watcher(t, onceEach{}, nil)
		s.watch(t, w)
		assert.Len(t, s.copies, 1)
		assert.Empty(t, s.completed, "ready at poll %d", readyAt)
		if readyAt > 6 {
			assert.NotEmpty(t, s.cancelled)
		}
		assert.Equal(t, 1, w.ledger().Copies)
	}
}

// If an activity is retried, it is still the same activity, so a copy completes it.
func TestRetriedActivityKeepsItsCopy(t *testing.T) {
	s := newImitation()
	s.schedules("other", "input 0")
	s.schedules("chunk", "input 1")
	s.schedules("other too", "input 3")
	begun, again := time.Now().Add(-time.Minute), time.Now()
	s.pending = func(poll int) []*workflowpb.PendingActivityInfo {
		switch {
		case len(s.completed) > 0:
			return nil
		case poll < 5:
			return []*workflowpb.PendingActivityInfo{started("chunk", begun)}
		}
		return []*workflowpb.PendingActivityInfo{started("chunk", again)}
	}
	s.ready = func(poll int) bool { return poll >= 7 }
	s.watch(t, s.watcher(t, onceEach{}, nil))
	assert.Equal(t, []string{"chunk: result of input 1"}, s.completed)
}

// Watch keeps nothing about ended activities, except in the ledger, because a long workflow may run one activity
// after the other.
func TestEndedActivitiesAreForgotten(t *testing.T) {
	const n = 1000
	s := newImitation()
	s.pending = func(poll int) []*workflowpb.PendingActivityInfo {
		if poll > n {
			return nil
		}
		s.schedules(fmt.Sprint(poll), "input")
		return []*workflowpb.PendingActivityInfo{started(fmt.Sprint(poll), time.Now())}
	}
	w := s.watcher(t, restart.Never{}, nil)
	w.Work = func(*commonpb.Payloads) float64 { return 1 }
	for range n {
		_, err := w.poll(t.Context())
		require.NoError(t, err)
		require.LessOrEqual(t, len(w.batches), 2)
		require.LessOrEqual(t, len(w.tasks), 2)
	}
	assert.Equal(t, n, w.ledger().Started)
	assert.LessOrEqual(t, s.pages, n, "the history is read from its end")
}

// If the request to cancel a copy fails, Watch repeats the request until the server accepts it.
func TestCopyIsCancelledUntilTheServerKnows(t *testing.T) {
	s := newImitation()
	s.schedules("chunk", "input 1")
	s.away = true
	begun := time.Now().Add(-time.Minute)
	s.pending = func(poll int) []*workflowpb.PendingActivityInfo {
		switch {
		case poll < 5:
			return []*workflowpb.PendingActivityInfo{started("chunk", begun)}
		case poll < 20:
			s.away = poll < 10
			return []*workflowpb.PendingActivityInfo{}
		}
		return nil
	}
	w := s.watcher(t, onceEach{}, nil)
	for s.polls < 19 {
		_, err := w.poll(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Millisecond)
	}
	assert.Len(t, s.copies, 1)
	assert.Len(t, s.cancelled, 1)
	assert.Empty(t, w.batches)
}
