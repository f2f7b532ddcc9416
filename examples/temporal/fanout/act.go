package fanout

import (
	"errors"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/laxity"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// order is the least-laxity order of the tasks' deadlines, or nil if there are none.
func (f *fanOut) order() func(now time.Time, waiting []int) {
	if !slices.ContainsFunc(f.tasks, func(t Task) bool { return !t.Deadline.IsZero() }) {
		return nil
	}
	return func(now time.Time, waiting []int) {
		jobs := make([]laxity.Job, len(waiting))
		for i, task := range waiting {
			jobs[i] = laxity.Job{Left: laxity.NoDeadline, Projected: f.projected(task)}
			if d := f.tasks[task].Deadline; !d.IsZero() {
				jobs[i].Left = d.Sub(now)
			}
		}
		ordered := make([]int, len(waiting))
		for i, job := range f.options.Laxity.Order(nil, jobs) {
			ordered[i] = waiting[job]
		}
		copy(waiting, ordered)
	}
}

// projected is how long a task is expected to run.
func (f *fanOut) projected(task int) time.Duration {
	rates := f.phase.Rates()
	if !rates.Known() {
		return estimate.Unknown
	}
	work := f.tasks[task].Work
	if work <= 0 {
		work = 1
	}
	return estimate.Fresh{Rate: rates, Work: rates.Work(work)}.Expected()
}

// look polls: a local activity, so that its result is in the history.
func (f *fanOut) look() []engine.Attempt {
	ctx := workflow.WithLocalActivityOptions(f.ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: snapshotTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	var list []Seen
	if err := workflow.ExecuteLocalActivity(ctx, f.options.Snapshot, f.options.Name+"-").Get(ctx, &list); err != nil {
		f.status.Unseen++
		return nil
	}
	seen := make([]engine.Attempt, 0, len(list))
	for _, s := range list {
		id := strings.TrimPrefix(s.ID, f.options.Name+"-")
		a := f.running[id]
		if a == nil {
			continue // it has ended since, or it is no attempt of ours
		}
		if f.options.Hosts == nil {
			a.host = s.Host
		}
		if !a.begun {
			a.begun = true
			f.log(a.task, id, "begin", "")
		}
		seen = append(seen, engine.Attempt{
			ID: id, Task: a.task, State: engine.Running, Host: a.host, Begun: s.Begun, AsOf: s.AsOf,
			Progress: restart.Progress{Done: s.Done},
		})
	}
	return seen
}

const snapshotTimeout = 10 * time.Second

// step and its kin are recorded in the history, as plain as can be: a later version of the library must read them.
type action struct {
	Submit bool
	Task   int
	ID     string
	Host   string
	Why    string
}

// act carries the actions out, or, in a replay, those that were recorded.
func (f *fanOut) act(proposed []engine.Action) {
	actions := make([]action, len(proposed))
	for i, a := range proposed {
		actions[i] = action{Submit: a.Op == engine.Submit, Task: a.Task, ID: a.ID, Host: a.Host}
		if a.Decision.Action != restart.Keep {
			actions[i].Why = a.Decision.String()
		}
	}
	var recorded []action
	err := workflow.SideEffect(f.ctx, func(workflow.Context) any { return actions }).Get(&recorded)
	if err != nil {
		f.err = err
		return
	}
	for _, a := range recorded {
		if a.Submit {
			f.submit(a)
		} else if r := f.running[a.ID]; r != nil && !r.cancelled {
			f.log(a.Task, a.ID, "cancel", a.Why)
			r.cancelled = true
			r.cancel()
		}
	}
	for _, a := range proposed { // a changed policy would have done something else; it is told that this did not happen
		if a.Op == engine.Submit && f.running[a.ID] == nil {
			f.ended = append(f.ended, engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Cancelled})
		}
	}
}

// submit schedules an activity.
func (f *fanOut) submit(a action) {
	if a.Task < 0 || a.Task >= len(f.tasks) || f.running[a.ID] != nil {
		return // of a record that is not ours
	}
	ctx, cancel := workflow.WithCancel(f.ctx)
	f.running[a.ID] = &attempt{task: a.Task, host: a.Host, submitted: workflow.Now(f.ctx), cancel: cancel}
	f.log(a.Task, a.ID, "submit", a.Why)
	options := f.options.activityOptions()
	options.ActivityID = f.activityID(a.ID)
	if a.Host != "" {
		options.TaskQueue = a.Host
	}
	future := workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, options), f.activity, f.tasks[a.Task].Input)
	f.selector.AddFuture(future, func(result workflow.Future) { f.end(a.ID, result) })
}

// end takes note that an attempt has ended. The first result of a task is its result.
func (f *fanOut) end(id string, result workflow.Future) {
	a := f.running[id]
	var err error
	if f.got[a.task] {
		err = result.Get(f.ctx, nil)
	} else {
		err = f.take(a.task, result)
	}
	state, kind := stateOf(err)
	why := ""
	switch {
	case state == engine.Succeeded && f.got[a.task]:
		kind = "overtaken"
	case state == engine.Succeeded:
		f.got[a.task] = true
		f.left--
	case state != engine.Cancelled:
		why = err.Error()
		f.failed[a.task] = err
		var application *temporal.ApplicationError
		if errors.As(err, &application) && application.NonRetryable() && !f.got[a.task] && f.err == nil {
			f.err = err
		}
	}
	f.log(a.task, id, kind, why)
	delete(f.running, id)
	// The time from its submission stands for its run time if it came and went between two polls.
	f.ended = append(f.ended, engine.Attempt{
		ID: id, Task: a.task, State: state, Host: a.host, Begun: a.submitted, Ended: workflow.Now(f.ctx),
	})
}

// stateOf reads an activity's error. A worker that fell silent, or that did not take its work from its queue, is gone.
func stateOf(err error) (engine.State, string) {
	var timeout *temporal.TimeoutError
	switch {
	case err == nil:
		return engine.Succeeded, "succeed"
	case temporal.IsCanceledError(err):
		return engine.Cancelled, "cancelled"
	case errors.As(err, &timeout) && timeout.TimeoutType() != enumspb.TIMEOUT_TYPE_START_TO_CLOSE:
		return engine.Lost, "lost"
	}
	return engine.Failed, "fail"
}
