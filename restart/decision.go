package restart

import (
	"log/slog"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Decision is an action, the reason for it, and the two numbers that the policy compared. It is a plain value: it can be
// compared with ==, and holds no NaN and no pointer. It prints as one line, logs as structured fields, and reads back as
// itself from its JSON and from encoding/gob. The zero value keeps the task.
//
// The policy compared exactly these numbers, durations to the nanosecond, so a logged decision can be checked by hand.
type Decision struct {
	Action Action
	Reason Reason
	// Attempt names the attempt to kill, for Restart and Kill. A policy gives its index in Task.Attempts; the answer of a
	// tracker has the number of the attempt. It is 0 for other actions.
	Attempt int
	// Remaining is the remaining time (t_rem) of the task's fastest attempt. Fresh is the expected time of a new attempt,
	// E(t_new). A time is 0 if the policy did not need it, and [estimate.Unknown] if the policy needed it and the host does not
	// know it.
	Remaining, Fresh time.Duration
	// Basis names the evidence behind Remaining: reported progress, or age. It is NoBasis if the remaining time is certain.
	Basis Basis
	// Bar is the duration that Remaining had to exceed; 0 if the policy compared something else. For Mantri it is E(t_new) + Δ,
	// the expected time of a new attempt plus one report period; if t_rem is uncertain, it may be the median of t_new plus Δ.
	Bar time.Duration
	// Comparison is the measure, its value and the threshold, where the rule compared something else than Remaining with
	// Bar. If the task is kept, it is the comparison that refused.
	Comparison
	// Won is how many earlier trials of the phase were won, and Tried how many were won or lost. Both are 0 if the policy does
	// not read them.
	Won, Tried int
	// Gain ranks tasks for a free slot, largest first. For LeastCost, Mantri, SDA and ESE it is the expected saving of
	// time, for LATE t_rem, and for Dryad, Spark and Flink the time beyond the threshold. The other rules do not
	// rank, and leave it 0. A copy that a leaving machine makes necessary has the largest duration that there is.
	Gain time.Duration
	// Avoid names machines on which a new attempt should not run: machines where attempts of the task run, and machines
	// where earlier attempts ran. If Phase.Machines is known, Avoid never names all machines.
	Avoid MachineSet
}

// wire lists the fields for text, JSON and logs.
func (d *Decision) wire(c *wire.Codec) {
	c.Word("action", &d.Action)
	c.Word("reason", &d.Reason)
	c.When(d.Action == Restart || d.Action == Kill || d.Attempt != 0).Int("attempt", &d.Attempt)
	c.When(d.Basis != NoBasis).Enum("basis", &d.Basis)
	c.Duration("remaining", &d.Remaining)
	c.Duration("fresh", &d.Fresh)
	c.Duration("bar", &d.Bar)
	compared := d.Measure != NoMeasure
	c.When(compared).Keyed("measure", &d.Measure, "value", &d.Value)
	c.When(compared).Float("threshold", &d.Threshold)
	tried := d.Tried != 0
	c.When(tried).Int("won", &d.Won)
	c.When(tried).Int("tried", &d.Tried)
	c.Duration("gain", &d.Gain)
	if c.Reading() || d.Avoid.Len() > 0 {
		avoid := slices.Clone(d.Avoid.id[:d.Avoid.n])
		wire.Numbers(c, "avoid", &avoid)
		c.Check(d.Avoid.hold(avoid), "avoid", avoid, wantMachines)
	}
}

// String returns the decision as one line: action, reason, and the numbers that the policy used, durations in seconds.
func (d Decision) String() string { return wire.Line(d.wire) }

// AppendText appends what String returns to dst.
func (d *Decision) AppendText(dst []byte) ([]byte, error) {
	c := wire.Lines(dst)
	d.wire(c)
	return c.Appended(), nil
}

// LogValue returns the decision as a group of fields for log/slog.
func (d Decision) LogValue() slog.Value { return wire.Log(d.wire) }

// MarshalJSON returns an object with the fields that String prints: durations in seconds, null for unknown.
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }

// UnmarshalJSON reads the JSON of MarshalJSON, and gives the very same decision.
func (d *Decision) UnmarshalJSON(data []byte) error { return wire.Read(data, d, (*Decision).wire) }

// Action is what to do about a task. The names and values are stable.
type Action uint8

const (
	// Keep leaves the task as it is. It is the zero value.
	Keep Action = iota
	// Copy starts one more attempt beside the running attempts. The paper's word is duplicate.
	Copy
	// Restart kills the attempt of Decision.Attempt and runs the task again, in the slot of the killed attempt or later.
	Restart
	// Kill kills the attempt of Decision.Attempt. The task goes on in its other attempts.
	Kill
	// Start runs a task that waits. Only [Next] and a tracker's Next answer it.
	Start
)

var actionNames = [...]string{"keep", "copy", "restart", "kill", "start"}

// String returns the action's name.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the action's name; an error for a value that does not exist.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action by its name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Basis is the evidence behind an uncertain remaining time (t_rem): reported progress, or age. The names and values are stable.
type Basis uint8

const (
	// NoBasis is the zero value: the remaining time is certain, or the host does not say on what it rests.
	NoBasis Basis = iota
	// ByProgress: the remaining time is predicted from the attempt's progress reports, and from the errors of earlier
	// predictions from progress.
	ByProgress
	// ByAge: the remaining time is predicted from the attempt's age, and from the times of other attempts that ran at least
	// that long. By age alone, an older attempt always seems slower than a younger one.
	ByAge
)

var basisNames = [...]string{"no-basis", "progress", "age"}

// String returns the basis's name.
func (b Basis) String() string { return enum.Name(basisNames[:], b) }

// MarshalText returns the basis's name; an error for a value that does not exist.
func (b Basis) MarshalText() ([]byte, error) { return enum.Text(basisNames[:], b) }

// UnmarshalText sets the basis by its name.
func (b *Basis) UnmarshalText(text []byte) error { return enum.Parse(basisNames[:], text, b) }

// Reason says why the policy acts, or why it keeps the task. The names and values are stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota

	// Reasons to act.

	// FreshSooner: a restart costs least. For Mantri: the remaining time exceeds the expected time of a new attempt by a report
	// period, t_rem > E(t_new) + Δ.
	FreshSooner
	// SavesResources: while tasks wait, a copy lets the task end so much sooner that both attempts together probably use less.
	SavesResources
	// IdleSlot: a slot is idle, and a copy there is expected to end sooner by enough.
	IdleSlot
	// SlowerAttempt: several attempts of the task run, this one is slower than enough of them, and it has run for long enough
	// to be judged.
	SlowerAttempt
	// LongestToEnd: of the slow tasks, this one is expected to end last. Rank by Gain.
	LongestToEnd
	// BehindAverage: the progress score is too far below the mean score of the phase.
	BehindAverage
	// NearEnd: the phase is nearly done.
	NearEnd
	// BeyondPeers: the task has run for longer than other tasks took, by the rule's measure.
	BeyondPeers
	// LargestWork: of the waiting tasks, this one has the most work.
	LargestWork

	// Reasons to keep.

	// NotSlow: the cheapest action would cost more than keeping the task; for a published rule, its threshold is not passed.
	NotSlow
	// NoEstimate: the policy needs the remaining time (t_rem), the time of a new attempt (t_new) or another number that is not
	// known.
	NoEstimate
	// TooYoung: the attempt has not run for long enough to tell whether it is slow.
	TooYoung
	// TooFewFinished: too few tasks of the phase have finished.
	TooFewFinished
	// TasksWaiting: the rule makes no copies while tasks wait for a slot.
	TasksWaiting
	// NoFreeSlot: no slot is free for a copy.
	NoFreeSlot
	// EnoughAttempts: the task already has as many running attempts as the policy allows.
	EnoughAttempts
	// CopyTooRecent: the last copy of the task was started a short while ago.
	CopyTooRecent
	// RestartsSpent: the task was restarted as often as the limits allow.
	RestartsSpent
	// CapReached: the phase already has as many running copies as the policy allows.
	CapReached
	// BudgetSpent: the budget that phases share allows no copy now.
	BudgetSpent
	// NotEligible: the host has said that the task must not be copied.
	NotEligible
	// SlowMachine: the machine that asks for work is too slow itself.
	SlowMachine
	// SameMachine: the machine that asks for work runs an attempt of the task, or ran one.
	SameMachine
	// NothingToDo: no running task would profit from the slot, and no task waits.
	NothingToDo
	// NotRunning: no attempt of the task has begun to run, or the attempt is unknown.
	NotRunning
	// Disabled: the policy never acts.
	Disabled

	// Overtaken: another attempt of the task has finished first. Package restart/engine gives it for the attempts that a
	// finished task leaves behind; no policy answers it.
	Overtaken

	// NoProgress: the remaining time is not known, because no attempt of the phase has reported progress. LeastCost, Spark,
	// Flink, Dryad and MapReduce need no progress.
	NoProgress
	// BadUnits: an attempt reports more work than its task has, or attempts ended after reporting hardly any. So progress has
	// other units than Work. Only a tracker gives it.
	BadUnits
	// Unlikely: a new attempt costs less on average, but the probability that it ends sooner is too small.
	Unlikely
	// Leaving: the machine leaves before the task is expected to end there. Only a tracker gives it.
	Leaving
	// Cloned: the task lacks one of its clones. Only a tracker gives it.
	Cloned
	// BadAnswer: a policy of the host answered something impossible, such as to kill an attempt that does not exist. Only a
	// tracker gives it.
	BadAnswer
	// FurthestOn: the policy wants to kill the task's oldest attempt, or the attempt that has done most. [Hold] refuses that.
	FurthestOn
	// Unproven: a restart costs least, but too few trials were won so far to kill an attempt without a copy.
	Unproven
	// Held: nothing in the phase has begun or ended for long, as if all attempts hang, and no copy is possible. So the task is
	// restarted. See [Phase].Idle.
	Held
	// TrialRuns: the task's latest copy is silent, and has not yet run for long enough to show whether it gains.
	TrialRuns
	// LossBound: this trial might lose more slot time than all trials together may still lose. See [Limits].
	LossBound
	// NotWorthSlot: several attempts of the task run, and this one probably will not end first. Its kill frees its slot.
	NotWorthSlot
	// TimeSpent: the copy reports no progress, and has run for as long as a silent copy may. It is killed.
	TimeSpent
	// NotRestartable: the host has said that the task must not be killed and run again.
	NotRestartable
	// CopiesSpent: the task was already given as many copies as the limits allow.
	CopiesSpent
	// SeveralRun: a restart costs least, but several attempts of the task run, and only a single attempt is restarted.
	SeveralRun
	// NoTaskWaits: a restart costs least, but no task waits for the slot, so a copy is better.
	NoTaskWaits
	// BeatenMachine: on the machine that asks for work, the last attempt was overtaken by a copy on another machine. Few tasks
	// wait, so they wait for another slot. Only a tracker gives it.
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
