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
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// WatchOptions are the choices of [Watch].
type WatchOptions struct {
	// Namespace of the workflow, and of the client. Empty: "default".
	Namespace string
	// Type is the type of the activities to look after. Empty: all types, which only makes sense if they are alike.
	Type string
	// Policy says what to do about a running activity. Nil: restart.Mantri{}.
	Policy restart.Policy
	// Hosts are the workers: their names are both their identities and task queues of their own, which they poll besides
	// the workflow's. Required, with slots. Two Watches that run at once need their own.
	Hosts *engine.Hosts
	// InQueue is how long a copy or a restarted activity may wait in a host's queue before the host is taken to be gone,
	// and another one is chosen. 0: a minute.
	InQueue time.Duration
	// Interval is the time between two polls. 0: a second.
	Interval time.Duration
	// Work tells the size of an activity from its input, in the units of [Report]. Nil: all are alike, and report a share.
	Work func(input *commonpb.Payloads) float64
	// Converter reads heartbeats. Nil: the default one.
	Converter converter.DataConverter
	// DryRun only says what would be done, at each poll anew; the ledger counts it as if it were begun and called off.
	DryRun bool
	// Log, if not nil, is told what is done and why.
	Log func(Event)
}

// Watch mitigates the stragglers of a workflow that it does not touch, until that ends or ctx is done, and returns the
// account of it. What it needs of the workflow is that its activities heartbeat by [Report] or with a number as their
// first detail. An empty runID is the current run. A run that follows, by a retry or by continue-as-new, is another one.
//
// A restart resets the activity and moves it to another host's queue. A copy is a standalone activity of the same type,
// input and timeouts, in another host's queue; if it is the first to end, the workflow's activity is completed with its
// result, and the worker that still runs that is told so at its next heartbeat. So the activity must bear to run twice at
// once, and without a workflow of its own (activity.GetInfo then names none). Copies need a server that has standalone
// activities (activity.enableStandalone); without, there are only restarts. Activities that are first seen in the same
// poll are one phase. Retrying what fails is left to the activities' retry policies.
//
// It outlives a server that is away for a while. If Watch is killed, copies that run go on until they end, for nothing.
func Watch(ctx context.Context, c client.Client, workflowID, runID string, o WatchOptions) (restart.Ledger, error) {
	w, err := newWatcher(c, workflowID, runID, o)
	if err != nil {
		return restart.Ledger{}, err
	}
	ticker := time.NewTicker(w.Interval)
	defer ticker.Stop()
	defer w.abandon()
	for {
		open, err := w.poll(ctx)
		if err != nil || !open {
			return w.ledger(), err
		}
		select {
		case <-ctx.Done():
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
	unanswered int  // polls in a row
	noCopies   bool // the server does not know standalone activities
}

// batch is a phase: activities that were first seen in one poll.
type batch struct {
	phase   *engine.Phase
	tasks   []*watched
	refused []engine.Attempt // that could not be submitted, since the last observation
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
	if o.InQueue == 0 {
		o.InQueue = defaultInQueue
	}
	switch {
	case o.Interval < 0:
		return nil, fmt.Errorf("fanout: WatchOptions.Interval is %v, want a positive duration, or 0 for a second", o.Interval)
	case o.InQueue < 0:
		return nil, fmt.Errorf("fanout: WatchOptions.InQueue is %v, want a positive duration, or 0 for a minute", o.InQueue)
	case o.Hosts == nil || o.Hosts.Slots() == 0:
		return nil, errors.New("fanout: WatchOptions.Hosts are missing, or have no slots")
	}
	w := &watcher{
		WatchOptions: o, client: c, id: workflowID, run: runID, start: time.Now(), tasks: map[string]*watched{},
	}
	if _, err := w.newPhase(nil); err != nil { // now, not when there are activities
		return nil, fmt.Errorf("fanout: WatchOptions: %w", err)
	}
	return w, nil
}

func (w *watcher) newPhase(work []float64) (*engine.Phase, error) {
	return engine.New(engine.Config{
		Config: restart.Config{Work: work, Interval: w.Interval, Policy: w.Policy}, Hosts: w.Hosts, Queued: true,
		MaxFailures: math.MaxInt, MaxLost: math.MaxInt, // Temporal gives up, not we
	})
}

// maxUnanswered polls may fail in a row, such as while the server is started again.
const maxUnanswered = 60

// pollTimeout is for a server that neither answers nor refuses.
const pollTimeout = time.Minute

// poll looks at the workflow once. It reports false when that has ended.
func (w *watcher) poll(ctx context.Context) (open bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	d, err := w.client.WorkflowService().DescribeWorkflowExecution(ctx, &workflowservice.DescribeWorkflowExecutionRequest{
		Namespace: w.Namespace, Execution: w.execution(),
	})
	if err != nil {
		return w.unseen(err)
	}
	w.run = d.GetWorkflowExecutionInfo().GetExecution().GetRunId() // a run that follows is another one
	if d.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return false, nil
	}
	pending := map[string]*workflowpb.PendingActivityInfo{}
	var fresh []string
	for _, p := range d.GetPendingActivities() {
		if w.Type == "" || p.GetActivityType().GetName() == w.Type {
			pending[p.GetActivityId()] = p
			if t := w.tasks[p.GetActivityId()]; t == nil || t.gone { // the workflow may use an ID again
				fresh = append(fresh, p.GetActivityId())
			}
		}
	}
	if err := w.open(ctx, fresh); err != nil {
		return w.unseen(err)
	}
	w.unanswered = 0
	for _, b := range w.batches {
		if !b.phase.Done() {
			w.observe(ctx, b, pending)
		}
	}
	return true, nil
}

// unseen takes note of a poll that failed. It reports false if the next one would not do better.
func (w *watcher) unseen(err error) (again bool, _ error) {
	var (
		unknown   *serviceerror.NotFound
		namespace *serviceerror.NamespaceNotFound
		denied    *serviceerror.PermissionDenied
		invalid   *serviceerror.InvalidArgument
	)
	if errors.As(err, &unknown) || errors.As(err, &namespace) || errors.As(err, &denied) || errors.As(err, &invalid) {
		return false, err
	}
	if w.unanswered++; w.unanswered > maxUnanswered {
		return false, fmt.Errorf("fanout: %d polls in a row have failed, the last: %w", w.unanswered, err)
	}
	return true, nil
}

// open makes a phase of activities that were not seen before.
func (w *watcher) open(ctx context.Context, fresh []string) error {
	if len(fresh) == 0 {
		return nil
	}
	work := make([]float64, len(fresh))
	for i, activity := range fresh {
		delete(w.schedules, activity)
		if w.Work == nil {
			continue
		}
		s, err := w.schedule(ctx, activity)
		if err != nil {
			return err
		}
		work[i] = w.Work(s.GetInput())
	}
	phase, err := w.newPhase(work)
	if err != nil {
		return err
	}
	b := &batch{phase: phase}
	for i, activity := range fresh {
		phase.SetEligible(i, !w.noCopies, true)
		t := &watched{activity: activity, index: i}
		w.tasks[activity] = t
		b.tasks = append(b.tasks, t)
	}
	w.batches = append(w.batches, b)
	return nil
}

// observe tells a phase what there is, and does what it says.
func (w *watcher) observe(ctx context.Context, b *batch, pending map[string]*workflowpb.PendingActivityInfo) {
	seen := b.refused
	for _, t := range b.tasks {
		seen = append(seen, w.lookAtCopies(ctx, t)...)
		seen = append(seen, w.look(t, pending[t.activity])...)
	}
	b.refused = w.act(ctx, b, b.phase.Observe(time.Now(), seen))
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
		default:
			err = w.retry(ctx, t, a)
		}
		if err != nil && a.Op == engine.Submit {
			refused = append(refused, engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Cancelled})
			if a.Decision.Action == restart.Restart {
				t.attempt = "" // what should have been killed goes on, under a new name
			}
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
