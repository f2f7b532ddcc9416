package tracker

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// Config describes a phase to a [Tracker]. A phase is a set of tasks that do the same work on different data. The
// first fields are facts, and the other fields are choices.
type Config struct {
	// Tasks is the number of tasks in the phase. It may be 0 if Work is given.
	Tasks int
	// Work contains the size of each task's input, in any unit: for example bytes or records. The Mantri paper calls
	// this size d. New copies the slice.
	//
	// A size of 0 is a task without work, such as an empty partition. A negative, NaN or infinite size is unknown, and
	// the mean of the known sizes is used in its place. If Work is nil, or no size is above 0, all sizes are unknown.
	// Then each task has the work 1, progress is reported as a share, and restart.LeastCost takes fewer risks.
	Work []float64
	// Slots is how many attempts of the phase's tasks may run at the same time. If Slots is 0, no attempt may run
	// until [Tracker.SetSlots] gives the phase slots, and [Tracker.Next] answers Keep. Otherwise Next takes the
	// offered slot as free, even if as many attempts run as there are slots.
	Slots int
	// Recent says that the phase grows: [Tracker.Add] adds tasks, and [Tracker.Forget] forgets them. Work or Tasks are the
	// first tasks, and may be left out. Recent is how long a task counts after its end. 0 means that the phase has a fixed
	// number of tasks.
	//
	// The Tasks and the Finished of [restart.Phase], and with them the bound on losses, are then those of the tasks that
	// are open and of the tasks that ended within Recent. The phase uses the times of the newest 4096 attempts that ended
	// within Recent, and the newest 256 run times. A trial has half its weight when 32 run times were added after it. If
	// the phase has a Kind, the run times and the trials are those of the kind, and KnowledgeConfig.Keep holds for them. A
	// growing phase has no first wave.
	Recent time.Duration
	// Stream says that the host runs phase after phase, and that tasks of other phases will want the slots that are
	// idle now. Then an idle slot is not free of cost. There is no last wave, in which the phase's last tasks run and
	// other slots stay idle. Tell the tracker by [Tracker.SetSlots] how many slots this phase may use.
	Stream bool
	// Machines is the number of machines; 0 if not known. The host gives each machine a number of 0 or more.
	Machines int
	// Path says how much the way to a task's data slows the task on a machine, for example because the data is in
	// another rack. It returns how many times longer an attempt of the task takes there than with local data. The
	// locationFactor of the paper [Mantri §5.5] is the product of this factor and the factor of the machine. For the
	// machine -1, Path returns the factor of the best machine that a new attempt can get. If the result is not
	// positive and finite, 1 is used. Nil means 1 for all tasks and machines.
	Path func(task, machine int) float64
	// Clones is how many clones each task may have. Clones are attempts of the same task that are started from the
	// beginning, before anything is slow; see package clone. The first attempt is included, so 1 means no clone beside
	// it. 0 means 1. Clones are not counted as copies by a budget or a cap, and no clone is killed as surplus.
	// [Tracker.Next] asks for further clones only while no task waits, so a phase with more tasks than slots gets few
	// clones.
	Clones int
	// Interval is the period of progress reports; Δ in the Mantri paper. In the paper each task reports "once every
	// 10s or ten times in [its] lifetime, whichever is smaller" [Mantri §5]. The policy Mantri needs an Interval. For
	// other policies 0 means that there is no fixed period. A value below one microsecond is an error, because it was
	// probably meant in seconds: a plain 10 is only 10 ns.
	Interval time.Duration
	// Lag is the typical delay between a decision to start an attempt and its start; schedLag in the paper [Mantri
	// §5.5]. As soon as submitted attempts have begun, the tracker uses their mean delay instead.
	Lag time.Duration

	// Policy is the rule that decides about tasks; nil means restart.LeastCost{}. If a policy gives an impossible
	// answer, such as to kill an attempt that does not exist, the tracker keeps the task and adds 1 to
	// Ledger.BadAnswers.
	Policy restart.Policy
	// Limits bound how often a task may be restarted and copied, and how much slot time trials may lose. The limits
	// hold for every policy. The zero value has defaults that protect the phase.
	//
	// While the loss of trials is bounded, the tracker records all trials, and gives every policy the facts that
	// restart.LeastCost reads. If LossShare is restart.Off, a policy gets only the facts that it reads itself, and
	// decides exactly as it was published.
	Limits restart.Limits
	// Model predicts the remaining time (t_rem) of an attempt from its progress. If its field Window is 0, the tracker
	// uses 10 intervals. If its field Grace is 0, the tracker uses 2 intervals. The tracker learns its field WrapUp
	// from attempts that end.
	Model estimate.Linear
	// UnitTimes configures how the tracker learns the time of a new attempt (t_new). If its field Floor is 0, the
	// tracker uses a tenth of the mean work.
	UnitTimes estimate.UnitTimesConfig
	// Knowledge is what phases learn from the phases before them: which machines are slow or fail, and for the phases of
	// a kind how long tasks take, how their progress runs (for example fast at first and slow at the end), and how often
	// restarts and copies were worth it. Share one
	// Knowledge among all phases of a cluster. The tracker adds the observations of this phase, and reads those of all.
	// The page docs/worlds.md shows how much it saves. Call [Tracker.Close] at the end of each phase that shares a
	// Knowledge.
	//
	// A bad machine is detected after three to six attempts there, so only the first phase has to pay for these attempts.
	// If the numbers of machines mean other machines in the next phase, set KnowledgeConfig.Machines.MaxMachines to Off.
	//
	// Nil means that nothing is known before the first tasks of the phase end. If Machines is above 0 and the loss of
	// trials is bounded, the tracker then makes a record of the machines for this phase alone. Otherwise all machines are
	// taken to be equally fast. The same holds for a Knowledge that remembers no machine.
	Knowledge *Knowledge
	// Kind is the kind of the phase: phases of the same kind do the same work, such as the same stage of a daily job. It
	// has at most 255 bytes. A phase of few tasks knows almost nothing without the run times of its kind. "" means that
	// the kind is not known: then the phase shares nothing but what is known about machines.
	Kind string
	// Budget bounds the copies of all phases that share it. A [Budget] always lets one copy run, so that no phase
	// waits for ever for a hung attempt. Nil means no bound. Call [Tracker.Close] at the end of each phase that shares
	// a Budget.
	Budget Limiter
	// OnEvent is called after each event, with the event and the tracker's answer. Use it to record them, as package
	// journal does, to log them, or to count them. OnEvent must not call the tracker, and cannot change the answer.
	// Nil means no call.
	OnEvent func(Event, Answer)
}

// maxTasks is the largest number of tasks, slots or machines. It keeps every index and count within 31 bits.
const maxTasks = 1 << 30

// leastInterval is the shortest allowed Interval. No attempt reports more often, so a shorter value was meant in
// another unit.
const leastInterval = time.Microsecond

// maxClones is the largest number of clones of a task.
const maxClones = 100

// place is the beginning of each error about a field of Config.
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
	if record := c.Knowledge.Machines(); record != nil {
		c.UnitTimes.Factors = record
	}
	if c.UnitTimes.Floor == 0 {
		c.UnitTimes.Floor = mean / 10
	}
	if err := c.Model.Validate(); err != nil {
		return fmt.Errorf("restart/tracker: Config.Model: %w", err)
	}
	return nil
}

// check returns an error for the first field that is out of range; nil if there is none.
func (c *Config) check() error {
	switch {
	case c.Recent < 0:
		return check.Bad(place, "Recent", c.Recent, "a positive duration, or 0 for a fixed number of tasks")
	case c.Tasks == 0 && c.Work == nil && c.Recent == 0:
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
	case len(c.Kind) > merge.MostName:
		return check.Badf(place, "Kind", c.Kind, "at most %d bytes", merge.MostName)
	case check.Nil(c.Budget):
		return check.Bad(place, "Budget", fmt.Sprintf("a nil %T", c.Budget), "a limiter, or nil itself for none")
	}
	return nil
}
