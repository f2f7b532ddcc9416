package fanout

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/restart/engine"
)

// Map runs the activity for each task and returns the results in the order of the tasks. Map returns an error if the
// options are out of range, if the workflow is cancelled, if a task's error is not retryable, or if a task fails too
// often ([ErrGivenUp]). Activities that still run when Map returns have been cancelled, and may take a while to end.
//
// A cancelled activity has no result, whatever it returns. An activity that ends early for another reason, such as the
// stop of its worker, must return an error. [WorkerOptions] ensures this.
//
// The argument activity is the function or its name, as in workflow.ExecuteActivity. Call Map in the workflow's code.
// Several calls may run at once in one workflow if their Options.Name differ. A poll takes
// O(n) time for n tasks, plus O(log n) for each running attempt.
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

// fanOut is a call of Map that has not returned.
type fanOut struct {
	ctx      workflow.Context
	stop     workflow.CancelFunc
	activity any
	tasks    []Task
	options  Options
	phase    *engine.Phase
	selector workflow.Selector
	// keepResult makes a future's result the result of the task.
	keepResult func(task int, result workflow.Future) error

	start    time.Time
	attempts []attempts          // by task
	running  map[string]*attempt // by the attempt's ID in the history
	ids      map[string]string   // the ID in the history of a running attempt, by the attempt's name in the phase
	ended    []engine.Attempt    // the attempts that have ended since the phase was told
	left     int                 // tasks without a result
	poll     bool                // the timer has fired
	err      error
	status   Status
}

// attempts counts a task's attempts in the history. In a replay the phase may count other attempts.
type attempts struct {
	submitted, failed, lost int

	running   int   // attempts that were not cancelled and have not ended
	hasResult bool  // the task has a result
	err       error // the last error
}

// countEnd counts an attempt that has ended without a result.
func (t *attempts) countEnd(state engine.State, err error) {
	t.err = err
	if state == engine.Failed {
		t.failed++
	} else {
		t.lost++
	}
}

// attempt is an attempt that has not ended.
type attempt struct {
	name      string // the name in the phase
	task      int
	host      string
	submitted time.Time
	begun     bool
	cancel    workflow.CancelFunc
	cancelled bool
}

// newFanOut checks the options, makes the phase, and starts the first attempts.
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
	if f.phase, err = engine.New(config); err != nil {
		return nil, err
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
		f.act(f.phase.Poll(f.start, nil))
		f.arm()
	}
	return f, nil
}

// arm sets the timer for the next poll.
func (f *fanOut) arm() {
	f.selector.AddFuture(workflow.NewTimer(f.ctx, f.options.Interval), func(t workflow.Future) {
		f.poll = t.Get(f.ctx, nil) == nil // an error means that the workflow is cancelled
	})
}

// step waits for the timer or the end of an attempt, tells the phase, and carries out its actions.
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
		f.err = f.ctx.Err() // not nil if the workflow was cancelled meanwhile
	}
	seen = append(seen, f.ended...)
	f.ended = f.ended[:0]
	if actions := f.phase.Poll(workflow.Now(f.ctx), seen); f.err == nil {
		f.act(actions)
	}
}

func (f *fanOut) query() (Status, error) {
	s := f.status
	s.Name, s.Ledger, s.Journal = f.options.Name, f.phase.Ledger(), string(f.phase.Journal())
	return s, nil
}

func (f *fanOut) log(task int, id, kind, why string) {
	host := ""
	if a := f.running[id]; a != nil {
		host = a.host
	}
	f.status.Events = append(f.status.Events, Event{
		At: workflow.Now(f.ctx).Sub(f.start), Task: task, ID: f.activityID(id), Host: host, Kind: kind, Why: why,
	})
}

// activityID returns the ID of the activity that runs an attempt.
func (f *fanOut) activityID(attempt string) string { return f.options.Name + "-" + attempt }
