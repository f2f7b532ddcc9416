package engine

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
)

// Config describes a phase: facts first, then choices.
type Config struct {
	// Config is the tracker's: Tasks or Work, Policy and so on. Interval must be positive: how often Observe is called. If
	// the Hosts have slots, Slots and Machines are theirs; else no task is started, and no copy made, before Slots or
	// [Phase.SetSlots] says that there is room. A Model.Grace of 0 means 4 intervals here, not 2: a
	// poll sees what was reported some time ago.
	restart.Config
	// Hosts are where copies run. Nil: they are learned as they are seen, and the engine places.
	Hosts *Hosts
	// Queued says that the engine holds every task from the start and runs it unasked, as a job array. Then Observe submits
	// only copies, restarts, and what was lost.
	Queued bool

	// Clones is how many more copies of each task are submitted with its first, while there are slots; see package clone.
	// It is not read if Queued is set. A Budget counts them, but does not refuse them. Nil, or a negative number: none.
	Clones []int
	// Order puts the waiting tasks in the order in which they should start, the first one first; see package laxity. It
	// must only exchange places. Nil: most work first, as Mantri does, then the lowest index.
	Order func(now time.Time, waiting []int)
	// MaxFailures is how many attempts of a task may fail before the task is given up, and MaxLost how many may be lost.
	// 0 means 4, as in Hadoop and Spark, and 10.
	MaxFailures, MaxLost int
	// Journal keeps a journal of all that the tracker is told.
	Journal bool
}

const (
	graceIntervals     = 4
	defaultMaxFailures = 4
	defaultMaxLost     = 10
)

func (c *Config) fill() error {
	switch {
	case c.Interval <= 0:
		return badField("Config.Interval", c.Interval, "a positive duration: how often Observe is called")
	case c.Clones != nil && len(c.Clones) != max(c.Tasks, len(c.Work)):
		return badField("Config.Clones", fmt.Sprintf("of length %d", len(c.Clones)), "a number for each task")
	case c.MaxFailures < 0:
		return badField("Config.MaxFailures", c.MaxFailures, "a positive number, or 0 for the default")
	case c.MaxLost < 0:
		return badField("Config.MaxLost", c.MaxLost, "a positive number, or 0 for the default")
	}
	if c.Model.Grace == 0 {
		c.Model.Grace = min(c.Interval, num.MaxDuration/graceIntervals) * graceIntervals
	}
	if c.Work != nil {
		c.Work, _ = num.Works(c.Work, len(c.Work)) // it is looked at later
	}
	if c.MaxFailures == 0 {
		c.MaxFailures = defaultMaxFailures
	}
	if c.MaxLost == 0 {
		c.MaxLost = defaultMaxLost
	}
	if c.Hosts == nil {
		c.Hosts = &Hosts{index: map[string]int{}, strikes: defaultStrikes, rest: defaultRest}
	}
	if c.Hosts.placing() {
		c.Slots, c.Machines = c.Hosts.Slots(), len(c.Hosts.list)
	} else if c.Machines == 0 {
		c.Machines = len(c.Hosts.list)
	}
	return nil
}

func badField(field string, value any, want string) error {
	return fmt.Errorf("restart/engine: %s is %v, want %s", field, value, want)
}

// tracker is a [restart.Tracker], with or without a journal.
type tracker interface {
	SetSlots(slots int)
	SetEligible(task int, duplicate, restart bool)
	Submit(now time.Time, task, machine int) int
	Begin(now time.Time, task, attempt, machine int)
	Start(now time.Time, task, machine int) int
	Report(now time.Time, task, attempt int, p restart.Progress) restart.Decision
	Finish(now time.Time, task, attempt int, dst []int) []int
	Fail(now time.Time, task, attempt int)
	Kill(now time.Time, task, attempt int)
	Restart(now time.Time, task, attempt int)
	GiveUp(now time.Time, task int)
	Decide(now time.Time, task int) restart.Decision
	Next(now time.Time, machine int) (int, restart.Decision)
	Sweep(now time.Time, visit func(task int, d restart.Decision))
	Phase() restart.Phase
	Ledger() restart.Ledger
	Rates() *estimate.Rates
}

func newTracker(c Config) (tracker, *journal.Recorder, error) {
	if !c.Journal {
		t, err := restart.NewTracker(c.Config)
		return t, nil, err
	}
	r, err := journal.NewRecorder(c.Config)
	return r, r, err
}
