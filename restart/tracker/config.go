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

// Config describes a phase to a [Tracker]. The facts come first, then the choices.
type Config struct {
	// Tasks is how many tasks the phase has. It may be 0 if Work is given.
	Tasks int
	// Work is d, the size of each task's input, in units of your choice: bytes, records. New copies the slice. 0 is no
	// work, such as an empty partition. A negative, NaN or infinite value is unknown, and counts as the mean of the
	// known works. If no value is above 0, or Work is nil, sizes are not known. Then each task counts as work 1,
	// progress is a share, and restart.LeastCost risks less.
	Work []float64
	// Slots is how many attempts of the phase's tasks may run at once. If Slots is 0, no attempt may run until
	// [Tracker.SetSlots] gives the phase slots, and [Tracker.Next] answers Keep. Otherwise Next counts the offered
	// slot as free, even if all Slots are taken.
	Slots int
	// Stream says that other phases come all the time, and that their tasks will want the slots that are idle now.
	// Then an idle slot is not free of cost, and the phase has no last wave. Say by [Tracker.SetSlots] which idle
	// slots this phase may use.
	Stream bool
	// Machines is how many machines there are; 0 if not known. The host numbers its machines by integers of 0 or more.
	Machines int
	// Path returns the part of locationFactor that belongs to the task [Mantri §5.5]: how many times longer than usual
	// an attempt of the task takes on a machine because of the way to its data. For the machine -1, Path returns the
	// factor of the best machine that a new attempt can get. A result that is not positive and finite counts as 1.
	// Nil: 1 everywhere.
	Path func(task, machine int) float64
	// Clones is how many clones each task may have; see package clone. 0 means 1. Clones do not count as copies for a
	// budget or a cap, and no clone is killed as surplus. [Tracker.Next] asks for further clones once no task waits,
	// so a phase with more tasks than slots gets few.
	Clones int
	// Interval is Δ, the period of progress reports. The paper has a task report "once every 10s or ten times in [its]
	// lifetime, whichever is smaller" [Mantri §5]. Mantri needs it; for the other policies 0 means that there is no
	// period. A value below one microsecond is an error: 10 without a unit is 10 ns.
	Interval time.Duration
	// Lag is schedLag, the typical delay between a decision to start an attempt and its start [Mantri §5.5]. Once
	// submitted attempts have begun, the tracker uses their mean delay in its place.
	Lag time.Duration

	// Policy decides; nil means restart.LeastCost{}. An impossible answer, such as to kill an attempt that does not
	// exist, counts as Keep and in Ledger.BadAnswers.
	Policy restart.Policy
	// Limits hold for every policy: how often a task may be restarted and copied, and how much slot time trials may
	// lose. The zero value protects. While trials are bounded, the tracker keeps their account and fills all facts of
	// package restart for every policy. A LossShare of Off turns the bound off; then the policy gets only the facts
	// that it reads, and decides exactly as it was published.
	Limits restart.Limits
	// Model estimates t_rem. A Window of 0 means 10 intervals here, and a Grace of 0 means 2 intervals. The tracker
	// learns its WrapUp.
	Model estimate.Linear
	// UnitTimes configures how the tracker learns t_new. A Floor of 0 means a tenth of the mean work here.
	UnitTimes estimate.UnitTimesConfig
	// Record holds the observations of the machines. The tracker feeds it. The tracker reads it for t_new on the
	// machine where a copy would run, for machines where no waiting task should start, and for machines that a copy
	// should avoid. Share one Record among the phases of a cluster: a bad machine is known after three to six attempts
	// there, and only the first phase pays for them. The page docs/worlds.md says how much a shared record saves. Nil:
	// the tracker keeps a record of its own if Machines is above 0 and trials are bounded; otherwise all machines
	// count as alike.
	Record MachineRecord
	// Experience is the shared knowledge of phases of this kind: how long tasks take, how their progress runs, and how
	// restarts and copies came out. It learns from this phase, too. Phases of few tasks know almost nothing without
	// it. Nil: nothing is known before the first tasks of the phase end. Each phase that shares an Experience must
	// [Tracker.Close] in the end.
	Experience *Experience
	// Shape holds how progress runs, and how far predictions from progress are off. Phases of different kinds may
	// share a Shape if their progress runs alike. Nil: the Shape of the Experience.
	Shape *survival.Shape
	// Budget bounds the copies of all the phases that share it. A [Budget] always lets one copy run, so that no phase
	// waits for ever for a hung attempt. Nil: no bound. Each phase that shares a Budget must [Tracker.Close] in the
	// end.
	Budget Limiter
	// OnEvent is called after each event, with the tracker's answer: to record both, as package journal does, to log
	// or to count them. It must not call the tracker, and cannot change an answer. Nil: no call.
	OnEvent func(Event, Answer)
}

// maxTasks keeps every index and count within 31 bits.
const maxTasks = 1 << 30

// leastInterval is the shortest period in which attempts can report. A shorter value is a number that was meant in
// another unit.
const leastInterval = time.Microsecond

// maxClones bounds the clones of a task.
const maxClones = 100

// place is the prefix of errors about fields.
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
		return check.Bad(place, "Interval", c.Interval, "a positive duration: how often attempts report")
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

// wire lists the fields that are data. The policy is written as the text of package rules.
func (c *Config) wire(w *wire.Codec) {
	w.Int("tasks", &c.Tasks)
	w.When(c.Work != nil).Floats("work", &c.Work) // a phase without tasks has an empty Work, not a nil one
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

// MarshalJSON returns the fields that are not zero, with kebab-case keys and durations in seconds. A Policy is written
// as [rules.Text] writes it, and a policy of the host's own as custom. The parts that the host supplies or shares are
// left out: Budget, Record, Shape, Experience, Path, Prior, Factors, OnEvent.
func (c Config) MarshalJSON() ([]byte, error) { return wire.JSON(c.wire) }

// UnmarshalJSON reads the JSON of MarshalJSON. Set the parts that MarshalJSON leaves out afterwards.
func (c *Config) UnmarshalJSON(data []byte) error { return wire.Read(data, c, (*Config).wire) }

// named codes a policy by its text.
type named struct{ policy *restart.Policy }

// String returns the policy's text; custom for a policy of the host's own.
func (n named) String() string { return cmp.Or(rules.Text(*n.policy), "custom") }

// MarshalText returns the policy's text.
func (n named) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText sets the policy by its text.
func (n named) UnmarshalText(text []byte) (err error) {
	*n.policy, err = rules.Parse(string(text))
	return err
}
