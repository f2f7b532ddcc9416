package cluster

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

func TestMain(m *testing.M) {
	RunHost(serve)
	os.Exit(m.Run())
}

// serve has one activity, whoAmI. It answers from a process of its own.
func serve(c client.Client, h Host) (worker.Worker, error) {
	w := worker.New(c, h.Name, worker.Options{DisableWorkflowWorker: true})
	w.RegisterActivityWithOptions(func(context.Context) (string, error) {
		return h.Name, nil
	}, activity.RegisterOptions{Name: "whoAmI"})
	return w, nil
}

// ask asks a host for its name, now and after a signal.
func ask(ctx workflow.Context, host string) (string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: host, StartToCloseTimeout: 2 * time.Second, // what a host took before it was killed is tried again
	})
	var before, after string
	if err := workflow.ExecuteActivity(ctx, "whoAmI").Get(ctx, &before); err != nil {
		return "", err
	}
	workflow.GetSignalChannel(ctx, "again").Receive(ctx, nil)
	err := workflow.ExecuteActivity(ctx, "whoAmI").Get(ctx, &after)
	return before + " " + after, err
}

func registerAsk(r worker.WorkflowRegistry) { r.RegisterWorkflow(ask) }

func TestServerAndHostsAreLostAndComeBack(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	hosts := []Host{{Name: "left", Slots: 1}, {Name: "right", Slots: 1}}
	c, err := Start(t.TempDir(), hosts, registerAsk)
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Close()) }()

	start := func(host string) client.WorkflowRun {
		run, err := c.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "ask-" + host, TaskQueue: Queue}, ask, host)
		require.NoError(t, err)
		return run
	}
	left, right := start("left"), start("right")
	require.NoError(t, c.Server.Stop())
	require.NoError(t, c.Hosts[1].Kill())
	require.NoError(t, c.Server.Start())
	require.NoError(t, c.Hosts[0].Pause())
	require.NoError(t, c.Client.SignalWorkflow(ctx, left.GetID(), "", "again", nil))
	require.NoError(t, c.Client.SignalWorkflow(ctx, right.GetID(), "", "again", nil))
	require.NoError(t, c.Hosts[0].Resume())
	require.NoError(t, c.Hosts[1].Restart())

	for _, run := range []client.WorkflowRun{left, right} {
		var answer string
		require.NoError(t, run.Get(ctx, &answer))
		host := strings.TrimPrefix(run.GetID(), "ask-")
		assert.Equal(t, host+" "+host, answer)
		assert.NoError(t, c.Replay(ctx, run, registerAsk))
	}
}

// A replay that accepts everything would prove nothing.
func TestReplayRejectsOtherCode(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := Start(t.TempDir(), []Host{{Name: "host", Slots: 1}}, registerAsk)
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Close()) }()
	run, err := c.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "ask", TaskQueue: Queue}, ask, "host")
	require.NoError(t, err)
	require.NoError(t, c.Client.SignalWorkflow(ctx, "ask", "", "again", nil))
	require.NoError(t, run.Get(ctx, nil))
	assert.ErrorContains(t, c.Replay(ctx, run, func(r worker.WorkflowRegistry) {
		r.RegisterWorkflowWithOptions(func(ctx workflow.Context, _ string) (string, error) {
			return "", workflow.Sleep(ctx, time.Second)
		}, workflow.RegisterOptions{Name: "ask"})
	}), "replay")
}

func TestHostEndsWithItsParent(t *testing.T) {
	s, err := NewServer(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, s.Start())
	defer func() { assert.NoError(t, s.Stop()) }()
	p, err := Host{Name: "host", Slots: 1, Address: s.Address()}.start()
	require.NoError(t, err)
	time.AfterFunc(time.Minute, func() { _ = p.command.Process.Kill() })
	require.NoError(t, p.stdin.Close()) // what the end of the parent does
	assert.NoError(t, p.command.Wait(), "it ends by itself")
}

func TestPortOfAnotherProgram(t *testing.T) {
	s, err := NewServer(t.TempDir())
	require.NoError(t, err)
	l, err := net.Listen("tcp", s.Address())
	require.NoError(t, err)
	defer l.Close()
	assert.ErrorContains(t, s.Start(), "temporal server, frontend")
}

func TestNewServerNeedsADirectory(t *testing.T) {
	_, err := NewServer(filepath.Join(t.TempDir(), "missing"))
	assert.Error(t, err)
}
