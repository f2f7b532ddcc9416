package fanout

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// Map runs an activity for each task and returns the results in the order of the tasks. Map returns an error in these
// cases:
//
//   - The options are out of range.
//   - The workflow is cancelled.
//   - An activity returns an error that is not retryable.
//   - Too many attempts of a task fail or are lost ([ErrGivenUp]).
//
// Before Map returns, it cancels the activities that still run. Such activities may take a while to end.
//
// Map ignores the value that a cancelled activity returns. If an activity ends early for another reason, for example
// because its worker stops, the activity must return an error. Workers with [WorkerOptions] ensure this.
//
// The argument activity is the activity's function or its name, as in workflow.ExecuteActivity. Call Map in the
// workflow's code. Several calls of Map may run at once in one workflow if each has another Options.Name. Each poll
// takes O(n) time for n tasks, plus O(log n) for each running attempt.
func Map[R any](ctx workflow.Context, activity any, tasks []Task, o Options) ([]R, error) {
	results := make([]R, len(tasks))
	f, err := newFanOut(ctx, activity, tasks, o)
	if err != nil {
		return nil, err
	}
	f.keepResult = func(task int, result workflow.Future) error { return result.Get(ctx, &results[task]) }
	defer f.phase.Release()
	defer f.stop()
	for f.left > 0 && f.err == nil {
		f.step()
	}
	return results, f.err
}

// fanOut is the state of one call of Map.
type fanOut struct {
	ctx      workflow.Context
	stop     workflow.CancelFunc
	activity any
	tasks    []Task
	options  Options
	config   engine.Config // of the phase
	phase    *engine.Phase
	reported bool // an activity has reported its progress
	selector workflow.Selector
	// keepResult stores the value of a future as the result of the task. It returns the error of the activity.
	keepResult func(task int, result workflow.Future) error

	start    time.Time
	attempts []attempts          // by task index
	running  map[string]*attempt // by the ID that the attempt has in the history
	// ids contains the ID in the history of each running attempt, by the name that the attempt has in the phase.
	ids    map[string]string
	ended  []engine.Attempt // the ended attempts whose end was not yet reported to the phase
	left   int              // number of tasks without a result
	poll   bool             // the timer has fired, so the running activities shall be polled
	err    error
	status Status
}

// attempts says how many attempts of one task the workflow's history contains: submitted, failed and lost attempts.
// In a replay, the phase may have started other attempts than the history contains.
type attempts struct {
	submitted, failed, lost int

	running   int   // number of attempts that were not cancelled and have not ended
	hasResult bool  // the task has a result
	err       error // error of the last failed or lost attempt
}

// countEnd records the end of an attempt without a result: in failed if the state is Failed, and else in lost.
func (t *attempts) countEnd(state engine.State, err error) {
	t.err = err
	if state == engine.Failed {
		t.failed++
	} else {
		t.lost++
	}
}

// attempt is an attempt of a task that has not ended.
type attempt struct {
	name      string // the name that the attempt has in the phase
	task      int
	machine   string
	submitted time.Time
	begun     bool
	cancel    workflow.CancelFunc
	cancelled bool
}

// newFanOut checks the options, makes the engine.Phase that decides about the tasks, and starts the first attempts.
func newFanOut(ctx workflow.Context, activity any, tasks []Task, o Options) (*fanOut, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	config, err := o.config(tasks)
	if err != nil {
		return nil, err
	}
	f := &fanOut{
		activity: activity, tasks: tasks, options: o, start: workflow.Now(ctx), left: len(tasks),
		attempts: make([]attempts, len(tasks)), running: map[string]*attempt{}, ids: map[string]string{},
	}
	config.Order = f.order()
	if o.Shadow {
		config.Shadow = func(task int, d restart.Decision) { f.log(task, "", "shadow", d.String()) }
	}
	if o.Configure != nil {
		o.Configure(&config)
	}
	f.config = config
	if f.phase, err = engine.New(config); err != nil {
		return nil, fmt.Errorf("fanout: Options: %w", err)
	}
	for i, t := range tasks {
		if t.NoCopy || t.NoRestart {
			f.phase.SetEligible(i, !t.NoCopy, !t.NoRestart)
		}
	}
	if err := workflow.SetQueryHandler(ctx, Query(o.Name), f.query); err != nil {
		return nil, err
	}
	f.ctx, f.stop = workflow.WithCancel(ctx)
	f.selector = workflow.NewSelector(f.ctx)
	if f.err = ctx.Err(); f.err == nil && f.left > 0 {
		f.act(f.phase.Poll(f.start, nil).Actions)
		f.arm()
	}
	return f, nil
}

// arm starts the timer that fires at the time of the next poll.
func (f *fanOut) arm() {
	f.selector.AddFuture(workflow.NewTimer(f.ctx, f.options.Interval), func(t workflow.Future) {
		f.poll = t.Get(f.ctx, nil) == nil // an error means that the workflow is cancelled
	})
}

// step waits until the timer fires or an attempt ends. It reports all changes to the phase, and carries out the actions
// that the phase returns.
func (f *fanOut) step() {
	f.selector.Select(f.ctx)
	for f.selector.HasPending() {
		f.selector.Select(f.ctx)
	}
	var seen []engine.Attempt
	if f.poll && f.left > 0 && f.err == nil {
		f.poll = false
		seen = f.queued(f.observe())
		f.arm()
	}
	if f.err == nil {
		f.err = f.ctx.Err() // the error is not nil if the workflow was cancelled while step waited
	}
	seen = append(seen, f.ended...)
	f.ended = f.ended[:0]
	if actions := f.phase.Poll(workflow.Now(f.ctx), seen).Actions; f.err == nil {
		f.act(actions)
	}
}

func (f *fanOut) query() (Status, error) {
	s := f.status
	s.Name, s.Ledger, s.Journal = f.options.Name, f.phase.Ledger(), string(f.phase.Journal())
	if !f.options.Shadow {
		return s, nil
	}
	s.Bill = bill(f.phase, &f.config, f.config.Limits, f.options.slots(), f.reported, f.tasks)
	return s, nil
}

func (f *fanOut) log(task int, id, kind, why string) {
	e := Event{At: workflow.Now(f.ctx).Sub(f.start), Task: task, Kind: kind, Why: why}
	if id != "" {
		e.ID = f.activityID(id)
	}
	if a := f.running[id]; a != nil {
		e.Machine = a.machine
	}
	f.status.Events = append(f.status.Events, e)
}

// activityID returns the ID of the activity that runs an attempt: Options.Name, a dash, and the attempt's ID, such as
// "task-17.2".
func (f *fanOut) activityID(attempt string) string { return f.options.Name + "-" + attempt }
