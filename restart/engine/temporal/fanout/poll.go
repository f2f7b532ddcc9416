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

// maxFailedPolls is how many polls in a row may fail, for example while the server restarts. After one more failed
// poll, Watch returns an error.
const maxFailedPolls = 60

// pollTimeout is how long a poll waits for answers of the server before the poll fails.
const pollTimeout = time.Minute

// poll reads the state of the workflow's activities once, and carries out the actions that the policy wants. open is
// false if the workflow has ended.
func (w *watcher) poll(ctx context.Context) (open bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	r := &workflowservice.DescribeWorkflowExecutionRequest{Namespace: w.Namespace, Execution: w.execution()}
	d, err := w.client.WorkflowService().DescribeWorkflowExecution(ctx, r)
	if err != nil {
		return w.pollFailed(err)
	}
	// the run ID is kept, so that later runs of the workflow are not watched
	w.run = d.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	switch d.GetWorkflowExecutionInfo().GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		for _, b := range w.batches {
			if w.Shadow && !b.phase.Done() { // the activities that have ended last belong to the bill
				w.observe(ctx, b, nil)
			}
		}
		fallthrough
	default:
		return false, nil
	}
	pending := map[string]*workflowpb.PendingActivityInfo{}
	var fresh []string
	for _, p := range d.GetPendingActivities() {
		if w.Type == "" || p.GetActivityType().GetName() == w.Type {
			pending[p.GetActivityId()] = p
			// gone: the workflow has used the ID of an ended activity again
			if t := w.tasks[p.GetActivityId()]; t == nil || t.gone {
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

// pollFailed records that a poll has failed with the error err. It returns true if Watch shall poll again. It returns
// false and an error if no later poll can succeed, or if too many polls in a row have failed.
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

// openPhase makes an engine.Phase for the activities that this poll has shown first. fresh contains their IDs.
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
	if err := b.begin(w, work); err != nil {
		return err
	}
	for i, t := range b.tasks {
		b.phase.SetEligible(i, !w.noCopies && !w.NoCopy, true)
		w.tasks[t.activity] = t
	}
	w.batches = append(w.batches, b)
	return nil
}

// observe reports the state of all attempts of a batch to its phase, and carries out the actions that the phase
// returns.
func (w *watcher) observe(ctx context.Context, b *batch, pending map[string]*workflowpb.PendingActivityInfo) {
	seen := b.refused
	for _, t := range b.tasks {
		seen = append(seen, w.observeCopies(ctx, t)...)
		seen = append(seen, w.observeActivity(ctx, t, pending[t.activity])...)
	}
	for _, a := range seen {
		b.reported = b.reported || a.Progress.Done > 0
	}
	b.refused = w.act(ctx, b, b.phase.Poll(time.Now(), seen).Actions)
}

// forget ends a phase that is done, and cancels its copies. When all copies have ended or the server has accepted
// their cancellation, forget adds the ledger of the phase to w.account, deletes its tasks from w.tasks, and returns
// true.
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
	w.sumUp(b)
	for _, t := range b.tasks {
		if w.tasks[t.activity] == t { // false if the entry belongs to a later activity with the same ID
			delete(w.tasks, t.activity)
		}
	}
	return true
}

// close ends the phase, and frees the slots of the workers that the phase has occupied.
func (b *batch) close() {
	b.phase.Close(time.Now())
	b.phase.Release()
}

// act carries out the actions of a phase. If an attempt can't be submitted, act returns a report for the next poll
// that the attempt is cancelled.
func (w *watcher) act(ctx context.Context, b *batch, actions []engine.Action) (refused []engine.Attempt) {
	for _, a := range actions {
		t := b.tasks[a.Task]
		var err error
		switch {
		case a.Op == engine.Publish: // the result is published, because the workflow's history contains it
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
				t.attempt = "" // the old attempt was not ended and runs on; the phase will know it by a new name
			}
		}
		w.report(t, a, err)
	}
	return refused
}

// report tells of an action. If the action has failed, the Event also contains the error err.
func (w *watcher) report(t *watched, a engine.Action, err error) {
	if a.Decision.Action == restart.Keep && err == nil {
		return
	}
	why := a.Decision.String()
	if err != nil {
		why += ": " + err.Error()
	}
	w.tell(Event{Task: a.Task, ID: t.activity, Machine: a.Machine, Kind: a.Op.String(), Why: why})
}

// tell calls WatchOptions.OnAction.
func (w *watcher) tell(e Event) {
	if w.OnAction != nil {
		e.At = time.Since(w.start)
		w.OnAction(e)
	}
}

// ledger returns the sum of the ledgers of all phases, the phases that are done included.
func (w *watcher) ledger() tracker.Ledger {
	sum := w.account
	for _, b := range w.batches {
		sum.Add(b.phase.Ledger())
	}
	return sum
}
