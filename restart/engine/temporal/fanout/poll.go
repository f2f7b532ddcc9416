package fanout

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// maxFailedPolls is how many polls may fail in a row, such as while the server restarts.
const maxFailedPolls = 60

// pollTimeout is how long a poll waits for a server that does not answer.
const pollTimeout = time.Minute

// poll reads the workflow's activities once, and carries out the actions that follow. poll returns false when the
// workflow has ended.
func (w *watcher) poll(ctx context.Context) (open bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	r := &workflowservice.DescribeWorkflowExecutionRequest{Namespace: w.Namespace, Execution: w.execution()}
	d, err := w.client.WorkflowService().DescribeWorkflowExecution(ctx, r)
	if err != nil {
		return w.pollFailed(err)
	}
	w.run = d.GetWorkflowExecutionInfo().GetExecution().GetRunId() // a later run of the workflow is not watched
	if d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return false, nil
	}
	pending := map[string]*workflowpb.PendingActivityInfo{}
	var fresh []string
	for _, p := range d.GetPendingActivities() {
		if w.Type == "" || p.GetActivityType().GetName() == w.Type {
			pending[p.GetActivityId()] = p
			if t := w.tasks[p.GetActivityId()]; t == nil || t.gone { // the workflow may use an ID again
				fresh = append(fresh, p.GetActivityId())
			}
		}
	}
	if err := w.openPhase(ctx, fresh); err != nil {
		return w.pollFailed(err)
	}
	w.failedPolls = 0
	left := w.batches[:0]
	for _, b := range w.batches {
		if !b.phase.Done() {
			w.observe(ctx, b, pending)
		}
		if !b.phase.Done() || !w.forget(ctx, b) {
			left = append(left, b)
		}
	}
	clear(w.batches[len(left):])
	w.batches = left
	return true, nil
}

// pollFailed counts a failed poll. pollFailed returns false if another poll can't succeed, or if too many have failed
// in a row.
func (w *watcher) pollFailed(err error) (again bool, _ error) {
	var (
		unknown   *serviceerror.NotFound
		namespace *serviceerror.NamespaceNotFound
		denied    *serviceerror.PermissionDenied
		invalid   *serviceerror.InvalidArgument
	)
	if errors.As(err, &unknown) || errors.As(err, &namespace) || errors.As(err, &denied) || errors.As(err, &invalid) {
		return false, err
	}
	if w.failedPolls++; w.failedPolls > maxFailedPolls {
		return false, fmt.Errorf("fanout: %d polls in a row have failed, the last: %w", w.failedPolls, err)
	}
	return true, nil
}

// openPhase makes a phase of the activities that this poll shows for the first time.
func (w *watcher) openPhase(ctx context.Context, fresh []string) error {
	if len(fresh) == 0 {
		return nil
	}
	b, work := &batch{}, make([]float64, len(fresh))
	for i, activity := range fresh {
		b.tasks = append(b.tasks, &watched{activity: activity, index: i})
	}
	if w.Work != nil {
		if err := w.readSchedules(ctx, b.tasks); err != nil {
			return err
		}
		for i, t := range b.tasks {
			work[i] = w.Work(t.schedule.GetInput())
		}
	}
	var err error
	if b.phase, err = w.newPhase(work); err != nil {
		return err
	}
	for i, t := range b.tasks {
		b.phase.SetEligible(i, !w.noCopies, true)
		w.tasks[t.activity] = t
	}
	w.batches = append(w.batches, b)
	return nil
}

// observe tells a phase the state of its attempts, and carries out its actions.
func (w *watcher) observe(ctx context.Context, b *batch, pending map[string]*workflowpb.PendingActivityInfo) {
	seen := b.refused
	for _, t := range b.tasks {
		seen = append(seen, w.observeCopies(ctx, t)...)
		seen = append(seen, w.observeActivity(ctx, t, pending[t.activity])...)
	}
	b.refused = w.act(ctx, b, b.phase.Poll(time.Now(), seen))
}

// forget adds the ledger of a phase that is done to the account, once the server knows that its copies shall end.
func (w *watcher) forget(ctx context.Context, b *batch) (forgotten bool) {
	b.close()
	forgotten = true
	for _, t := range b.tasks {
		for _, c := range t.copies {
			forgotten = w.endCopy(ctx, c) && forgotten
		}
	}
	if !forgotten {
		return false
	}
	w.account.Add(b.phase.Ledger())
	for _, t := range b.tasks {
		if w.tasks[t.activity] == t { // not a later activity of the same ID
			delete(w.tasks, t.activity)
		}
	}
	return true
}

// close ends the phase and releases its share of the hosts.
func (b *batch) close() {
	b.phase.Close(time.Now())
	b.phase.Release()
}

// act carries out actions, and returns the attempts that could not be submitted.
func (w *watcher) act(ctx context.Context, b *batch, actions []engine.Action) (refused []engine.Attempt) {
	for _, a := range actions {
		t := b.tasks[a.Task]
		var err error
		switch {
		case a.Op == engine.Publish: // the result is in the workflow's history
			b.phase.Published(a.ID)
			continue
		case a.Op == engine.Cancel:
			err = w.cancelCopy(ctx, t, a)
		case a.Decision.Action == restart.Restart:
			err = w.reset(ctx, t, a)
		case a.Decision.Action == restart.Copy:
			err = w.startCopy(ctx, b, t, a)
		default:
			err = w.retry(ctx, t, a)
		}
		if err != nil && a.Op == engine.Submit {
			refused = append(refused, engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Cancelled})
			if a.Decision.Action == restart.Restart {
				t.attempt = "" // the attempt that should have ended runs on, and gets a new name
			}
		}
		w.report(t, a, err)
	}
	return refused
}

// report calls OnEvent with an action, and with the error of carrying it out.
func (w *watcher) report(t *watched, a engine.Action, err error) {
	if w.OnEvent == nil || a.Decision.Action == restart.Keep && err == nil {
		return
	}
	why := a.Decision.String()
	if err != nil {
		why += ": " + err.Error()
	}
	w.OnEvent(Event{
		At: time.Since(w.start), Task: a.Task, ID: t.activity, Host: a.Machine, Kind: a.Op.String(), Why: why,
	})
}

// ledger returns the sum of the ledgers of all phases.
func (w *watcher) ledger() tracker.Ledger {
	sum := w.account
	for _, b := range w.batches {
		sum.Add(b.phase.Ledger())
	}
	return sum
}
