package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Queue is the task queue of the workflows, which run in this process.
const Queue = "workflows"

// Cluster is a server with its hosts.
type Cluster struct {
	Server *Server
	Client client.Client
	Hosts  []*Process

	workflows worker.Worker
}

// Start starts a server that keeps its data in dir, the hosts, and a worker for the workflows that register names.
func Start(dir string, hosts []Host, register func(worker.WorkflowRegistry)) (c *Cluster, err error) {
	c = &Cluster{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.Server, err = NewServer(dir); err != nil {
		return c, err
	}
	if err = c.Server.Start(); err != nil {
		return c, err
	}
	if c.Client, err = dial(c.Server.Address(), "workflows"); err != nil {
		return c, err
	}
	c.workflows = worker.New(c.Client, Queue, worker.Options{
		LocalActivityWorkerOnly: true,
		// A workflow whose replay differs shall fail at once and be seen, not wait for a better version of its code.
		WorkflowPanicPolicy: worker.FailWorkflow,
	})
	register(c.workflows)
	if err = c.workflows.Start(); err != nil {
		return c, err
	}
	for _, h := range hosts {
		h.Address = c.Server.Address()
		p, err := h.start()
		if err != nil {
			return c, err
		}
		c.Hosts = append(c.Hosts, p)
	}
	return c, nil
}

// Close ends all that Start has started.
func (c *Cluster) Close() error {
	for _, p := range c.Hosts {
		_ = p.Kill() // it may have been killed before
	}
	if c.workflows != nil {
		c.workflows.Stop()
	}
	if c.Client != nil {
		c.Client.Close()
	}
	if c.Server == nil {
		return nil
	}
	return c.Server.Stop()
}

// Replay gives the history of a workflow to the code that register names. An error means that the code, or the library
// that decides in it, did not do the same again.
func (c *Cluster) Replay(ctx context.Context, run client.WorkflowRun, register func(worker.WorkflowRegistry)) error {
	replayer := worker.NewWorkflowReplayer()
	register(replayer)
	execution := workflow.Execution{ID: run.GetID(), RunID: run.GetRunID()}
	if err := replayer.ReplayWorkflowExecution(ctx, c.Client.WorkflowService(), quiet(), Namespace, execution); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

func quiet() log.Logger { return log.NewStructuredLogger(slog.New(slog.DiscardHandler)) }
