package fanout

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// WatchOptions are the choices of [Watch].
type WatchOptions struct {
	// Namespace of the workflow, and of the client. Empty: "default".
	Namespace string
	// Type is the type of the activities to look after. Empty: all types, which only makes sense if they are alike.
	Type string
	// Policy says what to do about a running activity. Nil: restart.LeastCost{}.
	Policy restart.Policy
	// Limits hold around every policy. The zero value protects; see restart.Limits.
	Limits restart.Limits
	// Hosts are the workers: their names are both their identities and task queues of their own, which they poll
	// besides the workflow's. Required, with slots. Two Watches that run at once need their own.
	Hosts *engine.Machines
	// InQueue is how long a copy or a restarted activity may wait in a host's queue before the host is taken to be
	// gone, and another one is chosen. 0: a minute.
	InQueue time.Duration
	// Interval is the time between two polls. 0: a second.
	Interval time.Duration
	// Work tells the size of an activity from its input, in the units of [Report]. Nil: all are alike, and report a
	// share.
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
// first detail. An empty runID is the current run. A run that follows, by a retry or by continue-as-new, is another
// one.
//
// A restart resets the activity and moves it to another host's queue. A copy is a standalone activity of the same type,
// input and timeouts, in another host's queue; if it is the first to end, the workflow's activity is completed with its
// result, and the worker that still runs that is told so at its next heartbeat. So the activity must bear to run twice
// at once, and without a workflow of its own (activity.GetInfo then names none). Copies need a server that has
// standalone activities (activity.enableStandalone); without, there are only restarts. Activities that are first seen
// in the same poll are one phase. Retrying what fails is left to the activities' retry policies.
//
// An activity whose context ends must return an error, which [WorkerOptions] sees to: the server takes what it returns
// without one for the result, also after a reset. A copy completes the activity for which it was made and no later one
// of the same ID: that is looked up in the history just before, and once a workflow was seen to use an ID again, it
// gets no more copies.
//
// It outlives a server that is away for a while. If Watch is killed, copies that run go on until they end, for nothing.
func Watch(ctx context.Context, c client.Client, workflowID, runID string, o WatchOptions) (tracker.Ledger, error) {
	w, err := newWatcher(c, workflowID, runID, o)
	if err != nil {
		return tracker.Ledger{}, err
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
	account    tracker.Ledger // of the phases that are forgotten
	unanswered int            // polls in a row
	noCopies   bool           // the server does not know standalone activities
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
		return nil, badDuration("Interval", o.Interval, "a second")
	case o.InQueue < 0:
		return nil, badDuration("InQueue", o.InQueue, "a minute")
	case o.Hosts == nil || o.Hosts.Slots() == 0:
		return nil, errors.New("fanout: WatchOptions.Hosts are missing, or have no slots")
	}
	w := &watcher{
		WatchOptions: o, client: c, id: workflowID, run: runID, start: time.Now(), tasks: map[string]*watched{},
	}
	if _, err := w.newPhase([]float64{}); err != nil { // now, not when there are activities
		return nil, fmt.Errorf("fanout: WatchOptions: %w", err)
	}
	return w, nil
}

func badDuration(field string, d time.Duration, zero string) error {
	return fmt.Errorf("fanout: WatchOptions.%s is %v, want a positive duration, or 0 for %s", field, d, zero)
}

func (w *watcher) newPhase(work []float64) (*engine.Phase, error) {
	return engine.New(engine.Config{
		Work: work, Interval: w.Interval, Policy: w.Policy, Limits: w.Limits, Machines: w.Hosts, Preloaded: true,
		MaxFailures: math.MaxInt, MaxLost: math.MaxInt, // Temporal gives up, not we
	})
}
