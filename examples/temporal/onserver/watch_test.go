package onserver_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"github.com/straggler-go/straggler/examples/temporal/internal/cluster"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
)

// watchUntilSaid watches for some seconds, or until something was said so many times.
func watchUntilSaid(t *testing.T, c client.Client, id string, o fanout.WatchOptions, times int) (said []fanout.Event) {
	t.Helper()
	begin(t, c, id, "foreign")
	ctx, cancel := context.WithTimeout(t.Context(), 2*goodTime)
	defer cancel()
	o.Namespace, o.Machines, o.Interval = cluster.Namespace, watchedMachines(t, 8), serverInterval
	o.OnAction = func(e fanout.Event) {
		if said = append(said, e); len(said) == times {
			cancel()
		}
	}
	_, err := fanout.Watch(ctx, c, id, "", o)
	assert.ErrorIs(t, err, ctx.Err())
	require.NotEmpty(t, said)
	return said
}

// watchedMachines may have four slots, for the shared queue alone, so that none is idle, or eight, with those for their
// own.
func watchedMachines(t *testing.T, slots int, more ...engine.Machine) *engine.Machines {
	t.Helper()
	known, err := engine.NewMachines(engine.MachinesConfig{Machines: append(hosts(slots), more...)})
	require.NoError(t, err)
	return known
}

// leave restarts what runs on a machine.
type leave struct{ machine int }

func (l leave) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	if len(t.Attempts) != 1 || t.Attempts[0].Machine != l.machine || t.Attempts[0].Elapsed == 0 {
		return restart.Decision{}
	}
	return restart.Decision{Action: restart.Restart, Reason: restart.FreshSooner, Gain: 1}
}

// refusing is a server that refuses resets, or has no standalone activities.
type refusing struct {
	client.Client
	resets, copies bool
}

func (r refusing) WorkflowService() workflowservice.WorkflowServiceClient {
	return refusingService{WorkflowServiceClient: r.Client.WorkflowService(), refusing: r}
}

type refusingService struct {
	workflowservice.WorkflowServiceClient
	refusing
}

func (s refusingService) ResetActivity(
	ctx context.Context, r *workflowservice.ResetActivityRequest, o ...grpc.CallOption,
) (*workflowservice.ResetActivityResponse, error) {
	if s.resets {
		return nil, serviceerror.NewUnavailable("not now")
	}
	return s.WorkflowServiceClient.ResetActivity(ctx, r, o...)
}

func (s refusingService) StartActivityExecution(
	ctx context.Context, r *workflowservice.StartActivityExecutionRequest, o ...grpc.CallOption,
) (*workflowservice.StartActivityExecutionResponse, error) {
	if s.copies {
		return nil, serviceerror.NewUnimplemented("Standalone activity is disabled")
	}
	return s.WorkflowServiceClient.StartActivityExecution(ctx, r, o...)
}

func testWatch(t *testing.T, c client.Client, id string, slots int, policy restart.Policy, more ...engine.Machine) {
	run := begin(t, c, id, "foreign")
	ledger, err := fanout.Watch(t.Context(), c, run.GetID(), "", fanout.WatchOptions{
		Namespace: cluster.Namespace, Type: "work", Policy: policy, Machines: watchedMachines(t, slots, more...),
		Interval: serverInterval, ScheduleToStartTimeout: goodTime,
		OnAction: func(e fanout.Event) { t.Logf("%5.2fs %s %s on %s: %s", e.At.Seconds(), e.Kind, e.ID, e.Machine, e.Why) },
	})
	require.NoError(t, err)
	var results []string
	require.NoError(t, run.Get(t.Context(), &results))
	assert.Zero(t, checkResults(t, results), "%+v", ledger)
	switch id {
	case "gone":
		assert.GreaterOrEqual(t, ledger.Restarts, 4)
	case "copies":
		assert.NotZero(t, ledger.Copies)
	}
	r := worker.NewWorkflowReplayer()
	r.RegisterWorkflow(foreign)
	assert.NoError(t, r.ReplayWorkflowExecution(t.Context(), c.WorkflowService(), nil, cluster.Namespace,
		workflow.Execution{ID: run.GetID(), RunID: run.GetRunID()}))
}
