package engine

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Config describes a phase: a group of tasks that do the same work on different data. The facts come first, and then
// the choices of the operator. Fields that tracker.Config has as well are explained in full at [tracker.Config].
type Config struct {
	// Tasks is the number of tasks. If Work is given, Tasks may be 0: then the number of tasks is len(Work).
	Tasks int
	// Work is the amount of work of each task, in a unit of your choice, for example bytes. Nil means that no work is
	// known.
	Work []float64
	// Interval is the time between two calls of Poll. It must be positive.
	Interval time.Duration
	// Machines are the machines on which attempts run. Nil means that the phase learns the machines' names from the
	// attempts, and that the engine's own scheduler places the attempts.
	Machines *Machines
	// Slots is the number of attempts that may run at once. It is used if the Machines have no slots of their own.
	// With 0, the phase submits no task and no copy until [Phase.SetSlots] gives it slots.
	Slots int
	// Preloaded says that the engine receives all tasks at the start and runs them without a Submit, as a job array
	// does. Then Poll submits only copies, restarts, and tasks that have lost their attempt. Clones is ignored.
	Preloaded bool
	// EngineRetries says that the engine starts each task and tries it again by itself, as the workers of a job queue do.
	// The phase then submits copies alone. A task whose attempt has failed, was lost or was cancelled waits for the next
	// attempt that the engine shows, whatever its ID. To rescue a task whose attempt hangs, the phase cancels the attempt,
	// with a Restart of the policy or with the reason restart.Overdue: the adapter ends it, or puts the job back. A task
	// whose copy has failed gets no other copy as long as its attempt runs. Preloaded is implied. Clones, MaxFailures,
	// MaxLost, BackOff and Failures must be zero.
	EngineRetries bool
	// Recent says that the phase grows, such as a phase of all jobs of a queue: see [Phase.Add] and [Phase.Forget]. Recent is
	// how long a task counts after its end. Tasks and Work are the first tasks, and may be left out. See [tracker.Config].
	Recent time.Duration
	// Stream says that other phases will want the slots that are idle now, as in a queue of single jobs. Then the policy
	// does not take an idle slot as free. See [tracker.Config].
	Stream bool
	// Lag is the usual time from the Submit of an attempt until the attempt begins. It is used until real attempts
	// have shown this time. 0 means no delay.
	Lag time.Duration
	// Path returns the factor by which a copy of a task takes longer on a machine because the task's data is far
	// away. 1 is no difference. The number of a machine is its index in MachinesConfig.Machines. Nil means that there
	// is no difference anywhere.
	Path func(task, machine int) float64

	// Policy decides about slow tasks. Nil means restart.LeastCost{}.
	Policy restart.Policy
	// Shadow turns on the shadow mode: the phase asks the policy, and carries out none of its decisions. It calls Shadow
	// with the first decision to copy, restart or kill an attempt of each task, and asks no more about the task. Failed
	// and lost attempts are submitted again as usual. Package shadow computes the time that the decisions would have
	// saved. Nil means that decisions are carried out.
	Shadow func(task int, d restart.Decision)
	// Limits bounds restarts, copies and lost slot time. The limits apply to every policy. In the zero value all
	// limits have their defaults.
	Limits restart.Limits
	// Clones is the number of first attempts that each task may have at once, before anything is slow. 0 means 1.
	Clones int
	// Order sorts the indices of the waiting tasks. The first task in the order starts first; see package laxity.
	// Order may only permute the slice. If Order is nil, the task with the most work starts first, as in the Mantri
	// paper. Of tasks with equal work, the task with the lowest index starts first.
	Order func(now time.Time, waiting []int)
	// Budget bounds the copies of all phases that share it. Nil means that there is no bound.
	Budget tracker.Limiter
	// Kind is the kind of the phase: phases of the same kind do the same work. The Knowledge of Machines has what they
	// have shown, such as their run times, and this phase adds to it. "" means that nothing is known about the kind. See
	// [tracker.Config].
	Kind string
	// UnitTimes configures the estimate of the time that one unit of work takes.
	UnitTimes estimate.UnitTimesConfig
	// MaxFailures is the number of failed attempts after which a task is given up. 0 means 4, as in Hadoop and Spark.
	// MaxLost is the number of lost attempts after which a task is given up. 0 means 10.
	//
	// MaxLost is also a bound for another case. If a task waits in the queue of a machine that goes down, its only
	// attempt is withdrawn, and the task is submitted elsewhere. After MaxLost withdrawals the task's attempt stays
	// in its queue. So the number of submissions of a task is bounded.
	MaxFailures, MaxLost int `want:"count"`
	// BackOff returns how long a failed task waits until it is submitted again. Argument failures is the number of its
	// failed attempts so far, 1 or more. In this time the task occupies no slot. Nil means that the task is submitted
	// again at once. A task that lost its machine never waits.
	BackOff func(task, failures int) time.Duration
	// Timeout is the longest time that an attempt may run. An attempt that runs for longer is cancelled, and counts as
	// failed. 0 means that there is no such time: then give attempts a hard timeout in the engine.
	Timeout time.Duration `want:"length"`
	// Patience lets the phase learn a shorter timeout from the phases of its Kind. For example, if Patience is 4, an
	// attempt may run for four times the longest run time of its kind that is known, multiplied by 2 for each failure
	// of its task. So a task that is long by itself may end: after five failures it may take 128 times as long as the
	// others. If the works of tasks are known, run times are scaled by the work; see tracker.Knowledge.Longest. A
	// learned timeout is at least 20 intervals and at most Timeout. Timeout holds as long as fewer than 32 run times
	// are known. 0 means that nothing is learned.
	Patience float64 `want:"1 to 1e6"`
	// Failures is the number of attempts of each task that failed before this phase, for tasks that ran in another
	// phase. It counts for BackOff, MaxFailures and Patience. Nil means that no attempt failed.
	Failures []int
	// Trace is how long an attempt may be missing from the engine's lists. 0 means 20 intervals, or 8 times the
	// recent submit lag if that is longer. The submit lag is the longest time from a Submit until the attempt was
	// first listed.
	//
	//   - An attempt that was submitted, was requested twice more and was never listed is cancelled after the time
	//     Trace. Its task is submitted under a new ID. Each time that this happens to a task, the task's Trace
	//     doubles.
	//   - An attempt that was listed before, and is now missing for the time Trace, is treated as lost. The lists of
	//     this time must show other attempts.
	//   - An attempt that was cancelled, and is missing for the time Trace, is treated as ended.
	//
	// In all three cases the attempt no longer occupies its slot, and the same call may submit another attempt there.
	// [Action] says what an adapter does if the missing attempt may still run.
	Trace time.Duration `want:"length"`
	// Journal turns on the journal: a text with every event that is reported to the tracker. See [Phase.Journal].
	Journal bool
	// OnEvent is called after each event that is reported to the tracker, as in [tracker.Config]. Nil means that
	// nothing is called.
	OnEvent func(tracker.Event, tracker.Answer)
}

const (
	// A progress report may be up to this many intervals old when Poll receives it.
	graceIntervals = 4
	// The default of Config.Trace, and the shortest learned timeout, in intervals.
	traceIntervals = 20
	// The number of run times from which a timeout is learned. With so many, the next run time is the longest of all
	// three times in a hundred, if the kind does not change.
	enoughRunTimes = 32
	// The number of failed attempts after which a task is given up.
	defaultMaxFailures = 4
	// The number of lost attempts after which a task is given up.
	defaultMaxLost = 10
)

// place is the beginning of each error about a field of Config.
const place = "restart/engine: Config"

// fill validates the fields, and replaces fields that are 0 by their defaults.
func (c *Config) fill() error {
	if c.Interval <= 0 {
		return check.Bad(place, "Interval", c.Interval, "a positive duration, the time between two calls of Poll")
	}
	if err := check.Valid(*c); err != nil {
		return err
	}
	if c.EngineRetries {
		for _, f := range [...]struct {
			name string
			is   any
			set  bool
		}{
			{"Clones", c.Clones, c.Clones > 1}, {"MaxFailures", c.MaxFailures, c.MaxFailures != 0},
			{"MaxLost", c.MaxLost, c.MaxLost != 0}, {"BackOff", "a function", c.BackOff != nil},
			{"Failures", len(c.Failures), len(c.Failures) > 0},
		} {
			if f.set {
				return check.Bad(place, f.name, f.is, "nothing beside EngineRetries: the engine tries tasks again by its own rules")
			}
		}
		c.Preloaded, c.MaxFailures, c.MaxLost = true, math.MaxInt32, math.MaxInt32
	}
	if n := len(c.Failures); n > max(c.Tasks, len(c.Work)) {
		return check.Bad(place, "Failures", n, "an element for each task, or nil")
	}
	if num.Sized(c.Work) {
		// The slice is copied, because the phase reads it later.
		c.Work, _ = num.Works(c.Work, len(c.Work))
	} else if len(c.Work) > 0 {
		c.Tasks, c.Work = len(c.Work), nil
	}
	if c.Preloaded {
		c.Clones = 0
	}
	c.MaxFailures = check.Or(c.MaxFailures, defaultMaxFailures)
	c.MaxLost = check.Or(c.MaxLost, defaultMaxLost)
	c.Machines = c.Machines.fill()
	return nil
}

// tracker returns the configuration of the phase's tracker. The tracker gets the function observe only if Config asks
// for the journal or for events.
func (c *Config) tracker(observe func(tracker.Event, tracker.Answer)) tracker.Config {
	t := tracker.Config{
		Tasks: c.Tasks, Work: c.Work, Slots: c.Slots, Machines: c.Machines.set.Len(), Path: c.Path, Clones: c.Clones,
		Stream: c.Stream, Recent: c.Recent, Interval: c.Interval, Lag: c.Lag, Policy: c.Policy, Limits: c.Limits,
		Model:     estimate.Linear{Grace: num.Times(c.Interval, graceIntervals)},
		UnitTimes: c.UnitTimes, Knowledge: c.Machines.knowledge, Kind: c.Kind, Budget: c.Budget,
	}
	if c.Machines.set.Placing() {
		t.Slots = c.Machines.set.Slots()
	}
	if c.Journal || c.OnEvent != nil {
		t.OnEvent = observe
	}
	return t
}
