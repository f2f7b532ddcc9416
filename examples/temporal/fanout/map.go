package fanout

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/restart/engine"
)

// Map runs one activity for each task and returns their results in the tasks' order. It returns an error if the options
// are out of range, if the workflow is cancelled, if a task's error is not retryable, or if a task fails too often, and
// has then cancelled what still runs.
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

	start   time.Time
	running map[string]*attempt
	ended   []engine.Attempt // since the last observation
	got     []bool           // tasks with a result
	left    int              // tasks without
	poll    bool             // it is time
	failed  map[int]error    // the last one of a task
	err     error
	status  Status
}

type attempt struct {
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
		activity: activity, tasks: tasks, options: o, start: workflow.Now(ctx), running: map[string]*attempt{},
		got: make([]bool, len(tasks)), left: len(tasks), failed: map[int]error{}, poll: true,
	}
	config.Order = f.order()
	if f.phase, err = engine.New(config); err != nil {
		return nil, err
	}
	for i, t := range tasks {
		f.phase.SetEligible(i, !t.NoDuplicate, !t.NoRestart)
	}
	if err := workflow.SetQueryHandler(ctx, Query(o.Name), f.query); err != nil {
		return nil, err
	}
	f.ctx, f.stop = workflow.WithCancel(ctx)
	f.selector = workflow.NewSelector(f.ctx)
	f.act(f.phase.Observe(f.start, nil))
	f.poll = false
	f.arm()
	return f, nil
}

// arm sets the timer for the next poll.
func (f *fanOut) arm() {
	f.selector.AddFuture(workflow.NewTimer(f.ctx, f.options.Interval), func(t workflow.Future) {
		f.poll = true
		if err := t.Get(f.ctx, nil); err != nil && f.err == nil {
			f.err = err // the workflow is cancelled
		}
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
		seen = f.look()
		f.arm()
	}
	seen = append(seen, f.ended...)
	f.ended = f.ended[:0]
	f.act(f.phase.Observe(workflow.Now(f.ctx), seen))
	f.giveUp()
}

// giveUp ends the fan-out if one of its tasks is given up.
func (f *fanOut) giveUp() {
	for _, task := range f.phase.GivenUp() {
		f.err = fmt.Errorf("fanout %s: task %d: %w: %w", f.options.Name, task, ErrGivenUp, f.failed[task])
		return
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
