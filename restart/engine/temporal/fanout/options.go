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
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Task is one task of a call of [Map]: one input of the activity.
type Task struct {
	// Input is the argument with which the activity is called. Nil means that it is called without an argument.
	Input any
	// Work is the size of the task, in a unit of your choice, such as bytes. 0 means not known. A task with more Work
	// is expected to take longer, so the policy allows it more time.
	Work float64
	// Deadline is the time by which the task should have ended. It changes only the order in which waiting tasks
	// start; see Options.Laxity. The zero time means no deadline.
	Deadline time.Time
	// NoCopy says that two attempts of the task must never run at the same time. Then the task is never copied.
	NoCopy bool
	// NoRestart says that a running attempt of the task must not be ended in order to run the task again.
	NoRestart bool
}

// progress converts the number that an activity has passed to [Report]. If Task.Work is not known, a number up to 1
// is the share of the work that is done. Otherwise the number is the amount of work that is done.
func (t *Task) progress(done float64) tracker.Report {
	if t.Work == 0 && done <= 1 {
		return tracker.Report{Score: done}
	}
	return tracker.Report{Done: done}
}

// args returns the arguments with which the activity of the task is called.
func (t *Task) args() []any {
	if t.Input == nil {
		return nil
	}
	return []any{t.Input}
}

// Options are the settings of [Map]. Either Machines or Slots is required. Every other field may be zero, which stands
// for a default.
//
// There is no OnAction, as other adapters have it. Map runs in the code of a workflow, so each replay would call the
// function again, and the function would have to be deterministic. [Status] has all actions.
type Options struct {
	// Name distinguishes several calls of Map in one workflow. The IDs of the activities begin with Name, and the
	// name of the query contains it; see [Query]. "" means "task".
	Name string
	// Policy decides which slow attempts are copied or restarted. Nil means restart.LeastCost{}.
	Policy restart.Policy
	// PolicyText describes the policy if Policy is nil, as [rules.Parse] reads it, such as "late,min-age=5s". A text can
	// be part of the input of a workflow. "" means Policy.
	PolicyText string
	// Limits bounds copies and restarts, whatever the policy decides. In the zero value each limit has the default
	// that restart.Limits documents.
	Limits restart.Limits
	// Machines are the workers, each with its name and its slots. A worker polls a task queue of its own, which has the
	// worker's name, and runs at most as many activities as it has slots. If a workflow run calls Map several times,
	// pass the same Machines to each call. Then each call knows the bad workers that the earlier calls have found. Nil
	// means that all activities go to the task queue in the field Activity. Then no activity can avoid a bad worker.
	Machines *engine.Machines
	// Slots is how many attempts may run at once. If Machines have slots, they are used in place of this field.
	Slots int
	// Interval is the time between two polls of the running activities. After each poll the policy decides. 0 means a
	// second.
	Interval time.Duration
	// Lag is the usual time from the submission of an attempt to its start. As soon as attempts have shown this time,
	// their times are used in place of Lag. 0 means not known.
	Lag time.Duration
	// Clone makes Map start several attempts of each task at once, called clones, if there are few tasks. Nil means
	// that each task starts with one attempt.
	Clone *Clone
	// Laxity sorts the waiting tasks if at least one task has a deadline. The laxity of a task is the time until its
	// deadline minus the time that the task will take. In the zero value, the task with the least laxity starts
	// first, and tasks that can't end in time start last. If no task has a deadline, the task with the most work
	// starts first.
	Laxity laxity.Policy
	// Activity contains Temporal's own options for each activity. Map itself sets ActivityID, RetryPolicy and
	// WaitForCancellation. For three fields, 0 stands for a default of Map:
	//
	//   - HeartbeatTimeout: ten times Options.Interval, and at least 5 s. An attempt that sends no heartbeat for this
	//     time is lost.
	//   - StartToCloseTimeout: a day, unless ScheduleToCloseTimeout is set.
	//   - ScheduleToStartTimeout: a minute if Machines is set. If an attempt waits in a worker's queue for longer, the
	//     worker is taken to be gone.
	Activity workflow.ActivityOptions
	// MaxFailures is the number of failed attempts of one task after which Map gives up and returns an error. 0 means
	// 4. Map also gives up after ten lost attempts of one task. If an activity returns an error that is not
	// retryable, Map gives up at once.
	MaxFailures int
	// Journal makes Map record all events as a text. The answer to the query contains this text; see [Status]. It
	// takes about 100 bytes of memory for each report of an attempt.
	Journal bool
	// Shadow makes Map decide about slow activities without acting: no running activity is copied or restarted, and Clone
	// is ignored. Failed and lost attempts are replaced as usual. Each decision is an [Event] of the kind "shadow". The
	// answer to the query has the bill.
	Shadow bool
	// Configure is called with the configuration of the phase before the phase begins. It may set the fields that
	// Options does not have, such as Budget or Kind. It runs in the workflow's code, so it must be
	// deterministic. Nil changes nothing.
	Configure func(c *engine.Config)
	// Snapshot is the function that Map runs as a local activity, to list the running activities and their
	// heartbeats. prefix is the beginning of the IDs of the activities to list. Nil means the function [Snapshot]. If
	// only your own data converter can read the heartbeats, set a function that calls [SnapshotWith]. For a replay
	// the function must have the same name. If the function returns an error, Map knows nothing new about the running
	// activities until the next poll.
	Snapshot func(ctx context.Context, prefix string) ([]Seen, error)
}

// Clone contains the settings by which package clone decides whether each task starts with several attempts, called
// clones.
type Clone struct {
	clone.Config
	// Straggler is the probability that an attempt is far slower than the others, as seen in the past. It is in [0,
	// 1).
	Straggler float64
}

const (
	defaultName     = "task"
	defaultInterval = time.Second
	// heartbeatIntervals sets the default heartbeat timeout: this many times Options.Interval. A policy notices much
	// earlier that an attempt sends no heartbeats.
	heartbeatIntervals     = 10
	leastHeartbeat         = 5 * time.Second // the default heartbeat timeout is at least this
	defaultLongest         = 24 * time.Hour  // default of StartToCloseTimeout
	defaultScheduleToStart = time.Minute     // default of ScheduleToStartTimeout
	// These two limits are the defaults of package engine, but Map itself applies them, and switches off the limits
	// of the engine.Phase. The reason: the phase's numbers of failed and lost attempts depend on the policy, and a
	// replay may have another policy.
	defaultMaxFailures = 4  // failed attempts of one task after which Map gives up
	maxLost            = 10 // lost attempts of one task after which Map gives up
	// maxPending is the largest number of pending activities of a workflow. It is the default of the server's setting
	// limit.numPendingActivities.error. With more pending activities, the workflow task fails again and again, and
	// the workflow makes no progress.
	maxPending = 2000
)

// activityOptions returns Options.Activity with its defaults filled in. It switches off Temporal's own retries,
// because Map itself retries an activity, on another worker.
func (o *Options) activityOptions() workflow.ActivityOptions {
	a := o.Activity
	if a.HeartbeatTimeout == 0 {
		a.HeartbeatTimeout = max(heartbeatIntervals*o.Interval, leastHeartbeat)
	}
	if a.StartToCloseTimeout == 0 && a.ScheduleToCloseTimeout == 0 {
		a.StartToCloseTimeout = defaultLongest
	}
	if a.ScheduleToStartTimeout == 0 && o.Machines != nil {
		a.ScheduleToStartTimeout = defaultScheduleToStart
	}
	a.RetryPolicy = &temporal.RetryPolicy{MaximumAttempts: 1}
	// Map learns of the end of a cancelled activity only when the activity has really ended. Until then the
	// activity occupies its slot.
	a.WaitForCancellation = true
	return a
}

// fill sets the defaults of the fields that are zero. It returns an error if a field is out of range.
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
	if o.PolicyText != "" {
		if o.Policy != nil {
			return fmt.Errorf("fanout: Options.PolicyText is %q, want no text beside a Policy", o.PolicyText)
		}
		var err error
		if o.Policy, err = rules.Parse(o.PolicyText); err != nil {
			return fmt.Errorf("fanout: Options.PolicyText is %q, want a policy: %w", o.PolicyText, err)
		}
	}
	switch {
	case o.Interval < 0:
		return fmt.Errorf("fanout: Options.Interval is %v, want a positive duration, or 0 for a second", o.Interval)
	case o.slots() <= 0:
		return fmt.Errorf("fanout: Options.Slots is %d, want 1 or more, or Machines with slots", o.Slots)
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

// slots returns how many activities may run at once: the slots of Machines, or else the field Slots.
func (o *Options) slots() int {
	if o.Machines != nil && o.Machines.Slots() > 0 {
		return o.Machines.Slots()
	}
	return o.Slots
}

// givesUp reports whether Map shall give up because of a task: the task has no result, too many of its attempts have
// failed or were lost, and no attempt runs.
func (o *Options) givesUp(t attempts) bool {
	return !t.hasResult && t.running == 0 && (t.failed >= o.MaxFailures || t.lost >= maxLost)
}

// config returns the configuration of the engine.Phase that decides about the tasks.
func (o *Options) config(tasks []Task) (engine.Config, error) {
	c := engine.Config{
		Work: make([]float64, len(tasks)), Slots: o.Slots, Interval: o.Interval, Lag: o.Lag, Policy: o.Policy,
		Limits: o.Limits, Machines: o.Machines, MaxFailures: math.MaxInt, MaxLost: math.MaxInt, Journal: o.Journal,
	}
	for i := range tasks {
		if c.Work[i] = tasks[i].Work; c.Work[i] == 0 {
			c.Work[i] = math.NaN() // NaN means not known; in package engine, 0 means that there is nothing to do
		}
	}
	var err error
	if slots := o.slots(); slots > maxPending && len(tasks) > maxPending {
		return c, fmt.Errorf("fanout: Options.Slots is %d, with those of Machines, want %d or less, since a workflow may "+
			"have no more pending activities", slots, maxPending)
	}
	if o.Clone != nil && !o.Shadow {
		c.Clones, err = o.clones(tasks)
	}
	return c, err
}

// clones returns the number of attempts with which each task shall start. Package clone decides it for a job with
// these tasks that has all slots for itself. If package clone would not clone all tasks, clones returns 0, which
// means one attempt.
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
