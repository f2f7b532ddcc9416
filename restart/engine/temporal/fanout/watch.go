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

// WatchOptions are the settings of [Watch]. Hosts are required.
type WatchOptions struct {
	// Namespace is the namespace of the workflow and of the client. Empty means "default".
	Namespace string
	// Type is the type of the activities to watch. Empty means all types, which makes sense only if all do similar work.
	Type string
	// Policy decides about slow attempts. Nil means restart.LeastCost{}.
	Policy restart.Policy
	// Limits bound every policy. The zero value is the protective default of each limit; see restart.Limits.
	Limits restart.Limits
	// Hosts are the workers, with slots. A worker's name is its identity, and also the name of a task queue that the worker
	// polls besides the workflow's queue. Two Watches that run at once need Hosts of their own.
	Hosts *engine.Machines
	// ScheduleToStartTimeout is how long a copy or a restarted activity may wait in a worker's queue. After that the worker
	// is taken to be gone, and another worker is chosen. 0 means a minute.
	ScheduleToStartTimeout time.Duration
	// Interval is the time between two polls. 0 means a second.
	Interval time.Duration
	// Work returns the size of an activity from its input, in the units of [Report]. Nil means that sizes are not known,
	// and that activities report a share.
	Work func(input *commonpb.Payloads) float64
	// Converter reads heartbeats. Nil means the SDK's default converter.
	Converter converter.DataConverter
	// DryRun reports the actions to OnEvent at each poll and carries none out. The ledger counts each action as
	// begun and cancelled.
	DryRun bool
	// OnEvent is called with an Event for each action, after the action was carried out or has failed. Nil means no call.
	OnEvent func(Event)
}

// Watch mitigates the stragglers of a running workflow from outside, until the workflow ends or ctx is done, and
// returns its ledger. The workflow stays as it is. Its activities must send heartbeats, by [Report] or with a number as
// their first detail. An empty runID means the current run. Later runs, by a retry or by continue-as-new, are not
// watched.
//
// # Actions
//
// A restart resets the activity and moves it to another worker's queue.
//
// A copy is a standalone activity with the same type, input and timeouts, in another worker's queue. If the copy ends
// first, Watch completes the workflow's activity with the copy's result. The worker of that activity learns this at its
// next heartbeat. So the activity must allow that it runs twice at once, and that it runs without a workflow: then
// activity.GetInfo names no workflow. Copies need a server with standalone activities (activity.enableStandalone). On
// other servers there are only restarts.
//
// A phase consists of the activities that Watch sees for the first time in the same poll. The activities' own retry
// policies retry failed activities.
//
// # Rules
//
// An activity whose context ends must return an error. [WorkerOptions] ensures this. Otherwise the server takes the
// returned value as the result, even after a reset.
//
// A copy completes only the activity for which it was made, and no later activity of the same ID. Watch checks this in
// the history just before. Once a workflow has used an ID again, it gets no more copies.
//
// Watch goes on after the server was away, for at most 60 failed polls in a row. If the process of Watch is killed,
// running copies go on until they end, and their results are lost.
func Watch(ctx context.Context, c client.Client, workflowID, runID string, o WatchOptions) (tracker.Ledger, error) {
	w, err := newWatcher(c, workflowID, runID, o)
	if err != nil {
		return tracker.Ledger{}, err
	}
	ticker := time.NewTicker(w.Interval)
	defer ticker.Stop()
	defer w.endAll()
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

// watcher is a call of Watch that has not returned.
type watcher struct {
	WatchOptions
	client      client.Client
	id, run     string // of the workflow
	start       time.Time
	tasks       map[string]*watched // by activity
	batches     []*batch
	account     tracker.Ledger // of the phases that are done
	failedPolls int            // in a row
	noCopies    bool           // the server has no standalone activities, or the workflow uses an ID again
}

// batch is a phase: the activities that one poll has shown for the first time.
type batch struct {
	phase   *engine.Phase
	tasks   []*watched
	refused []engine.Attempt // attempts that could not be submitted, for the next poll
}

// newWatcher checks the options and fills in the defaults.
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
	if o.ScheduleToStartTimeout == 0 {
		o.ScheduleToStartTimeout = defaultScheduleToStart
	}
	switch {
	case o.Interval < 0:
		return nil, badDuration("Interval", o.Interval, "a second")
	case o.ScheduleToStartTimeout < 0:
		return nil, badDuration("ScheduleToStartTimeout", o.ScheduleToStartTimeout, "a minute")
	case o.Hosts == nil || o.Hosts.Slots() == 0:
		return nil, errors.New("fanout: WatchOptions.Hosts have no slots, want workers with slots")
	}
	w := &watcher{
		WatchOptions: o, client: c, id: workflowID, run: runID, start: time.Now(), tasks: map[string]*watched{},
	}
	if _, err := w.newPhase([]float64{}); err != nil { // reports wrong options now, not when there are activities
		return nil, fmt.Errorf("fanout: WatchOptions: %w", err)
	}
	return w, nil
}

// badDuration returns an error for a negative duration.
func badDuration(field string, d time.Duration, zero string) error {
	return fmt.Errorf("fanout: WatchOptions.%s is %v, want a positive duration, or 0 for %s", field, d, zero)
}

// newPhase makes a phase of activities with given sizes.
func (w *watcher) newPhase(work []float64) (*engine.Phase, error) {
	return engine.New(engine.Config{
		Work: work, Interval: w.Interval, Policy: w.Policy, Limits: w.Limits, Machines: w.Hosts, Preloaded: true,
		MaxFailures: math.MaxInt, MaxLost: math.MaxInt, // Temporal's retry policy gives up
	})
}
