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

// Task is one activity of a fan-out.
type Task struct {
	// Input is the activity's argument. Nil: it has none.
	Input any
	// Work is its size, in units of your choice: bytes, records. 0: not known. A task with more work is no straggler
	// for taking longer.
	Work float64
	// Deadline is when it should have ended. The zero time is none.
	Deadline time.Time
	// NoCopy says that two attempts of it must never run at once, NoRestart that it must not be killed and run
	// again.
	NoCopy, NoRestart bool
}

// progress is what [Report] told of the task: of one whose work is not known, a share.
func (t *Task) progress(done float64) tracker.Report {
	if t.Work == 0 && done <= 1 {
		return tracker.Report{Score: done}
	}
	return tracker.Report{Done: done}
}

func (t *Task) args() []any {
	if t.Input == nil {
		return nil
	}
	return []any{t.Input}
}

// Options are the choices of a fan-out. The zero value, but for Hosts or Slots, has the library's default policy.
type Options struct {
	// Name tells the fan-outs of a workflow apart: it begins the activities' IDs and the query, see [Query]. Empty:
	// "task".
	Name string
	// Policy says what to do about a running task. Nil: restart.LeastCost{}.
	Policy restart.Policy
	// Limits hold around every policy. The zero value protects; see restart.Limits.
	Limits restart.Limits
	// Hosts are the workers. Each has a task queue of its name, and runs no more than its slots at once. Share them
	// among the fan-outs of one workflow run, which then remember which are bad. Nil: all activities go to the task
	// queue of Activity, and nothing can be kept off a bad host.
	Hosts *engine.Machines
	// Slots is how many activities may run at once. Not used with Hosts.
	Slots int
	// Interval is the time between two polls. 0: a second.
	Interval time.Duration
	// Lag is the usual time from scheduling an activity to its start.
	Lag time.Duration
	// Clone runs several copies of each task of a small fan-out from the start. Nil: never.
	Clone *Clone
	// Laxity orders waiting tasks if any has a deadline; the zero value runs the one with the least laxity first, and
	// those that can't be in time last. Tasks without deadlines run in the order of their work, the largest first.
	Laxity laxity.Policy
	// Activity holds what Temporal wants to know. Fields that are zero get defaults: a HeartbeatTimeout of ten intervals
	// and at least 5 s, after which an attempt counts as lost; a StartToCloseTimeout of a day; and, with Hosts, a
	// ScheduleToStartTimeout of a minute, after which the host counts as gone. Map sets ActivityID, RetryPolicy and
	// WaitForCancellation itself.
	Activity workflow.ActivityOptions
	// MaxFailures is how many attempts of a task may fail before the fan-out does. 0: 4. An error that is not retryable
	// fails it at once; ten attempts that were lost with their hosts do, too.
	MaxFailures int
	// Journal keeps the tracker's journal, for the query. It takes some hundred bytes for each report.
	Journal bool
	// Snapshot is the local activity that lists what runs. Nil: [Snapshot]. Bring your own for heartbeats that only
	// your data converter reads; a replay wants it to have the same name. If it fails, that poll tells nothing.
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
	// A heartbeat is late if some polls in a row have not seen one. It should be well above what a policy needs to
	// notice.
	heartbeatIntervals = 10
	leastHeartbeat     = 5 * time.Second
	defaultLongest     = 24 * time.Hour
	defaultInQueue     = time.Minute
	// As in package engine, which is told never to give up: what it counts depends on the policy.
	defaultMaxFailures = 4
	maxLost            = 10
	// maxPending is the server's limit, limit.numPendingActivities.error. What exceeds it fails the workflow's task
	// again and again, and so the workflow never comes on.
	maxPending = 2000
)

// activityOptions fills in what Temporal needs: a heartbeat timeout of ten intervals and at least 5 s, after which an
// attempt counts as lost; a day for the attempt in all; and, with Hosts, a minute in a host's queue, after which the
// host is taken to be gone. Retrying is left to Map, which knows where else to go.
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

// slots is how many activities may run at once.
func (o *Options) slots() int {
	if o.Hosts != nil && o.Hosts.Slots() > 0 {
		return o.Hosts.Slots()
	}
	return o.Slots
}

// givesUp reports whether a task has failed for good.
func (o *Options) givesUp(t attempts) bool {
	return !t.got && t.running == 0 && (t.failed >= o.MaxFailures || t.lost >= maxLost)
}

// config is what package engine wants to know.
func (o *Options) config(tasks []Task) (engine.Config, error) {
	c := engine.Config{
		Work: make([]float64, len(tasks)), Slots: o.Slots, Interval: o.Interval, Lag: o.Lag, Policy: o.Policy,
		Limits: o.Limits, Machines: o.Hosts, MaxFailures: math.MaxInt, MaxLost: math.MaxInt, Journal: o.Journal,
	}
	for i := range tasks {
		if c.Work[i] = tasks[i].Work; c.Work[i] == 0 {
			c.Work[i] = math.NaN() // not known; to the tracker 0 is a task without work
		}
	}
	var err error
	if slots := o.slots(); slots > maxPending && len(tasks) > maxPending {
		return c, fmt.Errorf("fanout: Options.Hosts or Options.Slots give %d slots for %d tasks, want %d slots or "+
			"fewer: no more activities may be pending in a workflow", slots, len(tasks), maxPending)
	}
	if o.Clone != nil {
		c.Clones, err = o.clones(tasks)
	}
	return c, err
}

// clones asks package clone how many copies of each task there should be, as for a job that has the cluster for itself; 0
// if it is not to be cloned as a whole.
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
