package tracker

import (
	"cmp"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/internal/wire"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// Config describes a phase to a [Tracker]: facts first, then choices.
type Config struct {
	// Tasks is how many tasks the phase has. It may be left 0 if Work is given.
	Tasks int
	// Work is d of each task, in units of your choice: bytes, records. It is copied. 0 is no work, such as an empty
	// partition. A work that is negative, NaN or infinite is unknown and counts as the mean of the others; if none is
	// above 0, the sizes are not known, as with nil: all tasks then count as of the work 1, progress is a share, and
	// restart.LeastCost is careful.
	Work []float64
	// Slots is how many copies of the phase's tasks may run at once; 0 if none may before [Tracker.SetSlots] says so, and
	// [Tracker.Next] then gives a slot nothing. Otherwise a slot that Next is asked about counts as one, whatever this says.
	Slots int
	// Stream says that other phases come all the time, whose tasks will want the slots that are idle now: then an idle slot
	// is not free, and has no last wave. Tell by [Tracker.SetSlots] which of them this phase may use.
	Stream bool
	// Machines is how many machines there are; 0 if not known. Their numbers are the host's, 0 or more.
	Machines int
	// Path tells how many times longer than usual a copy of a task takes on a machine because of the way to its data,
	// or, for the machine -1, at the best place that is open to it: the part of locationFactor that is the task's own
	// [Mantri §5.5]. What is not a positive finite number counts as 1. Nil: 1 everywhere.
	Path func(task, machine int) float64
	// Clones is how many first copies each task may have; see package clone. They are no copies to a budget or a cap,
	// and none is killed for being one too many. [Tracker.Next] asks for those beyond the first once no task waits, so
	// a phase with more tasks than slots gets few. 0 means 1.
	Clones int
	// Interval is Δ, the period of progress reports; the paper has a task report "once every 10s or ten times in [its]
	// lifetime, whichever is smaller" [Mantri §5]. Mantri needs it; to the other policies 0 is none. Less than a
	// microsecond is an error: 10 without a unit is 10 ns.
	Interval time.Duration
	// Lag is schedLag, the usual delay between a decision to start a copy and its start, until it is known from copies
	// that were submitted and have begun: from then on it is their mean delay [Mantri §5.5].
	Lag time.Duration

	// Policy decides; nil means restart.LeastCost{}. An answer that can't be meant, such as to kill a copy that does not exist,
	// counts as Keep and in Ledger.BadAnswers.
	Policy restart.Policy
	// Limits hold around every policy: how often a task may be restarted and copied, and what trials may lose. The zero value
	// protects. While trials are bounded, the tracker keeps their account and fills all facts of package restart for every
	// policy. A LossShare of Off turns that bound off: then a policy is asked and obeyed as it was published.
	Limits restart.Limits
	// Model estimates t_rem. A Window of 0 means 10 intervals here, and a Grace of 0 means 2. Its WrapUp is learned.
	Model estimate.Linear
	// UnitTimes says how t_new is learned. A Floor of 0 means a tenth of the mean work here.
	UnitTimes estimate.UnitTimesConfig
	// Record is what is known of the machines. The tracker feeds it and uses it for t_new at the place where a copy would
	// run, for where no waiting task should start, and for what a copy should avoid. Share one among the phases of a
	// cluster: a bad machine is known after three to six attempts there, for which the first phase pays, and those
	// after it do not; docs/worlds.md says what that is worth. Nil: what the phase itself has seen of them, if Machines is
	// above 0 and trials are bounded; else all machines are alike.
	Record MachineRecord
	// Experience is what phases of this kind have shown: how long tasks take, how their progress runs, and what came of
	// restarts and copies. It learns from this phase too: share one among the phases of a kind. Phases of few tasks know
	// next to nothing without it. Nil: nothing is known before the phase's first tasks end. Each of the phases must
	// [Tracker.Close] in the end.
	Experience *Experience
	// Shape is how progress runs alone, and how far predictions from it are off, shared by phases whose progress runs
	// alike though their tasks are of different kinds. Nil: that of the Experience.
	Shape *survival.Shape
	// Budget bounds the copies of all the phases that share it. A [Budget] always lets one copy run, so that no phase
	// waits for ever for an attempt that hangs. Nil: no bound. Each of them must [Tracker.Close] in the end.
	Budget Limiter
	// OnEvent is called after each event, with the tracker's answer: to record it, as package journal does, to log it
	// or to count it. It must not call the tracker, and can't change an answer. Nil: nothing.
	OnEvent func(Event, Answer)
}

// maxTasks keeps every index and count within 31 bits.
const maxTasks = 1 << 30

// leastInterval is what copies can report in. A shorter one is a number that was meant in another unit.
const leastInterval = time.Microsecond

// maxClones bounds the first copies of a task.
const maxClones = 100

// place begins the errors about fields.
const place = "restart/tracker: Config"

// fill checks the configuration and fills in its defaults.
func (c *Config) fill() error {
	if err := restart.Validate(c.Policy); err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	if c.Policy == nil {
		c.Policy = restart.LeastCost{}
	}
	if c.Work != nil {
		c.Tasks = len(c.Work)
	}
	var mean float64
	c.Work, mean = num.Works(c.Work, c.Tasks)
	if c.Model.Window == 0 {
		c.Model.Window = num.Times(c.Interval, 10)
	}
	if c.Model.Grace == 0 {
		c.Model.Grace = num.Times(c.Interval, 2)
	}
	c.Clones = max(c.Clones, 1)
	if c.Record != nil {
		c.UnitTimes.Factors = c.Record
	}
	if c.UnitTimes.Floor == 0 {
		c.UnitTimes.Floor = mean / 10
	}
	if err := c.Model.Validate(); err != nil {
		return fmt.Errorf("restart/tracker: Config.Model: %w", err)
	}
	return nil
}

func (c *Config) check() error {
	switch {
	case c.Tasks == 0 && c.Work == nil:
		return check.Bad(place, "Tasks", 0, "a positive number, or Work; an empty Work for a phase without tasks")
	case c.Tasks < 0 || c.Tasks > maxTasks:
		return check.Bad(place, "Tasks", c.Tasks, "1 to 2^30, or 0 if Work is given")
	case c.Work != nil && c.Tasks != 0 && c.Tasks != len(c.Work):
		return check.Bad(place, "Tasks", c.Tasks, fmt.Sprintf("0 or len(Work), which is %d", len(c.Work)))
	case len(c.Work) > maxTasks:
		return check.Bad(place, "len(Work)", len(c.Work), "0 to 2^30")
	case c.Slots < 0 || c.Slots > maxTasks:
		return check.Bad(place, "Slots", c.Slots, "0 to 2^30")
	case c.Machines < 0 || c.Machines > maxTasks:
		return check.Bad(place, "Machines", c.Machines, "0 to 2^30; 0 if not known")
	case c.Interval < 0, c.Interval == 0 && rules.Describe(c.Policy).Has(rules.Interval):
		return check.Bad(place, "Interval", c.Interval, "a positive duration: how often copies report")
	case c.Interval > 0 && c.Interval < leastInterval:
		return check.Bad(place, "Interval", c.Interval, "at least 1µs: a time.Duration counts nanoseconds, so ten seconds are 10*time.Second")
	case c.Clones < 0 || c.Clones > maxClones:
		return check.Bad(place, "Clones", c.Clones, "1 to 100, or 0 for 1")
	case c.Lag < 0:
		return check.Bad(place, "Lag", c.Lag, "0 or more")
	case check.Nil(c.Record):
		return check.Bad(place, "Record", fmt.Sprintf("a nil %T", c.Record), "a record, or nil itself for none")
	case check.Nil(c.Budget):
		return check.Bad(place, "Budget", fmt.Sprintf("a nil %T", c.Budget), "a limiter, or nil itself for none")
	}
	return nil
}

// wire lists the fields that are data; the policy is the text of package rules.
func (c *Config) wire(w *wire.Codec) {
	w.Int("tasks", &c.Tasks)
	w.When(c.Work != nil).Floats("work", &c.Work) // without tasks it is not nil
	w.Int("slots", &c.Slots)
	w.Int("machines", &c.Machines)
	w.Bool("stream", &c.Stream)
	w.Int("clones", &c.Clones)
	w.Duration("interval", &c.Interval)
	w.Duration("lag", &c.Lag)
	w.When(c.Policy != nil).Enum("policy", named{&c.Policy})
	wire.Struct(&c.Limits, w)
	w.Duration("window", &c.Model.Window)
	w.Duration("grace", &c.Model.Grace)
	w.Duration("wrap-up", &c.Model.WrapUp)
	w.Int("min-samples", &c.UnitTimes.MinSamples)
	w.Float("floor", &c.UnitTimes.Floor)
	w.Bool("fixed-overhead", &c.UnitTimes.FixedOverhead)
	w.Bool("keep-first-wave", &c.UnitTimes.KeepFirstWave)
}

// MarshalJSON returns the fields that are not zero, kebab-case, durations in seconds, a Policy as [rules.Text] writes
// it, and one of the host's own as custom. What the host supplies or shares is left out: Budget, Record, Shape, Experience, Path,
// Prior, Factors, OnEvent.
func (c Config) MarshalJSON() ([]byte, error) { return wire.JSON(c.wire) }

// UnmarshalJSON sets the configuration to what MarshalJSON wrote; set what that leaves out behind it.
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, (*Config).wire) }

// named is a policy by its text.
type named struct{ policy *restart.Policy }

// String returns the text, or custom.
func (n named) String() string { return cmp.Or(rules.Text(*n.policy), "custom") }

// MarshalText returns the text.
func (n named) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads the text.
func (n named) UnmarshalText(text []byte) (err error) {
	*n.policy, err = rules.Parse(string(text))
	return err
}
