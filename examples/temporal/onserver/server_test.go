package onserver_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/examples/temporal/internal/cluster"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
	"github.com/straggler-go/straggler/restart/rules"
)

// What only a real server shows of package fanout: heartbeats, resets, results from outside, histories. The hosts are
// goroutines here; the demo's are processes.

const (
	serverInterval = 200 * time.Millisecond
	goodTime       = time.Second
	badTime        = 12 * time.Second
	sharedQueue    = "everybody"
)

// serve starts a server and four hosts, the last of them slow, each with its own queue and the shared one. What it
// returns besides stops a host as a signal would, and starts it again.
func serve(t *testing.T, register func(worker.WorkflowRegistry)) (client.Client, *cluster.Server, func(host string)) {
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
	run := func(c client.Client, queue string, o worker.Options, register func(worker.Worker)) worker.Worker {
		w := worker.New(c, queue, o)
		register(w)
		assert.NoError(t, w.Start())
		return w
	}
	workers := map[string][]worker.Worker{}
	start := func(name string, c client.Client) {
		took := goodTime
		if name == "h3" {
			took = badTime
		}
		for _, queue := range []string{sharedQueue, name} {
			workers[name] = append(workers[name], run(c, queue, fanout.WorkerOptions(4, serverInterval), func(w worker.Worker) {
				w.RegisterActivityWithOptions(paced(name, took), activity.RegisterOptions{Name: "work"})
				w.RegisterActivityWithOptions(rude(name, took), activity.RegisterOptions{Name: "rude"})
				w.RegisterActivityWithOptions(unlucky, activity.RegisterOptions{Name: "unlucky"})
			}))
		}
	}
	stop := func(name string) {
		for _, w := range workers[name] {
			w.Stop()
		}
		delete(workers, name)
	}
	clients := map[string]client.Client{}
	for _, h := range hosts(4) {
		clients[h.Name] = dial(h.Name)
		start(h.Name, clients[h.Name])
		t.Cleanup(func() { stop(h.Name) })
	}
	c := dial("workflows")
	t.Cleanup(run(c, "workflows", worker.Options{}, func(w worker.Worker) { register(w) }).Stop)
	return c, server, func(name string) {
		stop(name)
		start(name, clients[name])
	}
}

// paced takes its time, and says who it was that answered.
func paced(host string, took time.Duration) func(context.Context, int) (string, error) {
	return func(ctx context.Context, input int) (string, error) {
		for start := time.Now(); time.Since(start) < took; {
			select {
			case <-ctx.Done():
				// Who is told to end by Map may say anything, and leave a part for the whole.
				if strings.HasPrefix(activity.GetInfo(ctx).ActivityID, "task-") {
					if input%2 == 1 {
						return "a part", nil
					}
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

func hosts(slots int) (list []engine.Machine) {
	for i := range 4 {
		list = append(list, engine.Machine{Name: fmt.Sprint("h", i), Slots: slots})
	}
	return list
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
	for _, name := range []string{"flow", "restarting"} {
		r.RegisterWorkflowWithOptions(flow, workflow.RegisterOptions{Name: name})
	}
	return r.ReplayWorkflowExecution(t.Context(), c.WorkflowService(), nil, cluster.Namespace,
		workflow.Execution{ID: run.GetID(), RunID: run.GetRunID()})
}

// mapped is a workflow of our own.
func mapped(policy restart.Policy) func(ctx workflow.Context) ([]string, error) {
	return mappedBy("work", policy)
}

func mappedBy(name string, policy restart.Policy) func(ctx workflow.Context) ([]string, error) {
	return func(ctx workflow.Context) ([]string, error) {
		known, err := engine.NewMachines(engine.MachinesConfig{Machines: hosts(4)})
		if err != nil {
			return nil, err
		}
		tasks := make([]fanout.Task, 16)
		for i := range tasks {
			tasks[i].Input = i
		}
		return fanout.Map[string](ctx, name, tasks, fanout.Options{
			Policy: policy, Machines: known, Interval: serverInterval, MaxFailures: 50,
		})
	}
}

// foreign is a workflow that knows nothing of us.
func foreign(ctx workflow.Context) ([]string, error) { return foreignOf(ctx, "work", 3) }

func foreignOf(ctx workflow.Context, name string, tries int32) ([]string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: sharedQueue, StartToCloseTimeout: time.Minute, HeartbeatTimeout: 5 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: tries},
	})
	results := make([]string, 16)
	var futures []workflow.Future
	for i := range results {
		futures = append(futures, workflow.ExecuteActivity(ctx, name, i))
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
	c, server, _ := serve(t, func(r worker.WorkflowRegistry) {
		r.RegisterWorkflowWithOptions(mapped(nil), workflow.RegisterOptions{Name: "flow"})
		r.RegisterWorkflowWithOptions(failing(fanout.Options{}), workflow.RegisterOptions{Name: "failing"})
		r.RegisterWorkflowWithOptions(mapped(leave{machine: 3}), workflow.RegisterOptions{Name: "restarting"})
		r.RegisterWorkflowWithOptions(foreign, workflow.RegisterOptions{Name: "foreign"})
	})
	t.Run("map", func(t *testing.T) {
		run := begin(t, c, "map", "flow")
		var results []string
		require.NoError(t, run.Get(t.Context(), &results))
		assert.Zero(t, checkResults(t, results), "no task waited for the slow host")
		count := events(t, c, run)
		total := 0
		for _, n := range count {
			total += n
		}
		polls, attempts := count[enumspb.EVENT_TYPE_TIMER_STARTED], count[enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED]
		cancels := count[enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCEL_REQUESTED]
		assert.LessOrEqual(t, total, 7*polls+7*attempts+cancels+6, "as the package's comment says: %v", count)
		assert.NoError(t, replay(t, c, run, mapped(nil)))
		// What was decided is in the history, whatever would be decided now.
		assert.NoError(t, replay(t, c, run, mapped(restart.Never{})))
		assert.NoError(t, replay(t, c, run, mapped(rules.MapReduce{NearEnd: 0.1})))
		assert.NoError(t, replay(t, c, run, mapped(eager{})))
	})
	t.Run("map, restarted", func(t *testing.T) {
		run := begin(t, c, "restarting", "restarting")
		var results []string
		require.NoError(t, run.Get(t.Context(), &results))
		assert.Zero(t, checkResults(t, results), "what was told to end has no result, whatever it returns")
		assert.NoError(t, replay(t, c, run, mapped(leave{machine: 3})))
	})
	t.Run("map, cancelled", func(t *testing.T) { testCancel(t, c) })
	t.Run("map, failing", func(t *testing.T) { testFailing(t, c) })
	t.Run("watch, by copies", func(t *testing.T) {
		// Without a finished task there is nothing to compare with: Dryad's rule is as good as any that only copies.
		testWatch(t, c, "copies", 8, rules.Dryad{Percentile: 0.5})
	})
	t.Run("watch, restarts are refused", func(t *testing.T) {
		testWatch(t, refusing{Client: c, resets: true}, "refused", 4, restart.Mantri{})
	})
	t.Run("watch, a host that is gone", func(t *testing.T) {
		testWatch(t, c, "gone", 4, leave{machine: 3}, engine.Machine{Name: "h4", Slots: 4})
	})
	t.Run("watch, over a restart of the server", func(t *testing.T) {
		go func() {
			time.Sleep(goodTime / 4)
			assert.NoError(t, server.Stop())
			assert.NoError(t, server.Start())
		}()
		testWatch(t, c, "restarted", 4, restart.Mantri{})
	})
	t.Run("watch, shadow", func(t *testing.T) {
		watchUntilSaid(t, c, "shadow", fanout.WatchOptions{Shadow: true}, 1)
		d, err := c.DescribeWorkflowExecution(t.Context(), "shadow", "")
		require.NoError(t, err)
		assert.NotEmpty(t, d.GetPendingActivities(), "the slow host still has its tasks")
		require.NoError(t, c.TerminateWorkflow(t.Context(), "shadow", "", "seen enough"))
	})
	t.Run("watch, no copies", func(t *testing.T) {
		said := watchUntilSaid(t, refusing{Client: c, copies: true}, "no copies", fanout.WatchOptions{
			Policy: rules.Dryad{Percentile: 0.5},
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
		_, err := fanout.Watch(t.Context(), c, "none", "", fanout.WatchOptions{
			Namespace: "none", Machines: watchedMachines(t, 1),
		})
		assert.ErrorContains(t, err, "none is not found", "at once")
		_, err = fanout.Watch(t.Context(), c, "none", "", fanout.WatchOptions{
			Machines: watchedMachines(t, 1), Policy: restart.Mantri{MaxRestarts: -7},
		})
		assert.ErrorContains(t, err, "Mantri.MaxRestarts is -7")
	})
}
