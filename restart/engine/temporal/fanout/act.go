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

// order returns a function that sorts waiting tasks by least laxity, or nil if no task has a deadline.
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

// projected returns how long a task is expected to run. If some tasks have a size, a task without a size has an unknown
// time.
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

// observe runs the snapshot as a local activity, so that its result is in the history, and returns the running attempts.
func (f *fanOut) observe() []engine.Attempt {
	ctx := workflow.WithLocalActivityOptions(f.ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: snapshotTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	var list []Seen
	if err := workflow.ExecuteLocalActivity(ctx, f.options.Snapshot, f.options.Name+"-").Get(ctx, &list); err != nil {
		f.status.FailedPolls++
		return nil
	}
	seen := make([]engine.Attempt, 0, len(list))
	for _, s := range list {
		id := strings.TrimPrefix(s.ID, f.options.Name+"-")
		a := f.running[id]
		if a == nil {
			continue // the activity has ended since, or is not an attempt of this fan-out
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

// queued adds the attempts that wait in a queue.
func (f *fanOut) queued(seen []engine.Attempt) []engine.Attempt {
	for _, id := range slices.Sorted(maps.Keys(f.running)) {
		if a := f.running[id]; !a.begun {
			seen = append(seen, engine.Attempt{ID: a.name, Task: a.task, State: engine.Queued})
		}
	}
	return seen
}

const snapshotTimeout = 10 * time.Second // StartToCloseTimeout of the snapshot

// action is an action as the history holds it. A later version of the library must read it, so its fields keep their
// names.
type action struct {
	Submit bool
	GiveUp bool `json:",omitempty"`
	Task   int
	ID     string
	Host   string
	Why    string
}

// act records the proposed actions in the history and carries them out. In a replay it carries out the recorded actions.
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
		case a.Task < 0 || a.Task >= len(f.tasks): // the record is not of this fan-out
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
	// In a replay a changed policy may propose other attempts. The phase is told that they are cancelled.
	for _, a := range proposed {
		if a.Op == engine.Submit && f.ids[a.ID] == "" {
			f.ended = append(f.ended, engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Cancelled})
		}
	}
}

// plan returns the actions to record, and the phase's names of the attempts to submit, by ID. An ID counts the task's
// attempts in the history, because in a replay the phase may count other attempts.
func (f *fanOut) plan(proposed []engine.Action) (actions []action, names map[string]string) {
	for task := range f.attempts {
		if f.options.givesUp(f.attempts[task]) {
			return []action{{GiveUp: true, Task: task}}, nil
		}
	}
	actions, names = make([]action, 0, len(proposed)), map[string]string{}
	more := map[int]int{} // by task: attempts to submit now
	for _, p := range proposed {
		if p.Op == engine.Publish { // the result is in the history
			f.phase.Published(p.ID)
			continue
		}
		if p.Op == engine.Submit && f.ids[p.ID] != "" { // the attempt is in the history
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

// submit schedules an activity. If the phase has no name for the attempt, as in a replay, the phase adopts the attempt
// when it is seen to run.
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
