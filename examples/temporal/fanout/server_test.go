package fanout_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"

	"github.com/straggler-go/straggler/examples/temporal/fanout"
	"github.com/straggler-go/straggler/examples/temporal/internal/cluster"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// What only a real server shows: heartbeats, resets, results from outside, histories. The hosts are goroutines here; the
// demo's are processes.

const (
	serverInterval = 200 * time.Millisecond
	goodTime       = time.Second
	badTime        = 12 * time.Second
	sharedQueue    = "everybody"
)

// serve starts a server and four hosts, the last of them slow, each with its own queue and the shared one.
func serve(t *testing.T, register func(worker.WorkflowRegistry)) (client.Client, *cluster.Server) {
	t.Helper()
	server, err := cluster.NewServer(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	quiet := log.NewStructuredLogger(slog.New(slog.DiscardHandler))
	dial := func(name string) client.Client {
		c, err := client.Dial(client.Options{
			HostPort: server.Address(), Namespace: cluster.Namespace, Identity: name, Logger: quiet,
		})
		require.NoError(t, err)
		t.Cleanup(c.Close)
		return c
	}
	run := func(c client.Client, queue string, o worker.Options, register func(worker.Worker)) {
		w := worker.New(c, queue, o)
		register(w)
		require.NoError(t, w.Start())
		t.Cleanup(w.Stop)
	}
	for _, h := range hosts(4) {
		c, took := dial(h.Name), goodTime
		if h.Name == "h3" {
			took = badTime
		}
		for _, queue := range []string{sharedQueue, h.Name} {
			run(c, queue, fanout.WorkerOptions(4, serverInterval), func(w worker.Worker) {
				w.RegisterActivityWithOptions(paced(h.Name, took), activity.RegisterOptions{Name: "work"})
				w.RegisterActivityWithOptions(unlucky, activity.RegisterOptions{Name: "unlucky"})
			})
		}
	}
	c := dial("workflows")
	run(c, "workflows", worker.Options{}, func(w worker.Worker) { register(w) })
	return c, server
}

// paced takes its time, and says who it was that answered.
func paced(host string, took time.Duration) func(context.Context, int) (string, error) {
	return func(ctx context.Context, input int) (string, error) {
		for start := time.Now(); time.Since(start) < took; {
			select {
			case <-ctx.Done():
				if strings.HasPrefix(activity.GetInfo(ctx).ActivityID, "task-") { // of Map: who is told to end may say anything
					return "", temporal.NewNonRetryableApplicationError("my file is gone", "x", nil)
				}
				return "", ctx.Err()
			case <-time.After(took / 50):
				fanout.Report(ctx, float64(time.Since(start))/float64(took))
			}
		}
		return fmt.Sprint(input, " ", host), nil
	}
}

func checkResults(t *testing.T, results []string) (fromBad int) {
	t.Helper()
	require.Len(t, results, 16)
	for i, r := range results {
		var task int
		var host string
		_, err := fmt.Sscan(r, &task, &host)
		require.NoError(t, err)
		assert.Equal(t, i, task)
		if host == "h3" {
			fromBad++
		}
	}
	return fromBad
}

func replay(t *testing.T, c client.Client, run client.WorkflowRun, flow any) error {
	t.Helper()
	r := worker.NewWorkflowReplayer()
	r.RegisterWorkflowWithOptions(flow, workflow.RegisterOptions{Name: "flow"})
	return r.ReplayWorkflowExecution(t.Context(), c.WorkflowService(), nil, cluster.Namespace,
		workflow.Execution{ID: run.GetID(), RunID: run.GetRunID()})
}

// mapped is a workflow of our own.
func mapped(policy restart.Policy) func(ctx workflow.Context) ([]string, error) {
	return func(ctx workflow.Context) ([]string, error) {
		known, err := engine.NewHosts(engine.HostsConfig{Hosts: hosts(4)})
		if err != nil {
			return nil, err
		}
		tasks := make([]fanout.Task, 16)
		for i := range tasks {
			tasks[i].Input = i
		}
		return fanout.Map[string](ctx, "work", tasks, fanout.Options{Policy: policy, Hosts: known, Interval: serverInterval})
	}
}

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
		if o.Hosts, err = engine.NewHosts(engine.HostsConfig{Hosts: hosts(4)}); err != nil {
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

// foreign is a workflow that knows nothing of us.
func foreign(ctx workflow.Context) ([]string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: sharedQueue, StartToCloseTimeout: time.Minute, HeartbeatTimeout: 5 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 3},
	})
	results := make([]string, 16)
	var futures []workflow.Future
	for i := range results {
		futures = append(futures, workflow.ExecuteActivity(ctx, "work", i))
	}
	for i, f := range futures {
		if err := f.Get(ctx, &results[i]); err != nil {
			return nil, err
		}
	}
	return results, nil
}

func begin(t *testing.T, c client.Client, id string, flow string) client.WorkflowRun {
	t.Helper()
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "workflows"}, flow)
	require.NoError(t, err)
	return run
}

func TestOnAServer(t *testing.T) {
	c, server := serve(t, func(r worker.WorkflowRegistry) {
		r.RegisterWorkflowWithOptions(mapped(nil), workflow.RegisterOptions{Name: "flow"})
		r.RegisterWorkflowWithOptions(failing(fanout.Options{}), workflow.RegisterOptions{Name: "failing"})
		r.RegisterWorkflowWithOptions(foreign, workflow.RegisterOptions{Name: "foreign"})
	})
	t.Run("map", func(t *testing.T) {
		run := begin(t, c, "map", "flow")
		var results []string
		require.NoError(t, run.Get(t.Context(), &results))
		assert.Zero(t, checkResults(t, results), "no task waited for the slow host")
		t.Log(events(t, c, run))
		assert.NoError(t, replay(t, c, run, mapped(nil)))
		assert.NoError(t, replay(t, c, run, mapped(restart.Never{})), "what was decided is in the history, whatever would be decided now")
		assert.NoError(t, replay(t, c, run, mapped(restart.MapReduce{NearEnd: 0.1})))
		assert.NoError(t, replay(t, c, run, mapped(eager{})))
	})
	t.Run("map, cancelled", func(t *testing.T) { testCancel(t, c) })
	t.Run("map, failing", func(t *testing.T) { testFailing(t, c) })
	t.Run("watch, by restarts", func(t *testing.T) { testWatch(t, c, "restarts", 4, restart.Mantri{}) })
	t.Run("watch, by copies", func(t *testing.T) {
		// Without a finished task there is nothing to compare with: Dryad's rule is as good as any that only copies.
		testWatch(t, c, "copies", 8, restart.Dryad{Percentile: 0.5})
	})
	t.Run("watch, restarts are refused", func(t *testing.T) {
		testWatch(t, refusing{Client: c, resets: true}, "refused", 4, restart.Mantri{})
	})
	t.Run("watch, a host that is gone", func(t *testing.T) {
		testWatch(t, c, "gone", 4, restart.Mantri{}, engine.Host{Name: "h4", Slots: 4})
	})
	t.Run("watch, over a restart of the server", func(t *testing.T) {
		go func() {
			time.Sleep(goodTime / 4)
			assert.NoError(t, server.Stop())
			assert.NoError(t, server.Start())
		}()
		testWatch(t, c, "restarted", 4, restart.Mantri{})
	})
	t.Run("watch, dry run", func(t *testing.T) {
		watchUntilSaid(t, c, "dry", fanout.WatchOptions{DryRun: true}, 1)
		d, err := c.DescribeWorkflowExecution(t.Context(), "dry", "")
		require.NoError(t, err)
		assert.NotEmpty(t, d.GetPendingActivities(), "the slow host still has its tasks")
		require.NoError(t, c.TerminateWorkflow(t.Context(), "dry", "", "seen enough"))
	})
	t.Run("watch, no copies", func(t *testing.T) {
		said := watchUntilSaid(t, refusing{Client: c, copies: true}, "no copies", fanout.WatchOptions{
			Policy: restart.Dryad{Percentile: 0.5},
		}, 1000)
		tried := map[string]int{}
		for _, e := range said {
			assert.Contains(t, e.Why, "disabled")
			tried[e.ID]++
			assert.Equal(t, 1, tried[e.ID], "a server that knows no copies is not asked again")
		}
		assert.NotEmpty(t, tried)
		require.NoError(t, c.TerminateWorkflow(t.Context(), "no copies", "", "seen enough"))
	})
	t.Run("watch, nothing", func(t *testing.T) {
		_, err := fanout.Watch(t.Context(), c, "none", "", fanout.WatchOptions{Namespace: "none", Hosts: watchedHosts(t, 1)})
		assert.ErrorContains(t, err, "none is not found", "at once")
		_, err = fanout.Watch(t.Context(), c, "none", "", fanout.WatchOptions{
			Hosts: watchedHosts(t, 1), Policy: restart.Mantri{MaxRestarts: -7},
		})
		assert.ErrorContains(t, err, "Mantri.MaxRestarts is -7")
	})
}

// watchUntilSaid watches for some seconds, or until something was said so many times.
func watchUntilSaid(t *testing.T, c client.Client, id string, o fanout.WatchOptions, times int) (said []fanout.Event) {
	t.Helper()
	begin(t, c, id, "foreign")
	ctx, cancel := context.WithTimeout(t.Context(), 5*goodTime/2)
	defer cancel()
	o.Namespace, o.Hosts, o.Interval = cluster.Namespace, watchedHosts(t, 8), serverInterval
	o.Log = func(e fanout.Event) {
		if said = append(said, e); len(said) == times {
			cancel()
		}
	}
	_, err := fanout.Watch(ctx, c, id, "", o)
	assert.ErrorIs(t, err, ctx.Err())
	require.NotEmpty(t, said)
	return said
}

// watchedHosts may have four slots, for the shared queue alone, so that none is idle, or eight, with those for their own.
func watchedHosts(t *testing.T, slots int, more ...engine.Host) *engine.Hosts {
	t.Helper()
	known, err := engine.NewHosts(engine.HostsConfig{Hosts: append(hosts(slots), more...)})
	require.NoError(t, err)
	return known
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
	all := c.GetWorkflowHistory(t.Context(), run.GetID(), run.GetRunID(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for all.HasNext() {
		e, err := all.Next()
		require.NoError(t, err)
		count[e.GetEventType()]++
	}
	return count
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

func testWatch(t *testing.T, c client.Client, id string, slots int, policy restart.Policy, more ...engine.Host) {
	run := begin(t, c, id, "foreign")
	ledger, err := fanout.Watch(t.Context(), c, run.GetID(), "", fanout.WatchOptions{
		Namespace: cluster.Namespace, Type: "work", Policy: policy, Hosts: watchedHosts(t, slots, more...), Interval: serverInterval,
		InQueue: goodTime,
		Log:     func(e fanout.Event) { t.Logf("%5.2fs %s %s on %s: %s", e.At.Seconds(), e.Kind, e.ID, e.Host, e.Why) },
	})
	require.NoError(t, err)
	var results []string
	require.NoError(t, run.Get(t.Context(), &results))
	assert.Zero(t, checkResults(t, results), "%+v", ledger)
	switch id {
	case "restarts":
		assert.NotZero(t, ledger.Restarts, "there is no idle slot for copies")
	case "copies":
		assert.NotZero(t, ledger.Copies)
	}
	r := worker.NewWorkflowReplayer()
	r.RegisterWorkflow(foreign)
	assert.NoError(t, r.ReplayWorkflowExecution(t.Context(), c.WorkflowService(), nil, cluster.Namespace,
		workflow.Execution{ID: run.GetID(), RunID: run.GetRunID()}))
}
