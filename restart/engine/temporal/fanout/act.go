package fanout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
	sized := slices.ContainsFunc(f.tasks, func(t Task) bool { return t.Work > 0 })
	return func(now time.Time, waiting []int) {
		jobs := make([]laxity.Job, len(waiting))
		for i, task := range waiting {
			jobs[i] = laxity.Job{UntilDeadline: laxity.NoDeadline, Projected: f.projected(task, sized)}
			if d := f.tasks[task].Deadline; !d.IsZero() {
				jobs[i].UntilDeadline = d.Sub(now)
			}
		}
		ordered := make([]int, len(waiting))
		for i, job := range f.options.Laxity.Order(nil, jobs) {
			ordered[i] = waiting[job]
		}
		copy(waiting, ordered)
	}
}

// projected is how long a task is expected to run. Where tasks have sizes, one without is not known.
func (f *fanOut) projected(task int, sized bool) time.Duration {
	rates, work := f.phase.UnitTimes(), f.tasks[task].Work
	if !rates.Known() || sized && !(work > 0) {
		return estimate.Unknown
	}
	if !sized {
		work = 1
	}
	return estimate.Fresh{UnitTime: rates, Work: rates.Work(work)}.Expected()
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
			ID: a.name, Task: a.task, State: engine.Running, Machine: a.host, Begun: s.Begun, AsOf: s.AsOf,
			Progress: f.tasks[a.task].progress(s.Done),
		})
	}
	return seen
}

// queued adds the attempts that wait in their queues to those that run.
func (f *fanOut) queued(seen []engine.Attempt) []engine.Attempt {
	for _, id := range slices.Sorted(maps.Keys(f.running)) {
		if a := f.running[id]; !a.begun {
			seen = append(seen, engine.Attempt{ID: a.name, Task: a.task, State: engine.Queued})
		}
	}
	return seen
}

const snapshotTimeout = 10 * time.Second

// action is recorded in the history, as plain as can be: a later version of the library must read it.
type action struct {
	Submit bool
	GiveUp bool `json:",omitempty"`
	Task   int
	ID     string
	Host   string
	Why    string
}

// act carries the actions out, or, in a replay, those that were recorded.
func (f *fanOut) act(proposed []engine.Action) {
	actions, names := f.plan(proposed)
	var recorded []action
	err := workflow.SideEffect(f.ctx, func(workflow.Context) any { return actions }).Get(&recorded)
	if err != nil {
		f.err = err
		return
	}
	for _, a := range recorded {
		switch r := f.running[a.ID]; {
		case a.Task < 0 || a.Task >= len(f.tasks): // of a record that is not ours
		case a.GiveUp:
			f.err = fmt.Errorf("fanout %s: task %d: %w: %w", f.options.Name, a.Task, ErrGivenUp, f.attempts[a.Task].err)
		case a.Submit && r == nil:
			f.submit(a, names[a.ID])
		case !a.Submit && r != nil && !r.cancelled:
			f.log(a.Task, a.ID, "cancel", a.Why)
			r.cancelled = true
			f.attempts[a.Task].running--
			r.cancel()
		}
	}
	for _, a := range proposed { // a changed policy would have done something else; it is told that this did not happen
		if a.Op == engine.Submit && f.ids[a.ID] == "" {
			f.ended = append(f.ended, engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Cancelled})
		}
	}
}

// plan says what is to be recorded, and what the phase calls the attempts to submit. Their IDs count a task's attempts
// in the history, since a phase that would have decided otherwise counts others.
func (f *fanOut) plan(proposed []engine.Action) (actions []action, names map[string]string) {
	for task := range f.attempts {
		if f.options.givesUp(f.attempts[task]) {
			return []action{{GiveUp: true, Task: task}}, nil
		}
	}
	actions, names = make([]action, 0, len(proposed)), map[string]string{}
	more := map[int]int{} // attempts of a task
	for _, p := range proposed {
		if p.Op == engine.Publish { // the history has the result
			f.phase.Published(p.ID)
			continue
		}
		if p.Op == engine.Submit && f.ids[p.ID] != "" { // the history has the attempt
			continue
		}
		a := action{Submit: p.Op == engine.Submit, Task: p.Task, ID: f.ids[p.ID], Host: p.Machine}
		if a.Submit {
			a.ID = fmt.Sprintf("%d.%d", p.Task, f.attempts[p.Task].submitted+more[p.Task])
			more[p.Task]++
			names[a.ID] = p.ID
		}
		if p.Decision.Action != restart.Keep {
			a.Why = p.Decision.String()
		}
		if a.ID != "" {
			actions = append(actions, a)
		}
	}
	return actions, names
}

// submit schedules an activity. The phase takes it to its books when it is seen to run, if it has no name for it.
func (f *fanOut) submit(a action, name string) {
	if name == "" {
		name = a.ID + " as recorded"
	}
	ctx, cancel := workflow.WithCancel(f.ctx)
	f.running[a.ID] = &attempt{name: name, task: a.Task, host: a.Host, submitted: workflow.Now(f.ctx), cancel: cancel}
	f.ids[name] = a.ID
	f.attempts[a.Task].submitted++
	f.attempts[a.Task].running++
	f.log(a.Task, a.ID, "submit", a.Why)
	options := f.options.activityOptions()
	options.ActivityID = f.activityID(a.ID)
	if a.Host != "" {
		options.TaskQueue = a.Host
	}
	ctx = workflow.WithActivityOptions(ctx, options)
	future := workflow.ExecuteActivity(ctx, f.activity, f.tasks[a.Task].args()...)
	f.selector.AddFuture(future, func(result workflow.Future) { f.end(a.ID, result) })
}
