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

// Config describes a phase: facts first, then choices. What it does not explain is as in [tracker.Config].
type Config struct {
	// Tasks is how many tasks there are; it may be left 0 if Work is given.
	Tasks int
	// Work is how much each task has to do, in units of your choice; nil: it is not known.
	Work []float64
	// Interval is how often Poll is called. It must be positive.
	Interval time.Duration
	// Machines are where attempts run. Nil: they are learned as they are seen, and the engine places.
	Machines *Machines
	// Slots is how many attempts may run at once, if the Machines have no slots of their own: then no task is started, and
	// no copy made, before Slots or [Phase.SetSlots] says that there is room.
	Slots int
	// Preloaded says that the engine holds every task from the start and runs it unasked, as a job array. Then Poll
	// submits only copies, restarts, and what was lost; Clones is not read.
	Preloaded bool
	// Lag is the usual time from a decision to submit to the begin, until it is known from attempts.
	Lag time.Duration
	// Path says how many times longer a copy of a task takes on a machine because of the way to its data. The number of a
	// machine is its place in MachinesConfig.Machines.
	Path func(task, machine int) float64

	// Policy decides; nil means restart.LeastCost{}.
	Policy restart.Policy
	// Limits hold around every policy. The zero value protects.
	Limits restart.Limits
	// Clones is how many first copies each task may have. 0 means 1.
	Clones int
	// Order puts the waiting tasks in the order in which they should start, the first one first; see package laxity. It
	// must only exchange places. Nil: most work first, as Mantri does, then the lowest index.
	Order func(now time.Time, waiting []int)
	// Budget bounds the copies of all the phases that share it. Nil: no bound.
	Budget tracker.Limiter
	// Experience is what phases of this kind have shown, and Shape how progress runs alone; see [tracker.Config].
	Experience *tracker.Experience
	Shape      *survival.Shape
	// UnitTimes says how the time that a unit of work takes is learned.
	UnitTimes estimate.UnitTimesConfig
	// MaxFailures is how many attempts of a task may fail before the task is given up, and MaxLost how many may be
	// lost. As many as MaxLost are withdrawn from the queues of machines that go away, each the only one of its task; the
	// next stays where it waits. So a task is submitted a bounded number of times. 0 means 4, as in Hadoop and Spark,
	// and 10.
	MaxFailures, MaxLost int
	// Trace is for how long an attempt may be missing from what the engine shows. One that was submitted, asked for
	// again twice, and not seen for that long is cancelled, and submitted under another name; the next of the same task
	// gets twice the time, and so on. One that was seen, and is in no list for that long while others are, is lost; if
	// it was cancelled, it is over. 0 means 20 intervals, or 8 times the longest that a submitted one took lately until
	// it was seen, if that is longer.
	Trace time.Duration
	// Journal keeps a journal of all that the tracker is told.
	Journal bool
	// OnEvent is called after each event of the tracker, as tracker.Config says. Nil: nothing.
	OnEvent func(tracker.Event, tracker.Answer)
}

const (
	graceIntervals     = 4 // a poll sees what was reported some time ago
	traceIntervals     = 20
	defaultMaxFailures = 4
	defaultMaxLost     = 10
)

// place begins the errors about fields.
const place = "restart/engine: Config"

func (c *Config) fill() error {
	if c.Interval <= 0 {
		return check.Bad(place, "Interval", c.Interval, "a positive duration: how often Poll is called")
	}
	if err := cmp.Or(
		check.Count(place, "MaxFailures", c.MaxFailures, false),
		check.Count(place, "MaxLost", c.MaxLost, false),
		check.Length(place, "Trace", c.Trace),
	); err != nil {
		return err
	}
	if num.Sized(c.Work) {
		c.Work, _ = num.Works(c.Work, len(c.Work)) // it is looked at later
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

// tracker returns the configuration of the phase's tracker, whose events are observed if anybody wants them.
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
