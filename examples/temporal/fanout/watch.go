package fanout

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// WatchOptions are the choices of [Watch].
type WatchOptions struct {
	// Namespace of the workflow. Empty: "default".
	Namespace string
	// Type is the type of the activities to look after. Empty: all types, which only makes sense if they are alike.
	Type string
	// Policy says what to do about a running activity. Nil: restart.Mantri{}.
	Policy restart.Policy
	// Hosts are the workers: their names are both their identities and task queues of their own, which they poll besides
	// the workflow's. Required, with slots.
	Hosts *engine.Hosts
	// Interval is the time between two polls. 0: a second.
	Interval time.Duration
	// Work tells the size of an activity from its input, in the units of [Report]. Nil: all are alike, and report a share.
	Work func(input *commonpb.Payloads) float64
	// Converter reads heartbeats. Nil: the default one.
	Converter converter.DataConverter
	// DryRun only says what would be done.
	DryRun bool
	// Log, if not nil, is told what is done and why.
	Log func(Event)
}

// Watch mitigates the stragglers of a workflow that it does not touch, until that ends or ctx is done, and returns the
// account of it. What it needs of the workflow is that its activities heartbeat by [Report] or with a number as their
// first detail.
//
// A restart resets the activity and moves it to another host's queue. A copy is a standalone activity of the same type,
// input and timeouts, in another host's queue; if it is the first to end, the workflow's activity is completed with its
// result, and the worker that still runs that is told so at its next heartbeat. So the activity must bear to run twice at
// once, and without a workflow of its own (activity.GetInfo then names none). Activities that are scheduled at about the
// same time are one phase. Retrying what fails is left to the activities' retry policies.
func Watch(ctx context.Context, c client.Client, workflowID, runID string, o WatchOptions) (restart.Ledger, error) {
	w, err := newWatcher(c, workflowID, runID, o)
	if err != nil {
		return restart.Ledger{}, err
	}
	ticker := time.NewTicker(w.Interval)
	defer ticker.Stop()
	for {
		open, err := w.poll(ctx)
		if err != nil || !open {
			w.abandonCopies()
			return w.ledger(), err
		}
		select {
		case <-ctx.Done():
			w.abandonCopies()
			return w.ledger(), ctx.Err()
		case <-ticker.C:
		}
	}
}

// watcher is a Watch under way.
type watcher struct {
	WatchOptions
	client     client.Client
	id, run    string
	start      time.Time
	tasks      map[string]*watched // by activity
	batches    []*batch
	schedules  map[string]*schedule
	unanswered int // polls in a row
}

// batch is a phase: activities that were first seen in one poll.
type batch struct {
	phase *engine.Phase
	tasks []*watched
}

func newWatcher(c client.Client, workflowID, runID string, o WatchOptions) (*watcher, error) {
	if o.Namespace == "" {
		o.Namespace = client.DefaultNamespace
	}
	if o.Interval == 0 {
		o.Interval = defaultInterval
	}
	if o.Converter == nil {
		o.Converter = converter.GetDefaultDataConverter()
	}
	switch {
	case o.Interval < 0:
		return nil, fmt.Errorf("fanout: WatchOptions.Interval is %v, want a positive duration, or 0 for a second", o.Interval)
	case o.Hosts == nil || o.Hosts.Slots() == 0:
		return nil, errors.New("fanout: WatchOptions.Hosts are missing, or have no slots")
	}
	return &watcher{
		WatchOptions: o, client: c, id: workflowID, run: runID, start: time.Now(), tasks: map[string]*watched{},
	}, nil
}

// maxUnanswered polls may fail in a row, such as while the server is started again.
const maxUnanswered = 60

// poll looks at the workflow once. It reports false when that has ended.
func (w *watcher) poll(ctx context.Context) (open bool, err error) {
	d, err := w.client.DescribeWorkflowExecution(ctx, w.id, w.run)
	var unknown *serviceerror.NotFound
	switch {
	case errors.As(err, &unknown):
		return false, err
	case err != nil:
		if w.unanswered++; w.unanswered > maxUnanswered {
			return false, fmt.Errorf("fanout: %d polls in a row have failed, the last: %w", w.unanswered, err)
		}
		return true, nil
	}
	w.unanswered = 0
	w.run = d.GetWorkflowExecutionInfo().GetExecution().GetRunId() // a run that follows is another one
	if d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return false, nil
	}
	pending := map[string]*workflowpb.PendingActivityInfo{}
	var fresh []string
	for _, p := range d.GetPendingActivities() {
		if w.Type == "" || p.GetActivityType().GetName() == w.Type {
			pending[p.GetActivityId()] = p
			if w.tasks[p.GetActivityId()] == nil {
				fresh = append(fresh, p.GetActivityId())
			}
		}
	}
	if err := w.open(ctx, fresh); err != nil {
		return false, err
	}
	for _, b := range w.batches {
		if !b.phase.Done() {
			w.observe(ctx, b, pending)
		}
	}
	return true, nil
}

// open makes a phase of activities that were not seen before.
func (w *watcher) open(ctx context.Context, fresh []string) error {
	if len(fresh) == 0 {
		return nil
	}
	work := make([]float64, len(fresh))
	if w.Work != nil {
		for i, activity := range fresh {
			if s := w.schedule(ctx, activity); s != nil {
				work[i] = w.Work(s.GetInput())
			}
		}
	}
	phase, err := engine.New(engine.Config{
		Config: restart.Config{Work: work, Interval: w.Interval, Policy: w.Policy}, Hosts: w.Hosts, Queued: true,
		MaxFailures: math.MaxInt, MaxLost: math.MaxInt, // Temporal gives up, not we
	})
	if err != nil {
		return err
	}
	b := &batch{phase: phase}
	for i, activity := range fresh {
		t := &watched{activity: activity, index: i}
		w.tasks[activity] = t
		b.tasks = append(b.tasks, t)
	}
	w.batches = append(w.batches, b)
	return nil
}

// observe tells a phase what there is, and does what it says.
func (w *watcher) observe(ctx context.Context, b *batch, pending map[string]*workflowpb.PendingActivityInfo) {
	var seen []engine.Attempt
	for _, t := range b.tasks {
		seen = append(seen, w.lookAtCopies(ctx, t)...)
		seen = append(seen, t.look(pending[t.activity], w.Converter)...)
	}
	refused := w.act(ctx, b, b.phase.Observe(time.Now(), seen))
	if len(refused) > 0 {
		w.act(ctx, b, b.phase.Observe(time.Now(), refused))
	}
	if b.phase.Done() {
		b.phase.Release()
	}
}

// act carries actions out, and returns the attempts that it could not submit.
func (w *watcher) act(ctx context.Context, b *batch, actions []engine.Action) (refused []engine.Attempt) {
	for _, a := range actions {
		t := b.tasks[a.Task]
		var err error
		switch {
		case a.Op == engine.Cancel:
			err = w.cancelCopy(ctx, t, a)
		case a.Decision.Action == restart.Restart:
			err = w.reset(ctx, t, a)
		case a.Decision.Action == restart.Duplicate:
			err = w.startCopy(ctx, t, a)
		default: // the retry of what failed is Temporal's
			t.next = a.ID
		}
		if err != nil && a.Op == engine.Submit {
			refused = append(refused, engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Cancelled})
		}
		w.tell(t, a, err)
	}
	return refused
}

func (w *watcher) tell(t *watched, a engine.Action, err error) {
	if w.Log == nil || a.Decision.Action == restart.Keep && err == nil {
		return
	}
	why := a.Decision.String()
	if err != nil {
		why += ": " + err.Error()
	}
	w.Log(Event{
		At: time.Since(w.start), Task: a.Task, ID: t.activity, Host: a.Host, Kind: a.Op.String(), Why: why,
	})
}

func (w *watcher) ledger() (sum restart.Ledger) {
	for _, b := range w.batches {
		sum.Add(b.phase.Ledger())
	}
	return sum
}
