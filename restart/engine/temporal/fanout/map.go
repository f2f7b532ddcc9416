package fanout

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/restart/engine"
)

// Map runs one activity for each task and returns their results in the tasks' order. It returns an error if the options
// are out of range, if the workflow is cancelled, if a task's error is not retryable, or if a task fails too often.
// What still runs when it returns has been cancelled, and may take a while to end. An activity that was cancelled has no
// result, whatever it returns; one that ends early for another reason, as with its worker, must return an error, which
// [WorkerOptions] sees to.
//
// activity is the function or its name, as in workflow.ExecuteActivity. Call Map from the workflow's code, also several
// times at once; fan-outs of one workflow need different names.
func Map[R any](ctx workflow.Context, activity any, tasks []Task, o Options) ([]R, error) {
	results := make([]R, len(tasks))
	f, err := newFanOut(ctx, activity, tasks, o)
	if err != nil {
		return nil, err
	}
	f.take = func(task int, result workflow.Future) error { return result.Get(ctx, &results[task]) }
	defer f.phase.Release()
	defer f.stop()
	for f.left > 0 && f.err == nil {
		f.step()
	}
	return results, f.err
}

// fanOut is a Map under way.
type fanOut struct {
	ctx      workflow.Context
	stop     workflow.CancelFunc
	activity any
	tasks    []Task
	options  Options
	phase    *engine.Phase
	selector workflow.Selector
	take     func(task int, result workflow.Future) error

	start    time.Time
	attempts []attempts          // by task
	running  map[string]*attempt // by ID
	ids      map[string]string   // of those that run, by the phase's name
	ended    []engine.Attempt    // since the last observation
	left     int                 // tasks without a result
	poll     bool                // it is time
	err      error
	status   Status
}

// attempts is what became of a task's attempts, by the history. What the phase thinks may differ in a replay.
type attempts struct {
	submitted, failed, lost int

	running int   // that were not told to end
	got     bool  // a result
	err     error // the last one
}

// note takes note that an attempt has ended without a result.
func (t *attempts) note(state engine.State, err error) {
	t.err = err
	if state == engine.Failed {
		t.failed++
	} else {
		t.lost++
	}
}

type attempt struct {
	name      string // in the phase
	task      int
	host      string
	submitted time.Time
	begun     bool
	cancel    workflow.CancelFunc
	cancelled bool
}

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
		f.poll = t.Get(f.ctx, nil) == nil // else the workflow is cancelled
	})
}

// step waits until something happens, takes note of it, and acts.
func (f *fanOut) step() {
	f.selector.Select(f.ctx)
	for f.selector.HasPending() {
		f.selector.Select(f.ctx)
	}
	var seen []engine.Attempt
	if f.poll && f.left > 0 && f.err == nil {
		f.poll = false
		seen = f.queued(f.look())
		f.arm()
	}
	if f.err == nil {
		f.err = f.ctx.Err() // the workflow was cancelled meanwhile
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

// activityID is the activity that runs an attempt.
func (f *fanOut) activityID(attempt string) string { return f.options.Name + "-" + attempt }
