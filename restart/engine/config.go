package engine

import (
	"cmp"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Config describes a phase: first the facts, then the choices. A field without an explanation is as in
// [tracker.Config].
type Config struct {
	// Tasks is the number of tasks. Tasks may be 0 if Work is given: then the length of Work counts.
	Tasks int
	// Work is the amount of work of each task, in a unit of your choice, for example bytes. Nil: no work is
	// known.
	Work []float64
	// Interval is the time between two calls of Poll; a positive duration.
	Interval time.Duration
	// Machines are where attempts run. Nil: the phase learns the machines' names from the attempts, and the
	// engine's own scheduler places the attempts.
	Machines *Machines
	// Slots is the number of attempts that may run at once, if the Machines have no slots of their own. 0: the
	// phase submits no task and no copy until [Phase.SetSlots] gives it slots.
	Slots int
	// Preloaded says that the engine holds every task from the start and runs it unasked, as a job array does.
	// Then Poll submits only copies, restarts and tasks that lost their attempt, and Clones is ignored.
	Preloaded bool
	// Lag is the time that an attempt usually takes from Submit until it begins. The value is used until
	// attempts have shown their own. 0: none.
	Lag time.Duration
	// Path returns how many times longer a copy of a task takes on a machine because of the way to the task's
	// data: 1 is no difference. A machine's number is its index in MachinesConfig.Machines. Nil: no difference
	// anywhere.
	Path func(task, machine int) float64

	// Policy decides about slow tasks. Nil means restart.LeastCost{}.
	Policy restart.Policy
	// Limits hold whatever the policy is. The zero value has all limits at their defaults.
	Limits restart.Limits
	// Clones is the number of first attempts that each task may have. 0 means 1.
	Clones int
	// Order sorts the indices of the waiting tasks: the first task starts first. See package laxity. Order may
	// only permute the slice. Nil: the task with the most work goes first, as in Mantri, and among equals the
	// task with the lowest index.
	Order func(now time.Time, waiting []int)
	// Budget bounds the copies of all phases that share it. Nil: no bound.
	Budget tracker.Limiter
	// Experience holds the run times of earlier phases of this kind. Shape is the usual course of their
	// progress over time. Nil: nothing is known. See [tracker.Config].
	Experience *tracker.Experience
	Shape      *survival.Shape
	// UnitTimes configures the estimate of the time that a unit of work takes.
	UnitTimes estimate.UnitTimesConfig
	// MaxFailures is the number of failed attempts after which a task is given up. 0 means 4, as in Hadoop and
	// Spark. MaxLost is the number of lost attempts after which a task is given up. 0 means 10.
	//
	// MaxLost also bounds withdrawals. If a task waits in the queue of a machine that goes down, its only
	// attempt is withdrawn and submitted elsewhere. After MaxLost withdrawals the task's attempt stays in its
	// queue. So the number of submissions of a task is bounded.
	MaxFailures, MaxLost int
	// Trace is how long an attempt may be missing from the engine's lists. 0 means 20 intervals, or 8 times the
	// recent submit lag if that is longer; the submit lag is the longest time from Submit until the attempt was
	// first seen.
	//
	//   - An attempt that was submitted, asked for again twice and never seen is cancelled after Trace. Its
	//     task is submitted under a new ID. Each time that this happens to a task, the task's Trace doubles.
	//   - An attempt that was seen, and is missing for Trace from lists that show other attempts, counts as
	//     lost.
	//   - An attempt that was cancelled and is missing for Trace counts as ended.
	Trace time.Duration
	// Journal turns on the journal: a text of every event that the tracker is told. See [Phase.Journal].
	Journal bool
	// OnEvent is called after each event of the tracker, as in [tracker.Config]. Nil: no call.
	OnEvent func(tracker.Event, tracker.Answer)
}

const (
	graceIntervals     = 4  // in intervals: a report is up to this old when Poll sees it
	traceIntervals     = 20 // in intervals: the default of Trace
	defaultMaxFailures = 4
	defaultMaxLost     = 10
)

// place is the start of the errors about fields of Config.
const place = "restart/engine: Config"

// fill checks the fields and sets the defaults of the fields that are 0.
func (c *Config) fill() error {
	if c.Interval <= 0 {
		return check.Bad(place, "Interval", c.Interval, "a positive duration, the time between two calls of Poll")
	}
	if err := cmp.Or(
		check.Count(place, "MaxFailures", c.MaxFailures, false),
		check.Count(place, "MaxLost", c.MaxLost, false),
		check.Length(place, "Trace", c.Trace),
	); err != nil {
		return err
	}
	if num.Sized(c.Work) {
		c.Work, _ = num.Works(c.Work, len(c.Work)) // a copy, since the phase reads it later
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

// tracker returns the configuration of the phase's tracker. The tracker calls observe only if somebody wants
// the events.
func (c *Config) tracker(observe func(tracker.Event, tracker.Answer)) tracker.Config {
	t := tracker.Config{
		Tasks: c.Tasks, Work: c.Work, Slots: c.Slots, Machines: c.Machines.set.Len(), Path: c.Path, Clones: c.Clones,
		Interval: c.Interval, Lag: c.Lag, Policy: c.Policy, Limits: c.Limits,
		Model:     estimate.Linear{Grace: num.Times(c.Interval, graceIntervals)},
		UnitTimes: c.UnitTimes, Record: c.Machines.record, Shape: c.Shape, Experience: c.Experience, Budget: c.Budget,
	}
	if c.Machines.set.Placing() {
		t.Slots = c.Machines.set.Slots()
	}
	if c.Journal || c.OnEvent != nil {
		t.OnEvent = observe
	}
	return t
}
