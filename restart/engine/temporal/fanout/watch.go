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
	"github.com/straggler-go/straggler/restart/engine/shadow"
	"github.com/straggler-go/straggler/restart/tracker"
)

// WatchOptions are the settings of [Watch]. The field Machines is required.
type WatchOptions struct {
	// Namespace is the Temporal namespace of the workflow and of the client. "" means "default".
	Namespace string
	// Type is the type of the activities to watch. "" means that activities of all types are watched. That makes
	// sense only if all types do similar work.
	Type string
	// Policy decides which slow activities are copied or restarted. Nil means restart.LeastCost{}.
	Policy restart.Policy
	// Limits bounds copies and restarts, whatever the policy decides. In the zero value each limit has the default
	// that restart.Limits documents.
	Limits restart.Limits
	// Machines are the workers, each with its name and its slots. The name must be the worker's identity. It must also
	// be the name of a task queue that the worker polls, besides the task queue of the workflow. If two calls of
	// Watch run at the same time, each needs Machines of its own.
	Machines *engine.Machines
	// ScheduleToStartTimeout is how long a copy or a restarted activity may wait in the queue of a worker. After
	// that, Watch takes the worker to be gone, and uses another worker. 0 means a minute.
	ScheduleToStartTimeout time.Duration
	// Interval is the time between two polls of the workflow. After each poll the policy decides. 0 means a second.
	Interval time.Duration
	// Work returns the size of an activity from its input, in the unit in which the activity calls [Report]. Nil
	// means that sizes are not known, and that activities report the share of their work that is done.
	Work func(input *commonpb.Payloads) float64
	// Converter decodes the heartbeats. Nil means the default data converter of the SDK.
	Converter converter.DataConverter
	// NoCopy says that two attempts of an activity must never run at the same time. Then Watch only restarts activities.
	NoCopy bool
	// Shadow makes Watch decide about slow activities without acting: it sends the server no request that changes
	// anything. It calls OnAction with each decision. OnEnd gets the bill.
	Shadow bool
	// OnAction is called with an Event for each action, after Watch has carried out the action or has failed to. Nil
	// means that no function is called.
	OnAction func(Event)
	// Journal keeps a journal of each phase. OnEnd gets it.
	Journal bool
	// OnEnd is called when a phase has ended, and with the phases that have not ended before Watch returns. A phase
	// consists of the activities that Watch has seen first in the same poll. Nil means that no function is called.
	OnEnd func(Summary)
	// Configure is called with the configuration of each phase before the phase begins. It may set the fields that
	// WatchOptions does not have, such as Budget or Kind. Nil changes nothing.
	Configure func(c *engine.Config)
}

// Summary sums up a phase of [Watch].
type Summary struct {
	Ledger tracker.Ledger
	// Bill says how much time the policy would have saved, if WatchOptions.Shadow is set. See package shadow. If the phase
	// is too large for shadow.Replay, Bill.Why says so.
	Bill shadow.Bill
	// Journal is the journal, if WatchOptions.Journal is set. Packages restart/journal and restart/restarttest read it.
	Journal []byte
}

// Watch copies and restarts the slow activities of a running workflow from outside the workflow. It returns when the
// workflow has ended or ctx is done. The returned ledger contains the numbers of copies and restarts, and the slot
// time that they took. The workflow needs no change. Its activities must send heartbeats, by [Report], or with a
// number as the first detail of a heartbeat. An empty runID means the current run of the workflow. Later runs, which
// a retry or continue-as-new starts, are not watched.
//
// # Actions
//
// To restart an activity, Watch moves it to the queue of another worker and resets it, so that the running attempt
// ends and a new attempt begins there.
//
// To copy an activity, Watch starts a standalone activity with the same type, input and timeouts, in the queue of
// another worker. If the copy ends first, Watch completes the workflow's activity with the result of the copy. The
// worker of the workflow's activity learns this at the next heartbeat. So it must do no harm if the activity runs
// twice at the same time. The activity must also work without a workflow: in a copy, activity.GetInfo returns no
// workflow. Copies need a server with standalone activities (the setting activity.enableStandalone). On other servers
// Watch only restarts activities.
//
// A phase is a group of activities that Watch has seen first in the same poll. Watch compares an activity only with
// the activities of its phase. Failed activities are retried by Temporal, as the retry policy of each activity says.
//
// # Rules
//
// An activity whose context ends must return an error. Workers with [WorkerOptions] ensure this. Otherwise the server
// takes the returned value as the result of the activity, even after a reset.
//
// A workflow may use the ID of an ended activity again for a later activity. A copy must not complete this later
// activity. So before Watch completes an activity with the result of a copy, it reads in the history whether the ID
// was used again. After a workflow has used an ID again, Watch makes no more copies for it.
//
// If the server does not answer, Watch tries again. After more than 60 failed polls in a row, Watch returns an error.
// If the process of Watch is killed, running copies run to their end, and their results are lost.
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

// watcher is the state of one call of Watch.
type watcher struct {
	WatchOptions
	client      client.Client
	id, run     string // ID and run ID of the workflow
	start       time.Time
	tasks       map[string]*watched // by activity ID
	batches     []*batch
	account     tracker.Ledger // sum of the ledgers of all phases that are done
	failedPolls int            // number of polls in a row that have failed
	// no more copies: the server has no standalone activities, or the workflow has used an ID again
	noCopies bool
}

// batch contains the activities that were seen first in the same poll, and the engine.Phase that decides about them.
type batch struct {
	config   engine.Config // of the phase
	phase    *engine.Phase
	tasks    []*watched
	reported bool             // an activity has reported its progress
	refused  []engine.Attempt // attempts that could not be submitted; the next poll reports them to the phase
}

// newWatcher checks the options, sets the defaults, and returns a watcher that has not polled yet.
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
	case o.Machines == nil || o.Machines.Slots() == 0:
		return nil, errors.New("fanout: WatchOptions.Machines has 0 slots, want workers with slots")
	}
	w := &watcher{
		WatchOptions: o, client: c, id: workflowID, run: runID, start: time.Now(), tasks: map[string]*watched{},
	}
	// this finds wrong options now, and not only when there are activities
	if err := new(batch).begin(w, []float64{}); err != nil {
		return nil, fmt.Errorf("fanout: WatchOptions: %w", err)
	}
	return w, nil
}

// badDuration returns the error for a negative duration in a field of WatchOptions. zero is the text for the meaning
// of the value 0.
func badDuration(field string, d time.Duration, zero string) error {
	return fmt.Errorf("fanout: WatchOptions.%s is %v, want a positive duration, or 0 for %s", field, d, zero)
}

// begin makes the engine.Phase for activities with the given sizes.
func (b *batch) begin(w *watcher, work []float64) (err error) {
	b.config = engine.Config{
		Work: work, Interval: w.Interval, Policy: w.Policy, Limits: w.Limits, Machines: w.Machines, Preloaded: true,
		Journal: w.Journal && w.OnEnd != nil,
		// the phase never gives up an activity, because Temporal's retry policy does so
		MaxFailures: math.MaxInt, MaxLost: math.MaxInt,
	}
	if w.Shadow {
		b.config.Shadow = func(task int, d restart.Decision) {
			w.tell(Event{Task: task, ID: b.tasks[task].activity, Machine: b.tasks[task].machine, Kind: "shadow", Why: d.String()})
		}
	}
	if w.Configure != nil {
		w.Configure(&b.config)
	}
	b.phase, err = engine.New(b.config)
	return err
}

// sumUp calls WatchOptions.OnEnd for a phase.
func (w *watcher) sumUp(b *batch) {
	if w.OnEnd == nil {
		return
	}
	sum := Summary{Ledger: b.phase.Ledger(), Journal: b.phase.Journal()}
	if w.Shadow {
		limits := b.config.Limits
		if w.NoCopy {
			limits.Copies = restart.Off
		}
		sum.Bill = bill(b.phase, &b.config, limits, w.Machines.Slots(), b.reported, nil)
	}
	w.OnEnd(sum)
}
