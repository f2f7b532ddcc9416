package fanout

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// faulty is an imitation of a Temporal server in which a single call fails: the call with the number at, counted from
// 1.
type faulty struct {
	service
	at    int
	fault fault
	calls *int
}

// fault is the way in which a call fails.
type fault string

const (
	refused    fault = "refused"
	answerLost fault = "carried out, and the answer is lost"
	timedOut   fault = "not carried out, and its time is up"
	lateLost   fault = "carried out, and its time is up"
)

type faultyClient struct {
	client.Client
	server faulty
}

func (c faultyClient) WorkflowService() workflowservice.WorkflowServiceClient { return c.server }

// call makes a call to the server. If it is the call with the number at, it fails.
func call[R, A any](
	f faulty, ctx context.Context, r R, do func(context.Context, R, ...grpc.CallOption) (*A, error),
) (*A, error) {
	if *f.calls++; *f.calls != f.at {
		return do(ctx, r)
	}
	if f.fault == answerLost || f.fault == lateLost {
		_, _ = do(ctx, r)
	}
	if f.fault == timedOut || f.fault == lateLost {
		return nil, serviceerror.NewDeadlineExceeded("its time is up")
	}
	return nil, serviceerror.NewUnavailable("not now")
}

func (f faulty) DescribeWorkflowExecution(
	ctx context.Context, r *workflowservice.DescribeWorkflowExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return call(f, ctx, r, f.service.DescribeWorkflowExecution)
}

func (f faulty) GetWorkflowExecutionHistoryReverse(
	ctx context.Context, r *workflowservice.GetWorkflowExecutionHistoryReverseRequest, _ ...grpc.CallOption,
) (*workflowservice.GetWorkflowExecutionHistoryReverseResponse, error) {
	return call(f, ctx, r, f.service.GetWorkflowExecutionHistoryReverse)
}

func (f faulty) StartActivityExecution(
	ctx context.Context, r *workflowservice.StartActivityExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.StartActivityExecutionResponse, error) {
	return call(f, ctx, r, f.service.StartActivityExecution)
}

func (f faulty) DescribeActivityExecution(
	ctx context.Context, r *workflowservice.DescribeActivityExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.DescribeActivityExecutionResponse, error) {
	return call(f, ctx, r, f.service.DescribeActivityExecution)
}

func (f faulty) RespondActivityTaskCompletedById(
	ctx context.Context, r *workflowservice.RespondActivityTaskCompletedByIdRequest, _ ...grpc.CallOption,
) (*workflowservice.RespondActivityTaskCompletedByIdResponse, error) {
	return call(f, ctx, r, func(
		ctx context.Context, r *workflowservice.RespondActivityTaskCompletedByIdRequest, _ ...grpc.CallOption,
	) (*workflowservice.RespondActivityTaskCompletedByIdResponse, error) {
		if len(f.completed) > 0 {
			return nil, serviceerror.NewNotFound("it is completed")
		}
		return f.service.RespondActivityTaskCompletedById(ctx, r)
	})
}

func (f faulty) RequestCancelActivityExecution(
	ctx context.Context, r *workflowservice.RequestCancelActivityExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.RequestCancelActivityExecutionResponse, error) {
	return call(f, ctx, r, f.service.RequestCancelActivityExecution)
}

// oneMore is a policy that copies each task with one attempt.
type oneMore struct{}

func (oneMore) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	if len(t.Attempts) != 1 || t.Attempts[0].Elapsed == 0 {
		return restart.Decision{}
	}
	return restart.Decision{Action: restart.Copy, Reason: restart.IdleSlot, Gain: 1}
}

// An activity hangs. Watch completes it with the result of a copy, whichever call to the server fails. In each run of
// the test, another call fails: the server refuses it, or it times out, or its answer is lost. The activity is always
// completed once, after about the same number of polls.
func TestOneFaultyCallDoesNoHarm(t *testing.T) {
	for _, fault := range []fault{refused, answerLost, timedOut, lateLost} {
		most := 0
		for at := 0; at == 0 || at <= most; at++ { // if at is 0, no call fails
			calls := 0
			s := newImitation()
			s.schedules("other", "input 0")
			s.schedules("chunk", "input 1")
			begun := time.Now().Add(-time.Minute)
			s.pending = func(int) []*workflowpb.PendingActivityInfo {
				if len(s.completed) > 0 {
					return nil
				}
				return []*workflowpb.PendingActivityInfo{started("chunk", begun)}
			}
			s.ready = func(poll int) bool { return poll >= 7 }
			known, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 8}, {Name: "b", Slots: 8}}})
			require.NoError(t, err)
			f := faulty{service{imitation: s}, at, fault, &calls}
			w, err := newWatcher(faultyClient{server: f}, "w", "",
				WatchOptions{Machines: known, Interval: time.Millisecond, Policy: oneMore{}})
			require.NoError(t, err)
			for open := true; open && s.polls < 400; time.Sleep(time.Millisecond) {
				open, err = w.poll(t.Context())
				require.NoError(t, err, "call %d", at)
			}
			w.endAll()
			assert.Equal(t, []string{"chunk: result of input 1"}, s.completed, "call %d, %s", at, fault)
			assert.LessOrEqual(t, len(s.copies), 2, "call %d, %s", at, fault)
			most = max(most, min(calls, 60))
		}
		t.Logf("%s: %d calls", fault, most)
	}
}
