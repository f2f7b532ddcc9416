package restart

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Decision is an action, why it is taken, and the numbers that it rests on. It is a plain value: it can be compared
// with ==, holds no NaN and no pointer, prints as one line, logs as structured fields, and reads back as itself from its
// JSON and from encoding/gob. The zero value keeps the task.
//
// The durations are the very numbers that were compared, to the nanosecond, so a logged decision can be checked by
// hand.
type Decision struct {
	Action Action
	Reason Reason
	// Attempt is the index into Task.Attempts of the copy to kill, for Restart and Kill; 0 otherwise.
	Attempt int
	// Remaining is t_rem of the task, that of its fastest copy, and Fresh is E(t_new); 0 if the rule did not need it,
	// and [estimate.Unknown] if it did and there was none.
	Remaining, Fresh time.Duration
	// Basis is what Remaining rests on, where that is uncertain.
	Basis Basis
	// Bar is what Remaining had to exceed; 0 if the rule compares something else. Where t_rem is uncertain, it is what a
	// new copy usually takes, and Δ, which may be less than Fresh.
	Bar time.Duration
	// Comparison has the two numbers that decided, where Remaining and Bar do not: those that refused where the task is
	// kept, as far as the rule looked at them.
	Comparison
	// Won of Tried earlier restarts and copies were won, where the policy reads it.
	Won, Tried int
	// Gain ranks tasks, largest first: by the time that the action is expected to save for Mantri, SDA and ESE, the time
	// left for LATE, the time beyond the threshold for Dryad, Spark and Flink; 0 for the rules to which all such tasks are
	// alike. A copy that a leaving machine makes necessary comes first, with the largest duration there is.
	Gain time.Duration
	// Avoid names the machines on which a new copy should not run: where copies run now and where earlier attempts ran.
	// It never names all the machines that there are, where Phase.Machines says how many.
	Avoid MachineSet
}

// wire lists the fields.
func (d *Decision) wire(c *wire.Codec) {
	c.Word("action", &d.Action)
	c.Word("reason", &d.Reason)
	c.When(d.Action == Restart || d.Action == Kill || d.Attempt != 0).Int("attempt", &d.Attempt)
	c.When(d.Basis != NoBasis).Enum("basis", &d.Basis)
	c.Duration("remaining", &d.Remaining)
	c.Duration("fresh", &d.Fresh)
	c.Duration("bar", &d.Bar)
	compared := d.Measure != NoMeasure
	c.When(compared).Keyed("measure", &d.Measure, measureNames[:], "value", &d.Value)
	c.When(compared).Float("threshold", &d.Threshold)
	tried := d.Tried != 0
	c.When(tried).Int("won", &d.Won)
	c.When(tried).Int("tried", &d.Tried)
	c.Duration("gain", &d.Gain)
	if c.Reading() || d.Avoid.Len() > 0 {
		avoid := d.Avoid.list()
		wire.Numbers(c, "avoid", &avoid)
		c.Check(d.Avoid.hold(avoid), "avoid", avoid, wantMachines)
	}
}

// String returns the decision as one line: action, reason, and the numbers that were used, durations in seconds.
func (d Decision) String() string { return wire.Line(d.wire) }

// AppendText appends what String returns to dst.
func (d *Decision) AppendText(dst []byte) ([]byte, error) {
	c := wire.Lines(dst)
	d.wire(c)
	return c.Appended(), nil
}

// LogValue returns the decision as a group of fields, for log/slog.
func (d Decision) LogValue() slog.Value { return wire.Log(d.wire) }

// MarshalJSON returns the decision as an object of the fields that it prints, durations in seconds, null for unknown.
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }

// UnmarshalJSON reads what MarshalJSON writes: the very same decision.
func (d *Decision) UnmarshalJSON(data []byte) error { return wire.Read(data, d, (*Decision).wire) }

// UnmarshalText reads what String returns, which has six digits of each number.
func (d *Decision) UnmarshalText(line []byte) error { return wire.Scan(line, d, (*Decision).wire) }

// Action is what to do about a task. The names and values are stable.
type Action uint8

const (
	// Keep leaves the task as it is. It is the zero value.
	Keep Action = iota
	// Copy launches one more copy of the task.
	Copy
	// Restart kills the copy that the decision names and starts the task again: it waits for a slot, or takes that of the
	// killed copy.
	Restart
	// Kill ends the copy that the decision names; the task goes on in its other copies.
	Kill
	// Start runs a task that waits. Only [Next] and its like of a tracker answer it.
	Start
)

var actionNames = [...]string{"keep", "copy", "restart", "kill", "start"}

// String returns the action's name.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the action's name; an error for a value that does not exist.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action by its name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Basis is what an uncertain t_rem rests on. The names and values are stable.
type Basis uint8

const (
	// NoBasis is the zero value: it is not uncertain, or the host does not say.
	NoBasis Basis = iota
	// ByProgress: on what the copy has reported, and how far such predictions were off.
	ByProgress
	// ByAge: on how long it has run, and how long others took that had run for as long. Of two such copies the older one
	// always seems the slower.
	ByAge
)

var basisNames = [...]string{"no-basis", "progress", "age"}

// String returns the basis's name.
func (b Basis) String() string { return enum.Name(basisNames[:], b) }

// MarshalText returns the basis's name; an error for a value that does not exist.
func (b Basis) MarshalText() ([]byte, error) { return enum.Text(basisNames[:], b) }

// UnmarshalText sets the basis by its name.
func (b *Basis) UnmarshalText(text []byte) error { return enum.Parse(basisNames[:], text, b) }

// Reason says why: why an action is taken, and why none is. The names and values are stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota

	// Reasons to act.

	// FreshSooner: a new copy is expected to end sooner, by more than a report period, t_rem > E(t_new) + Δ, or by the
	// rule's factor.
	FreshSooner
	// SavesResources: one more copy probably lets all copies end so much sooner that less is used in all.
	SavesResources
	// IdleSlot: a slot is idle, and a copy is expected to end sooner by more than it costs to start one.
	IdleSlot
	// SlowerAttempt: enough other copies of the task are faster, not by their age alone, and this one had its time.
	SlowerAttempt
	// LongestToEnd: the task is slow, and of those it is expected to end last. Rank by Gain.
	LongestToEnd
	// BehindAverage: the progress score is too far behind the mean score.
	BehindAverage
	// NearEnd: the phase is nearly done.
	NearEnd
	// BeyondPeers: the task has run for longer than its peers took, by the rule's measure.
	BeyondPeers
	// LargestWork: of the tasks that wait, this one has the most work.
	LargestWork

	// Reasons to keep.

	// NotSlow: the numbers do not pass the bar.
	NotSlow
	// NoEstimate: t_rem or t_new is not known, or what stands for them in the rule.
	NoEstimate
	// TooYoung: the copy has not run for long enough to be judged.
	TooYoung
	// TooFewFinished: not enough of the phase has finished.
	TooFewFinished
	// TasksWaiting: the rule makes no copies while tasks wait for a slot.
	TasksWaiting
	// NoFreeSlot: there is no slot for a copy.
	NoFreeSlot
	// EnoughAttempts: as many copies of the task run as may at once.
	EnoughAttempts
	// CopyTooRecent: a copy of the task was launched a short while ago.
	CopyTooRecent
	// RestartsSpent: the task was restarted as often as it may be.
	RestartsSpent
	// CapReached: as many copies run in the phase as the rule allows.
	CapReached
	// BudgetSpent: the budget for copies is spent.
	BudgetSpent
	// NotEligible: the task must not be duplicated.
	NotEligible
	// SlowMachine: the machine that asks is itself too slow.
	SlowMachine
	// SameMachine: the machine that asks runs a copy of the task, or ran one.
	SameMachine
	// NothingToDo: no task runs that would profit, and none waits.
	NothingToDo
	// NotRunning: the task has no copy that has begun to run, or the attempt is not one of its copies.
	NotRunning
	// Disabled: the policy never acts.
	Disabled

	// Overtaken: another copy of the task has finished first. No policy answers it; package restart/engine gives it for
	// the copies that a finished task leaves behind.
	Overtaken

	// NoProgress: nothing is known of t_rem, since no copy of the phase has ever reported progress. A policy that goes by
	// ages does without: Spark, Flink, Dryad, MapReduce.
	NoProgress
	// BadUnits: a copy says that it has done more work than its task has, or copies of the phase ended of which hardly
	// anything was known to be done, so progress has other units than the works. It is a tracker's reason.
	BadUnits
	// Unlikely: a new copy would end sooner on the average, and later in most cases.
	Unlikely
	// Leaving: the machine goes before the task is expected to end there. A tracker's reason, like those that follow.
	Leaving
	// Cloned: the task is to have one more of its first copies.
	Cloned
	// BadAnswer: a policy of the host's own has answered what can't be meant, such as a copy that does not exist.
	BadAnswer
	// FurthestOn: of a task's several copies, the one that the policy would kill has run longest or has done most.
	// [Limits] gives it in the place of the policy's answer.
	FurthestOn
	// Unproven: a restart would cost least, and too few trials were won so far: the decision has how many were, and how many
	// would do.
	Unproven
	// Held: nothing of the phase has begun or ended for long, and no slot is free for a copy, or the task may have none, so
	// that it is restarted.
	Held
	// TrialRuns: the latest copy of the task reports nothing, and has not yet run for long enough to show whether it gains.
	TrialRuns
	// LossBound: this trial might lose more slot time than all trials together may still lose.
	LossBound
	// NotWorthSlot: to end this copy of several saves slot time, beside the copy that is expected to end first.
	NotWorthSlot
	// TimeSpent: the copy reports nothing, and has used up the time in which it might have gained.
	TimeSpent
	// NotRestartable: the task must not be killed and run again.
	NotRestartable
	// CopiesSpent: the task was given as many copies as it may be in all.
	CopiesSpent
	// SeveralRun: a restart would cost least, and is not for a task of which several copies run.
	SeveralRun
	// NoTaskWaits: a restart would cost least, and is not made where no task waits for the slot.
	NoTaskWaits
	// BeatenMachine: the last attempt that ended on the machine that asks was the slower of two of its task, and few tasks
	// wait. A tracker's reason.
	BeatenMachine
)

var reasonNames = [...]string{
	"no-reason", "fresh-sooner", "saves-resources", "idle-slot", "slower-attempt", "longest-to-end", "behind-average",
	"near-end", "beyond-peers", "largest-work", "not-slow", "no-estimate", "too-young", "too-few-finished",
	"tasks-waiting", "no-free-slot", "enough-attempts", "copy-too-recent", "restarts-spent", "cap-reached", "budget-spent",
	"not-eligible", "slow-machine", "same-machine", "nothing-to-do", "not-running", "disabled", "overtaken",
	"no-progress", "bad-units", "unlikely", "leaving", "cloned", "bad-answer", "furthest-on",
	"unproven", "held", "trial-runs", "loss-bound", "not-worth-slot", "time-spent", "not-restartable", "copies-spent",
	"several-run", "no-task-waits", "beaten-machine",
}

// String returns the reason's name.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name; an error for a value that does not exist.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
