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

// order returns a function that sorts waiting tasks as Options.Laxity says: in the default order, the task with the
// least time to spare before its deadline comes first. If no task has a deadline, order returns nil.
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

// projected returns how long a task is expected to run, by the times that attempts have taken so far. sized says that
// at least one task has a known size. Then, for a task without a known size, projected returns estimate.Unknown.
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

// observe lists the running activities by the function Options.Snapshot, and returns them as reports for the phase.
// It runs the function as a local activity, so that the history contains the list.
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
			continue // the activity has ended since the list was made, or is not an attempt of this call of Map
		}
		if f.options.Machines == nil {
			a.machine = s.Machine
		}
		f.reported = f.reported || s.Done > 0
		if !a.begun {
			a.begun = true
			f.log(a.task, id, "begin", "")
		}
		seen = append(seen, engine.Attempt{
			ID: a.name, Task: a.task, State: engine.Running, Machine: a.machine, Begun: s.Begun, AsOf: s.AsOf,
			Progress: f.tasks[a.task].progress(s.Done),
		})
	}
	return seen
}

// queued appends to seen a report for each attempt that still waits in a task queue.
func (f *fanOut) queued(seen []engine.Attempt) []engine.Attempt {
	for _, id := range slices.Sorted(maps.Keys(f.running)) {
		if a := f.running[id]; !a.begun {
			seen = append(seen, engine.Attempt{ID: a.name, Task: a.task, State: engine.Queued})
		}
	}
	return seen
}

const snapshotTimeout = 10 * time.Second // StartToCloseTimeout of the local activity Options.Snapshot

// action is an action in the form in which it is stored in the workflow's history. Later versions of this library
// must be able to read it, so the names of the fields in JSON must not change.
type action struct {
	Submit  bool
	GiveUp  bool `json:",omitempty"`
	Task    int
	ID      string
	Machine string `json:"Host"`
	Why     string
}

// act stores the proposed actions of the phase in the workflow's history, and carries them out. In a replay, act
// carries out the actions that the history contains, and ignores the proposed actions.
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
		case a.Task < 0 || a.Task >= len(f.tasks): // the stored action does not fit these tasks
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
	// In a replay, a changed policy may propose attempts that the history does not contain. They are not started, and
	// are reported to the phase as cancelled.
	for _, a := range proposed {
		if a.Op == engine.Submit && f.ids[a.ID] == "" {
			f.ended = append(f.ended, engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Cancelled})
		}
	}
}

// plan converts the actions that the phase proposes to the actions to store in the history. For each attempt to
// submit, names contains the name that the attempt has in the phase, by its ID in the history. The ID "17.2" stands
// for attempt 2 of task 17, where the attempts are numbered from 0 in the order of the history. The phase may count
// other attempts in a replay, so its names can't be used as IDs.
func (f *fanOut) plan(proposed []engine.Action) (actions []action, names map[string]string) {
	for task := range f.attempts {
		if f.options.givesUp(f.attempts[task]) {
			return []action{{GiveUp: true, Task: task}}, nil
		}
	}
	actions, names = make([]action, 0, len(proposed)), map[string]string{}
	more := map[int]int{} // by task index: number of attempts to submit now
	for _, p := range proposed {
		if p.Op == engine.Publish { // the result is published, because the history contains it
			f.phase.Published(p.ID)
			continue
		}
		if p.Op == engine.Submit && f.ids[p.ID] != "" { // the attempt was submitted before
			continue
		}
		a := action{Submit: p.Op == engine.Submit, Task: p.Task, ID: f.ids[p.ID], Machine: p.Machine}
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

// submit schedules the activity of an attempt. name is the name that the attempt has in the phase. In a replay the
// phase may not know the attempt, and name is "". Then submit makes up a name, and the phase learns of the attempt
// when it is reported to run.
func (f *fanOut) submit(a action, name string) {
	if name == "" {
		name = a.ID + " as recorded"
	}
	ctx, cancel := workflow.WithCancel(f.ctx)
	f.running[a.ID] = &attempt{name: name, task: a.Task, machine: a.Machine, submitted: workflow.Now(f.ctx), cancel: cancel}
	f.ids[name] = a.ID
	f.attempts[a.Task].submitted++
	f.attempts[a.Task].running++
	f.log(a.Task, a.ID, "submit", a.Why)
	options := f.options.activityOptions()
	options.ActivityID = f.activityID(a.ID)
	if a.Machine != "" {
		options.TaskQueue = a.Machine
	}
	ctx = workflow.WithActivityOptions(ctx, options)
	future := workflow.ExecuteActivity(ctx, f.activity, f.tasks[a.Task].args()...)
	f.selector.AddFuture(future, func(result workflow.Future) { f.end(a.ID, result) })
}
