package fanout

import (
	"context"
	"fmt"
	"math"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/laxity"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Task is one task of a fan-out: an activity with its input.
type Task struct {
	// Input is the activity's argument. Nil means no argument.
	Input any
	// Work is the size of the task, in units of your choice, such as bytes. 0 means not known. A task with more work is
	// allowed to take longer.
	Work float64
	// Deadline is the time by which the task should have ended. The zero time means no deadline.
	Deadline time.Time
	// NoCopy says that two attempts of the task must never run at once.
	NoCopy bool
	// NoRestart says that the task must not be killed and run again.
	NoRestart bool
}

// progress converts the number of [Report]. If the work is not known, a number up to 1 is a share.
func (t *Task) progress(done float64) tracker.Report {
	if t.Work == 0 && done <= 1 {
		return tracker.Report{Score: done}
	}
	return tracker.Report{Done: done}
}

// args returns the activity's arguments.
func (t *Task) args() []any {
	if t.Input == nil {
		return nil
	}
	return []any{t.Input}
}

// Options are the settings of a fan-out. Hosts or Slots are required. The zero value of every other field is a default.
type Options struct {
	// Name distinguishes the fan-outs of a workflow. The activities' IDs and the query begin with it; see [Query]. Empty
	// means "task".
	Name string
	// Policy decides about slow attempts. Nil means restart.LeastCost{}.
	Policy restart.Policy
	// Limits bound every policy. The zero value is the protective default of each limit; see restart.Limits.
	Limits restart.Limits
	// Hosts are the workers. A worker has a task queue of its own name, and runs at most as many activities as it has slots.
	// Share the Hosts among the fan-outs of one workflow run, so that a fan-out knows the bad workers of the fan-outs
	// before. Nil means that all activities go to the task queue in Activity. Then no activity can avoid a bad worker.
	Hosts *engine.Machines
	// Slots is how many attempts may run at once. Slots is not used if Hosts have slots.
	Slots int
	// Interval is the time between two polls. 0 means a second.
	Interval time.Duration
	// Lag is the usual time from the submission of an attempt to its start, until attempts have shown it. 0 means not known.
	Lag time.Duration
	// Clone runs several clones of each task of a small fan-out from the start. Nil means one attempt of each task.
	Clone *Clone
	// Laxity orders the waiting tasks if any task has a deadline. The zero value starts the task with the least laxity
	// first, and tasks that can't end in time last. Without deadlines, the task with the most work starts first.
	Laxity laxity.Policy
	// Activity holds Temporal's own options of an activity. Three fields have a default in place of zero:
	// HeartbeatTimeout is ten intervals and at least 5 s, and an attempt without heartbeats counts as lost after it.
	// StartToCloseTimeout is a day. ScheduleToStartTimeout, with Hosts, is a minute, and the worker counts as gone after
	// it. Map itself sets ActivityID, RetryPolicy and WaitForCancellation.
	Activity workflow.ActivityOptions
	// MaxFailures is how many attempts of a task may fail before the fan-out fails. 0 means 4. The fan-out also fails after
	// ten lost attempts of a task, and at once after an error that is not retryable.
	MaxFailures int
	// Journal keeps a journal of all events, for the query. Journal takes about a hundred bytes for each report.
	Journal bool
	// Snapshot is the local activity that lists the running activities. Nil means [Snapshot]. Set your own if only your
	// data converter can read the heartbeats; see [SnapshotWith]. A replay needs the same name of the function. If the
	// local activity fails, the poll shows no running activity.
	Snapshot func(ctx context.Context, prefix string) ([]Seen, error)
}

// Clone says when the tasks of a fan-out are cloned, as package clone decides.
type Clone struct {
	clone.Config
	// Straggler is p, the probability that a task straggles, from past fan-outs. Straggler is in [0, 1).
	Straggler float64
}

const (
	defaultName     = "task"
	defaultInterval = time.Second
	// heartbeatIntervals is the default heartbeat timeout, in intervals. heartbeatIntervals is much longer than a policy
	// needs to notice a silent attempt.
	heartbeatIntervals     = 10
	leastHeartbeat         = 5 * time.Second // the least default heartbeat timeout
	defaultLongest         = 24 * time.Hour  // StartToCloseTimeout
	defaultScheduleToStart = time.Minute     // ScheduleToStartTimeout
	// These are the defaults of package engine. The phase's own limits are off: its counts depend on the policy, and a
	// replay may have another policy.
	defaultMaxFailures = 4  // failed attempts of a task
	maxLost            = 10 // lost attempts of a task
	// maxPending is the server's limit.numPendingActivities.error. More pending activities fail the workflow task again and
	// again, and the workflow makes no progress.
	maxPending = 2000
)

// activityOptions returns Activity with the defaults that its comment states. Temporal's own retries are off, because Map
// retries on another worker.
func (o *Options) activityOptions() workflow.ActivityOptions {
	a := o.Activity
	if a.HeartbeatTimeout == 0 {
		a.HeartbeatTimeout = max(heartbeatIntervals*o.Interval, leastHeartbeat)
	}
	if a.StartToCloseTimeout == 0 && a.ScheduleToCloseTimeout == 0 {
		a.StartToCloseTimeout = defaultLongest
	}
	if a.ScheduleToStartTimeout == 0 && o.Hosts != nil {
		a.ScheduleToStartTimeout = defaultScheduleToStart
	}
	a.RetryPolicy = &temporal.RetryPolicy{MaximumAttempts: 1}
	a.WaitForCancellation = true // the slot is occupied until the activity has ended
	return a
}

// fill fills in the defaults, and returns an error for the first field that is out of range.
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
	if o.MaxFailures == 0 {
		o.MaxFailures = defaultMaxFailures
	}
	switch {
	case o.Interval < 0:
		return fmt.Errorf("fanout: Options.Interval is %v, want a positive duration, or 0 for a second", o.Interval)
	case o.slots() <= 0:
		return fmt.Errorf("fanout: Options.Slots is %d, want 1 or more, or Hosts that have slots", o.Slots)
	case o.MaxFailures < 0:
		return fmt.Errorf("fanout: Options.MaxFailures is %d, want a positive number, or 0 for 4", o.MaxFailures)
	case o.Clone != nil && !(o.Clone.Straggler >= 0 && o.Clone.Straggler < 1):
		return fmt.Errorf("fanout: Options.Clone.Straggler is %v, want a probability in [0, 1)", o.Clone.Straggler)
	}
	if err := o.Laxity.Validate(); err != nil {
		return fmt.Errorf("fanout: Options.Laxity: %w", err)
	}
	return nil
}

// slots returns how many activities may run at once.
func (o *Options) slots() int {
	if o.Hosts != nil && o.Hosts.Slots() > 0 {
		return o.Hosts.Slots()
	}
	return o.Slots
}

// givesUp reports whether a task has failed for good: too many attempts have failed or were lost, and none runs.
func (o *Options) givesUp(t attempts) bool {
	return !t.hasResult && t.running == 0 && (t.failed >= o.MaxFailures || t.lost >= maxLost)
}

// config returns the configuration of the phase.
func (o *Options) config(tasks []Task) (engine.Config, error) {
	c := engine.Config{
		Work: make([]float64, len(tasks)), Slots: o.Slots, Interval: o.Interval, Lag: o.Lag, Policy: o.Policy,
		Limits: o.Limits, Machines: o.Hosts, MaxFailures: math.MaxInt, MaxLost: math.MaxInt, Journal: o.Journal,
	}
	for i := range tasks {
		if c.Work[i] = tasks[i].Work; c.Work[i] == 0 {
			c.Work[i] = math.NaN() // not known; in package engine, 0 means a task without work
		}
	}
	var err error
	if slots := o.slots(); slots > maxPending && len(tasks) > maxPending {
		return c, fmt.Errorf("fanout: Options.Hosts or Options.Slots give %d slots for %d tasks, want %d slots or "+
			"fewer, the limit of pending activities in a workflow", slots, len(tasks), maxPending)
	}
	if o.Clone != nil {
		c.Clones, err = o.clones(tasks)
	}
	return c, err
}

// clones returns how many clones of each task package clone admits for a job that has all slots for itself. clones
// returns 0 unless all tasks are cloned.
func (o *Options) clones(tasks []Task) (int, error) {
	budget, err := clone.NewBudget(o.Clone.Config)
	if err != nil {
		return 0, fmt.Errorf("fanout: Options.Clone: %w", err)
	}
	job := clone.Job{Tasks: len(tasks)}
	for i := range tasks {
		job.NoCopy = job.NoCopy || tasks[i].NoCopy
	}
	d := budget.Admit(job, clone.Cluster{Capacity: o.slots(), Straggler: o.Clone.Straggler})
	if d.Action != clone.Clone || d.Tasks < len(tasks) {
		return 0, nil
	}
	return d.Clones, nil
}
