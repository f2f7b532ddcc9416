package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/straggler-go/straggler/examples/temporal/internal/cluster"
	"github.com/straggler-go/straggler/examples/temporal/wordcount"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/temporal/fanout"
)

// stage is a cluster and a text, for the runs of one scenario.
type stage struct {
	scenario
	dir     string
	cluster *cluster.Cluster
	job     wordcount.Job
	want    wordcount.Counts
}

// outcome is the result of one run.
type outcome struct {
	Scenario, Policy string
	Seconds          float64  // from the start of the workflow to its answer
	Copies, Restarts int      // copies that were started, and attempts that were killed to start anew
	Clones           int      // attempts that were started with the first attempt of their task
	Lost             int      // attempts that failed or were lost with their host or the server
	Wasted           float64  // slot time of attempts that did not end their task, in seconds, until the answer
	Events           int64    // number of events in the history of the workflow
	Wrong            []string // errors of the answer; empty if the answer is right

	attempts []wordcount.Attempt
	won      []string
	begun    time.Time
	status   []fanout.Status
}

// serve returns the worker of a host; it runs in the process of the host.
func serve(c client.Client, h cluster.Host) (worker.Worker, error) {
	log, err := wordcount.OpenLog(h.Log, h.Name)
	if err != nil {
		return nil, err
	}
	w := worker.New(c, h.Name, fanout.WorkerOptions(h.Slots, interval))
	w.RegisterActivity(&wordcount.Tasks{Rate: h.Rate, Silent: h.Silent, Log: log})
	return w, nil
}

func registerWorkflows(r worker.WorkflowRegistry) {
	r.RegisterWorkflow(wordcount.Workflow{Options: optionsOf}.WordCount)
}

// newStage writes the text to dir, counts it, and starts the cluster.
func newStage(dir string, s scenario) (*stage, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	st := &stage{scenario: s, dir: dir}
	chunks, err := wordcount.Generate(dir, s.sizes, 1)
	if err != nil {
		return nil, err
	}
	if st.want, err = wordcount.CountFiles(chunks); err != nil {
		return nil, err
	}
	st.job = wordcount.Job{Chunks: chunks, Sizes: s.sizes, Reduces: s.reduces}
	var hosts []cluster.Host
	for i := range s.machines {
		h := cluster.Host{Name: fmt.Sprintf("host-%d", i), Slots: s.slots, Rate: rate, Silent: s.silent}
		if s.slow && i == s.machines-1 {
			h.Rate /= slowdown
		}
		h.Log = filepath.Join(dir, h.Name+".log")
		hosts = append(hosts, h)
		st.job.Machines = append(st.job.Machines, engine.Machine{Name: h.Name, Slots: h.Slots})
	}
	st.cluster, err = cluster.Start(dir, hosts, registerWorkflows)
	return st, err
}

// run counts the words once under a policy.
func (st *stage) run(ctx context.Context, policy string, n int) (*outcome, error) {
	id := fmt.Sprintf("%s-%s-%d", st.name, policy, n)
	job := st.job
	job.Policy, job.Dir = policy, filepath.Join(st.dir, id)
	if err := os.MkdirAll(job.Dir, 0o777); err != nil {
		return nil, err
	}
	defer os.RemoveAll(job.Dir)
	o := &outcome{Scenario: st.name, Policy: policy, begun: time.Now()}
	run, err := st.cluster.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: id, TaskQueue: cluster.Queue, WorkflowExecutionTimeout: 5 * time.Minute,
	}, wordcount.Workflow{}.WordCount, job)
	if err != nil {
		return nil, err
	}
	undo := st.disturbSoon()
	var answer wordcount.Answer
	err = run.Get(ctx, &answer)
	o.Seconds = time.Since(o.begun).Seconds()
	if err := errors.Join(err, undo()); err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	if o.Wrong, err = answer.Check(st.want); err != nil {
		return nil, err
	}
	o.won = answer.Won
	if err := st.measure(ctx, o, run); err != nil {
		return nil, err
	}
	return o, st.cluster.Replay(ctx, run, registerWorkflows)
}

// disturbSoon causes the trouble of the scenario after half of the time of a map. It returns a function that waits
// for the trouble and repairs it.
func (st *stage) disturbSoon() (repair func() error) {
	if st.disturb == nil {
		return func() error { return nil }
	}
	type result struct {
		undo func() error
		err  error
	}
	done := make(chan result, 1)
	time.AfterFunc(time.Second*chunkSize/rate/2, func() {
		undo, err := st.disturb(st.cluster)
		done <- result{undo, err}
	})
	return func() error {
		r := <-done
		if r.err != nil {
			return r.err
		}
		return r.undo()
	}
}

// measure adds the decisions, which the workflow returns, and the attempts that really ran, from the logs of the hosts.
func (st *stage) measure(ctx context.Context, o *outcome, run client.WorkflowRun) error {
	for _, name := range []string{wordcount.Maps, wordcount.Reduces} {
		answer, err := st.cluster.Client.QueryWorkflow(ctx, run.GetID(), run.GetRunID(), fanout.Query(name))
		if err != nil {
			return fmt.Errorf("query %s: %w", fanout.Query(name), err)
		}
		var s fanout.Status
		if err := answer.Get(&s); err != nil {
			return err
		}
		o.status = append(o.status, s)
		o.Clones += s.Ledger.Clones
		o.Copies += s.Ledger.Copies
		o.Restarts += s.Ledger.Restarts
		o.Lost += s.Ledger.Failed
	}
	description, err := st.cluster.Client.DescribeWorkflowExecution(ctx, run.GetID(), run.GetRunID())
	if err != nil {
		return err
	}
	o.Events = description.WorkflowExecutionInfo.HistoryLength
	if o.attempts, err = st.attempts(run.GetID()); err != nil {
		return err
	}
	end := o.begun.Add(time.Duration(o.Seconds * float64(time.Second)))
	for i := range o.attempts {
		a := &o.attempts[i]
		if a.End.IsZero() || a.End.After(end) { // the attempt was paused with its host, or was cancelled only at the end of the run
			a.End = end
		}
		if !slices.Contains(o.won, a.Name) {
			o.Wasted += max(0, a.End.Sub(a.Begin).Seconds())
		}
	}
	return nil
}

// attempts waits until all attempts of a run have ended, so that no attempt uses a slot of the next run, and returns
// them. The attempts of a killed host ended with the host.
func (st *stage) attempts(run string) (all []wordcount.Attempt, err error) {
	for patience := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		all = all[:0]
		for _, h := range st.cluster.Hosts {
			attempts, err := wordcount.ReadLog(h.Log, run)
			if err != nil {
				return nil, err
			}
			for i := range attempts {
				if a := &attempts[i]; a.End.IsZero() && h.Killed.After(a.Begin) {
					a.End, a.Error = h.Killed, "killed"
				}
			}
			all = append(all, attempts...)
		}
		running := slices.ContainsFunc(all, func(a wordcount.Attempt) bool { return a.End.IsZero() })
		if !running || time.Now().After(patience) {
			return all, nil
		}
	}
}
