package engine

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Config describes a phase: facts first, then choices.
type Config struct {
	// Config is the tracker's: Tasks or Work, Policy and so on. Interval must be positive: how often Observe is called. If
	// the Hosts have slots, Slots and Machines are theirs; else no task is started, and no copy made, before Slots or
	// [Phase.SetSlots] says that there is room. A Model.Grace of 0 means 4 intervals here, not 2: a
	// poll sees what was reported some time ago.
	tracker.Config
	// Hosts are where copies run. Nil: they are learned as they are seen, and the engine places.
	Hosts *Hosts
	// Queued says that the engine holds every task from the start and runs it unasked, as a job array. Then Observe
	// submits only copies, restarts, and what was lost; Clones is not read.
	Queued bool

	// Order puts the waiting tasks in the order in which they should start, the first one first; see package laxity. It
	// must only exchange places. Nil: most work first, as Mantri does, then the lowest index.
	Order func(now time.Time, waiting []int)
	// MaxFailures is how many attempts of a task may fail before the task is given up, and MaxLost how many may be
	// lost. As many as MaxLost are withdrawn from the queues of hosts that go away, each the only one of its task; the
	// next stays where it waits. So a task is submitted a bounded number of times. 0 means 4, as in Hadoop and Spark,
	// and 10.
	MaxFailures, MaxLost int
	// Journal keeps a journal of all that the tracker is told.
	Journal bool
}

const (
	graceIntervals     = 4
	defaultMaxFailures = 4
	defaultMaxLost     = 10
	phaseNumbers       = 1 << 16 // of [tracker.Config.Phase]; the first one's record is past by the time that it comes again
)

func (c *Config) fill() error {
	switch {
	case c.Interval <= 0:
		return badField("Config.Interval", c.Interval, "a positive duration: how often Observe is called")
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
	if c.Queued {
		c.Clones = 0
	}
	if c.MaxFailures == 0 {
		c.MaxFailures = defaultMaxFailures
	}
	if c.MaxLost == 0 {
		c.MaxLost = defaultMaxLost
	}
	if c.Hosts == nil {
		c.Hosts = &Hosts{}
	}
	c.Hosts.fill()
	if c.Record == nil {
		c.Record = c.Hosts.record
	}
	if c.Record != c.Hosts.record {
		return badField("Config.Record", "another than that of Hosts", "nil: give it to HostsConfig.Record")
	}
	c.Phase = c.Hosts.phases % phaseNumbers
	c.Hosts.phases++
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

// newTracker returns the tracker, and the recorder that watches it if there is a journal.
func newTracker(c Config) (*tracker.Tracker, *journal.Recorder, error) {
	if !c.Journal {
		t, err := tracker.New(c.Config)
		return t, nil, err
	}
	record, told := journal.NewRecorder(c.Config), c.Observe
	c.Observe = func(e tracker.Event, a tracker.Answer) {
		record.Observe(e, a)
		if told != nil {
			told(e, a)
		}
	}
	t, err := tracker.New(c.Config)
	return t, record, err
}
