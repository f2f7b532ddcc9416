package fanout

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/laxity"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// Task is one activity of a fan-out.
type Task struct {
	// Input is the activity's argument.
	Input any
	// Work is its size, in units of your choice: bytes, records. 0: not known. A task with more work is no straggler for
	// taking longer.
	Work float64
	// Deadline is when it should have ended. The zero time is none.
	Deadline time.Time
	// NoDuplicate says that two attempts of it must never run at once, NoRestart that it must not be killed and run again.
	NoDuplicate, NoRestart bool
}

// Options are the choices of a fan-out. The zero value, but for Hosts or Slots, is Mantri with the paper's parameters.
type Options struct {
	// Name tells the fan-outs of a workflow apart: it begins the activities' IDs and the query, see [Query]. Empty: "task".
	Name string
	// Policy says what to do about a running task. Nil: restart.Mantri{}.
	Policy restart.Policy
	// Hosts are the workers. Each has a task queue of its name, and runs no more than its slots at once. Share them among
	// the fan-outs of one workflow run, which then remember which are bad. Nil: all activities go to the task queue of
	// Activity, and nothing can be kept off a bad host.
	Hosts *engine.Hosts
	// Slots is how many activities may run at once. Not used with Hosts.
	Slots int
	// Interval is the time between two polls. It must be the same when the history is replayed. 0: a second.
	Interval time.Duration
	// Lag is the usual time from scheduling an activity to its start.
	Lag time.Duration
	// Clone runs several copies of each task of a small fan-out from the start. Nil: never.
	Clone *Clone
	// Laxity orders waiting tasks if any has a deadline; the zero value runs the one with the least laxity first, and those
	// that can't be in time last. Tasks without deadlines run in the order of their work, the largest first.
	Laxity laxity.Policy
	// Activity holds what Temporal wants to know. Fields that are zero get defaults: see [Options.activityOptions].
	// ActivityID, RetryPolicy and WaitForCancellation are set by Map.
	Activity workflow.ActivityOptions
	// MaxFailures is how many attempts of a task may fail before the fan-out does. 0: 4. An error that is not retryable
	// fails it at once.
	MaxFailures int
	// Journal keeps the tracker's journal, for the query. It takes some hundred bytes for each report.
	Journal bool
	// Snapshot is the local activity that lists what runs. Nil: [Snapshot]. Bring your own for heartbeats that only your
	// data converter reads.
	Snapshot func(ctx context.Context, prefix string) ([]Seen, error)
}

// Clone says when a fan-out is cloned.
type Clone struct {
	clone.Config
	// Straggler is p, the probability that a task straggles, as seen in the past.
	Straggler float64
}

const (
	defaultName     = "task"
	defaultInterval = time.Second
	// A heartbeat is late if some polls in a row have not seen one. It should be well above what a policy needs to notice.
	heartbeatIntervals = 10
	leastHeartbeat     = 5 * time.Second
	defaultLongest     = 24 * time.Hour
	defaultInQueue     = time.Minute
)

// activityOptions fills in what Temporal needs: a heartbeat timeout of ten intervals and at least 5 s, after which an
// attempt counts as lost; a day for the attempt in all; and, with Hosts, a minute in a host's queue, after which the host
// is taken to be gone. Retrying is left to Map, which knows where else to go.
func (o *Options) activityOptions() workflow.ActivityOptions {
	a := o.Activity
	if a.HeartbeatTimeout == 0 {
		a.HeartbeatTimeout = max(heartbeatIntervals*o.Interval, leastHeartbeat)
	}
	if a.StartToCloseTimeout == 0 && a.ScheduleToCloseTimeout == 0 {
		a.StartToCloseTimeout = defaultLongest
	}
	if a.ScheduleToStartTimeout == 0 && o.Hosts != nil {
		a.ScheduleToStartTimeout = defaultInQueue
	}
	a.RetryPolicy = &temporal.RetryPolicy{MaximumAttempts: 1}
	a.WaitForCancellation = true // its slot is free when it has ended, and not before
	return a
}

func (o *Options) fill() error {
	if o.Name == "" {
		o.Name = defaultName
	}
	if o.Interval == 0 {
		o.Interval = defaultInterval
	}
	if o.Snapshot == nil {
		o.Snapshot = Snapshot
	}
	if o.Hosts == nil && o.Slots <= 0 {
		return fmt.Errorf("fanout: Options.Slots is %d, want 1 or more, or Hosts", o.Slots)
	}
	if err := o.Laxity.Validate(); err != nil {
		return fmt.Errorf("fanout: Options.Laxity: %w", err)
	}
	return nil
}

// config is what package engine wants to know.
func (o *Options) config(tasks []Task) (engine.Config, error) {
	c := engine.Config{
		Config: restart.Config{
			Work: make([]float64, len(tasks)), Slots: o.Slots, Interval: o.Interval, Lag: o.Lag, Policy: o.Policy,
		},
		Hosts: o.Hosts, MaxFailures: o.MaxFailures, Journal: o.Journal,
	}
	for i := range tasks {
		c.Work[i] = tasks[i].Work
	}
	var err error
	if o.Clone != nil {
		c.Clones, err = o.clones(tasks)
	}
	return c, err
}

// clones asks package clone how many copies there should be, as for a job that has the cluster for itself.
func (o *Options) clones(tasks []Task) ([]int, error) {
	budget, err := clone.NewBudget(o.Clone.Config)
	if err != nil {
		return nil, err
	}
	slots := o.Slots
	if o.Hosts != nil {
		slots = o.Hosts.Slots()
	}
	job := clone.Job{Tasks: len(tasks)}
	for i := range tasks {
		job.NoDuplicate = job.NoDuplicate || tasks[i].NoDuplicate
	}
	d := budget.Admit(job, clone.Cluster{Capacity: slots, Straggler: o.Clone.Straggler})
	if d.Action != clone.Clone {
		return nil, nil
	}
	clones := make([]int, len(tasks))
	for i := range min(d.Tasks, len(clones)) {
		clones[i] = d.Copies - 1
	}
	return clones, nil
}
