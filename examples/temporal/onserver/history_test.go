package onserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/examples/temporal/internal/cluster"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
)

// unlucky fails twice for each task.
func unlucky(ctx context.Context, input int) (int, error) {
	if attempt := activity.GetInfo(ctx).ActivityID; !strings.HasSuffix(attempt, ".2") {
		return 0, errors.New("a disk is full")
	}
	return input, nil
}

func failing(o fanout.Options) func(ctx workflow.Context) ([]int, error) {
	return func(ctx workflow.Context) ([]int, error) {
		o := o
		var err error
		if o.Machines, err = engine.NewMachines(engine.MachinesConfig{Machines: hosts(4)}); err != nil {
			return nil, err
		}
		return fanout.Map[int](ctx, "unlucky", []fanout.Task{{Input: 0}, {Input: 1}, {Input: 2}}, o)
	}
}

// eager restarts whatever runs, again and again.
type eager struct{}

func (eager) Decide(restart.Task, restart.Phase) restart.Decision {
	return restart.Decision{Action: restart.Restart, Reason: restart.FreshSooner, Gain: 1}
}

// testFailing replays what failed with options under which other tasks would have been given up.
func testFailing(t *testing.T, c client.Client) {
	run := begin(t, c, "failing", "failing")
	var results []int
	require.NoError(t, run.Get(t.Context(), &results))
	assert.Equal(t, []int{0, 1, 2}, results)
	for _, o := range []fanout.Options{
		{}, {MaxFailures: 1}, {Interval: time.Minute}, {Clone: &fanout.Clone{Straggler: 0.9}},
	} {
		r := worker.NewWorkflowReplayer()
		r.RegisterWorkflowWithOptions(failing(o), workflow.RegisterOptions{Name: "failing"})
		assert.NoError(t, r.ReplayWorkflowExecution(t.Context(), c.WorkflowService(), nil, cluster.Namespace,
			workflow.Execution{ID: run.GetID(), RunID: run.GetRunID()}), "%+v", o)
	}
}

// testCancel cancels a workflow in the middle of a Map.
func testCancel(t *testing.T, c client.Client) {
	run := begin(t, c, "cancelled", "flow")
	time.Sleep(goodTime / 2)
	began := time.Now()
	require.NoError(t, c.CancelWorkflow(t.Context(), run.GetID(), run.GetRunID()))
	err := run.Get(t.Context(), nil)
	assert.True(t, temporal.IsCanceledError(err), "%v", err)
	assert.Less(t, time.Since(began), badTime/2)
	asked := 0
	for kind, n := range events(t, c, run) {
		switch kind {
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED:
			asked = n
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:
			assert.Equal(t, 1, n)
		}
	}
	assert.NotZero(t, asked)
	assert.NoError(t, replay(t, c, run, mapped(restart.Never{})))
}

// events counts the events of a history by their types.
func events(t *testing.T, c client.Client, run client.WorkflowRun) map[enumspb.EventType]int {
	t.Helper()
	count := map[enumspb.EventType]int{}
	all := c.GetWorkflowHistory(t.Context(), run.GetID(), run.GetRunID(), false,
		enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for all.HasNext() {
		e, err := all.Next()
		require.NoError(t, err)
		count[e.GetEventType()]++
	}
	return count
}
