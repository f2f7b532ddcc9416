package restart

import (
	"log/slog"
	"slices"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Decision is an action, the reason for the action, and the two numbers that the policy compared. A Decision is a
// plain value: two decisions can be compared with ==, and a decision contains no NaN and no pointer. It prints as one
// line and logs as structured fields. Its JSON and its encoding in encoding/gob give back the same decision. The zero
// value keeps the task.
//
// The numbers are exactly the numbers that the policy compared, with durations to the nanosecond. So a logged
// decision can be checked by hand.
type Decision struct {
	Action Action
	Reason Reason
	// Attempt is the attempt to kill, if the action is Restart or Kill. In the decision of a policy it is an index
	// into Task.Attempts. In the answer of a tracker it is the attempt's number: the attempts of a task are numbered
	// from 0 in the order in which they started. For other actions it is 0.
	Attempt int
	// Remaining is how long the task's fastest attempt still needs (t_rem). Fresh is the expected time of a new
	// attempt, E(t_new). A time is 0 if the policy did not need it. A time is [estimate.Unknown] if the policy needed
	// it and the host does not know it.
	Remaining, Fresh time.Duration
	// Basis is the evidence from which Remaining was predicted: progress reports, or the attempt's age. It is NoBasis
	// if the remaining time is certain.
	Basis Basis
	// Bar is the duration that Remaining had to exceed. It is 0 if the policy did not compare Remaining with a limit.
	// For Mantri it is the expected time of a new attempt, E(t_new), plus one report period. If the remaining time is
	// uncertain, Mantri may use the median of t_new in place of the mean.
	Bar time.Duration
	// Comparison is set if the policy compared other numbers than Remaining and Bar. It contains the measure, the
	// value and the threshold. If the task is kept, it is the comparison that ruled out the action.
	Comparison
	// Tried is how many earlier trials of the phase have ended with a result, and Won is how many were won. Both are 0
	// if the policy does not read them.
	Won, Tried int
	// Gain ranks tasks for a free slot: the task with the largest Gain gets it. For LeastCost, Mantri, SDA and ESE,
	// Gain is the time that the action is expected to save. For LATE it is the remaining time, and for Dryad, Spark
	// and Flink the time beyond the threshold. The other rules do not rank, and leave it 0. If a machine leaves, a
	// copy of a task there gets the largest possible duration.
	Gain time.Duration
	// Avoid lists machines on which a new attempt should not run: the machines where attempts of the task run now,
	// and machines where earlier attempts ran. If the host has set Phase.Machines, Avoid never lists all machines.
	Avoid MachineSet
}

// wire lists the fields of the decision, in their order, for its text, its JSON and its log fields.
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
	tried := d.Tried != 0 || d.Won != 0
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

// AppendText appends the line that String returns to dst.
func (d *Decision) AppendText(dst []byte) ([]byte, error) {
	c := wire.Lines(dst)
	d.wire(c)
	return c.Appended(), nil
}

// LogValue returns the decision as a group of fields for log/slog.
func (d Decision) LogValue() slog.Value { return wire.Log(d.wire) }

// MarshalJSON returns a JSON object with the fields that String prints. Durations are in seconds; null means that a
// duration is unknown.
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }

// UnmarshalJSON sets the decision from the JSON of MarshalJSON. The result equals the original decision.
func (d *Decision) UnmarshalJSON(data []byte) error { return wire.Read(data, d, (*Decision).wire) }

// Action is what to do about a task: keep it, copy it, restart it, kill an attempt, or start it. The names and values
// are stable.
type Action uint8

const (
	// Keep leaves the task as it is. It is the zero value.
	Keep Action = iota
	// Copy starts one more attempt of the task while its other attempts go on. The Mantri paper calls such an attempt a
	// duplicate.
	Copy
	// Restart kills the attempt with the index Decision.Attempt, and runs the task again. The new attempt starts in
	// the slot of the killed attempt, or later.
	Restart
	// Kill kills the attempt with the index Decision.Attempt. The task's other attempts go on.
	Kill
	// Start starts a task that waits for a slot. Only the function [Next] and the method Next of a tracker return it.
	Start
)

// actions has the name of each action, and the word with which a sentence about it begins.
var actions = [...]words{
	Keep:    {"keep", "kept"},
	Copy:    {"copy", "copied"},
	Restart: {"restart", "restarted"},
	Kill:    {"kill", "killed"},
	Start:   {"start", "started"},
}

// String returns the action's name.
func (a Action) String() string { return nameOf(actions[:], a) }

// MarshalText returns the action's name; an error for a value that does not exist.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(names(actions[:]), a) }

// UnmarshalText sets the action by its name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(names(actions[:]), text, a) }

// Basis is the evidence from which an uncertain remaining time (t_rem) was predicted: progress reports, or the
// attempt's age. The names and values are stable.
type Basis uint8

const (
	// NoBasis is the zero value: the remaining time is certain, or the host does not say from which evidence it was
	// predicted.
	NoBasis Basis = iota
	// ByProgress means that the remaining time was predicted from the attempt's progress reports. The errors of
	// earlier predictions give its spread.
	ByProgress
	// ByAge means that the remaining time was predicted from the attempt's age and the run times of other attempts
	// that ran at least as long. By age alone, an older attempt always seems slower than a younger one.
	ByAge
	// ByEarlyProgress means that too few tasks have ended to trust the attempt's progress reports. So the remaining
	// time counts only a tenth of the run time that the progress predicts. An example: an attempt has done 4 % after 2
	// s, so its progress predicts a run time of 50 s. A tenth of it is 5 s, and the remaining time is 3 s.
	ByEarlyProgress
)

// progress reports whether the remaining time was predicted from progress reports, be they few or many.
func (b Basis) progress() bool { return b == ByProgress || b == ByEarlyProgress }

var basisNames = [...]string{
	NoBasis: "no-basis", ByProgress: "progress", ByAge: "age", ByEarlyProgress: "early-progress",
}

// String returns the basis's name.
func (b Basis) String() string { return enum.Name(basisNames[:], b) }

// MarshalText returns the basis's name; an error for a value that does not exist.
func (b Basis) MarshalText() ([]byte, error) { return enum.Text(basisNames[:], b) }

// UnmarshalText sets the basis by its name.
func (b *Basis) UnmarshalText(text []byte) error { return enum.Parse(basisNames[:], text, b) }

// Reason says why a policy acts on a task, or why it keeps the task as it is. The names and values are stable. Only a
// tracker gives the reasons BadUnits, Leaving, Cloned, BadAnswer and BeatenMachine.
type Reason uint8

const (
	// NoReason is the zero value: no reason was given.
	NoReason Reason = iota

	// Reasons to act.

	// FreshSooner: the task is restarted, because a restart costs least. For Mantri it means that the remaining time
	// exceeds the expected time of a new attempt by more than one report period: t_rem > E(t_new) + Δ.
	FreshSooner
	// SavesResources: the task is copied while other tasks wait for slots. With the copy the task ends so much sooner
	// that its two attempts together probably use less slot time than one attempt would.
	SavesResources
	// IdleSlot: the task is copied, because a slot is idle and a copy there is expected to end enough sooner than the
	// old attempt.
	IdleSlot
	// SlowerAttempt: several attempts of the task run, and this attempt is killed. It has run for long enough to be
	// judged, and enough other attempts of the task are faster.
	SlowerAttempt
	// LongestToEnd: of the slow tasks, this task is expected to end last. Of several tasks with this reason, copy the
	// task with the largest Gain.
	LongestToEnd
	// BehindAverage: the task's progress score is too far below the mean score of the phase.
	BehindAverage
	// NearEnd: nearly all tasks of the phase have finished, so the rule copies the tasks that still run.
	NearEnd
	// BeyondPeers: the task has run for much longer than other tasks of the phase took. The rule defines how much.
	BeyondPeers
	// NextWaiting: the task is started, because it is the next of the waiting tasks: the task with the most work, and of
	// tasks with equal or unknown work the first.
	NextWaiting

	// Reasons to keep.

	// NotSlow: the cheapest action would cost more than keeping the task. For a rule with a fixed threshold, it means
	// that the task has not passed the threshold.
	NotSlow
	// NoEstimate: the policy needs a number that is not known, such as the remaining time (t_rem) or the time of a
	// new attempt (t_new).
	NoEstimate
	// TooYoung: the attempt has not run for long enough to tell whether it is slow.
	TooYoung
	// TooFewFinished: too few tasks of the phase have finished to compare the task with them.
	TooFewFinished
	// TasksWaiting: tasks wait for a slot, and the rule makes no copies while tasks wait.
	TasksWaiting
	// NoFreeSlot: a copy would help, but no slot is free for it.
	NoFreeSlot
	// EnoughAttempts: the task already has as many running attempts as the policy allows.
	EnoughAttempts
	// CopyTooRecent: the last copy of the task was started only a short time ago, so its effect is not known yet.
	CopyTooRecent
	// RestartsSpent: the task was already restarted as often as the limits allow.
	RestartsSpent
	// CapReached: the phase already has as many running copies as the policy allows.
	CapReached
	// BudgetSpent: several phases share a budget for copies, and the budget allows no further copy now.
	BudgetSpent
	// NotEligible: the host has said that two attempts of the task must not run at once (Task.NoCopy).
	NotEligible
	// SlowMachine: the machine that asks for work is too slow itself to run a copy.
	SlowMachine
	// SameMachine: the machine that asks for work runs an attempt of this task, or ran an earlier attempt of it.
	SameMachine
	// NothingToDo: no task waits for the free slot, and no running task would end sooner with a copy there.
	NothingToDo
	// NotRunning: no attempt of the task has begun to run, or the attempt is not known.
	NotRunning
	// Disabled: the policy never acts, or the rule that would act is turned off.
	Disabled

	// Overtaken: the attempt is killed, because another attempt of the task has finished first. Package
	// restart/engine and the answers of a tracker to the end of a task give this reason; no policy does.
	Overtaken

	// NoProgress: the remaining time is not known, because no attempt of the phase has reported progress. Mantri needs
	// progress reports.
	NoProgress
	// BadUnits: the progress reports and the sizes of the tasks seem to be in different units. An attempt has
	// reported more work than its task has, or attempts have ended after reporting hardly any work.
	BadUnits
	// Unlikely: a new attempt would cost less on average, but the probability that it ends sooner is too small.
	Unlikely
	// Leaving: the task is copied, because its machine will leave before the attempt there is expected to end.
	Leaving
	// Cloned: an attempt is started, because fewer first attempts (clones) of the task run than the host asked for.
	Cloned
	// BadAnswer: the host's own policy returned an impossible decision, such as to kill an attempt that does not exist.
	BadAnswer
	// FurthestOn: the policy wants to kill the task's oldest attempt, or the attempt with the most work behind it.
	// [Hold] refuses such a kill, because the task would lose too much. See [Limits] for the exact rule.
	FurthestOn
	// Unproven: too few earlier trials of the phase were won. A restart without a copy first needs enough won trials. A
	// copy needs as many won as lost trials if attempts are silent, tasks wait, and another trial is open.
	Unproven
	// Held: the phase is stuck ([Phase.Stuck]), and no copy is possible. Therefore the task is restarted.
	Held
	// LossBound: this trial might lose more slot time than all trials together may still lose. See [Trials].
	LossBound
	// CopyFaster: an attempt of a task is killed, because a copy that began later has shown that it will probably end
	// first. So the older of the two had bad luck, or its machine is slow.
	CopyFaster
	// NotRestartable: the host has said that the task must not be killed and run again (Task.NoRestart).
	NotRestartable
	// CopiesSpent: the task has already had as many copies as the limits allow.
	CopiesSpent
	// BeatenMachine: the last attempt on the machine that asks for work was overtaken by a copy on another machine.
	// Few tasks wait, so these tasks wait for a slot on another machine.
	BeatenMachine
	// NoFaster: a copy is killed, because it has shown that it will probably not end before the older attempt. So the
	// task is probably long by itself.
	NoFaster
	// BadMachine: the task is restarted, because attempts take far longer on its machine than elsewhere.
	BadMachine
	// Overdue: the attempt is killed, because it has run for longer than its timeout. Package restart/engine gives this
	// reason; no policy does.
	Overdue
)

// reasons has the name of each reason, and the part of a sentence that explains it. A placeholder in braces, such as
// {remaining}, is replaced by the number of the decision.
var reasons = [...]words{
	NoReason:    {"no-reason", "no reason is given"},
	FreshSooner: {"fresh-sooner", "it still needs {remaining}, and a new attempt takes {fresh}"},
	SavesResources: {
		"saves-resources",
		"it still needs {remaining}, and a copy takes {fresh}, so that the two probably use less in all",
	},
	IdleSlot:       {"idle-slot", "it still needs {remaining}, and a copy on an idle slot takes {fresh}"},
	SlowerAttempt:  {"slower-attempt", "other attempts of the task are faster"},
	LongestToEnd:   {"longest-to-end", "it is slow, and of the slow tasks it needs the most time, {remaining}"},
	BehindAverage:  {"behind-average", "it has done far less than the others have on average"},
	NearEnd:        {"near-end", "nearly all tasks have finished"},
	BeyondPeers:    {"beyond-peers", "it has run for far longer than other tasks took"},
	NextWaiting:    {"next-waiting", "it is the next of the tasks that wait"},
	NotSlow:        {"not-slow", "it is not slow enough"},
	NoEstimate:     {"no-estimate", "too little is known of the time that it still needs, or that a new attempt takes"},
	TooYoung:       {"too-young", "it has not run for long enough to be judged"},
	TooFewFinished: {"too-few-finished", "too few tasks have finished to compare it with"},
	TasksWaiting:   {"tasks-waiting", "tasks that wait for a slot go first"},
	NoFreeSlot:     {"no-free-slot", "no slot is free for a copy"},
	EnoughAttempts: {"enough-attempts", "enough attempts of it run at once"},
	CopyTooRecent:  {"copy-too-recent", "its last copy must first show how fast it is"},
	RestartsSpent:  {"restarts-spent", "it must not be restarted again"},
	CapReached:     {"cap-reached", "enough copies run at once"},
	BudgetSpent:    {"budget-spent", "the budget for copies is spent"},
	NotEligible:    {"not-eligible", "two attempts of it must not run at once"},
	SlowMachine:    {"slow-machine", "the machine that is free is too slow"},
	SameMachine:    {"same-machine", "an attempt of it runs on the machine that is free, or ran there"},
	NothingToDo:    {"nothing-to-do", "no task needs the free slot"},
	NotRunning:     {"not-running", "no attempt of it has begun to run"},
	Disabled:       {"disabled", "the policy does nothing here"},
	Overtaken:      {"overtaken", "another attempt of the task has ended first"},
	NoProgress:     {"no-progress", "no attempt reports progress, and the policy needs that"},
	BadUnits:       {"bad-units", "its progress cannot be right: it has other units than the work"},
	Unlikely:       {"unlikely", "it is too doubtful that a new attempt ends sooner"},
	Leaving:        {"leaving", "its machine goes before it can end there"},
	Cloned:         {"cloned", "one more first attempt of it is wanted"},
	BadAnswer:      {"bad-answer", "the policy has answered something impossible"},
	FurthestOn:     {"furthest-on", "the slower attempt has run longest or has done most, and is not killed"},
	Unproven:       {"unproven", "earlier trials do not yet show that it would pay"},
	Held:           {"held", "nothing has begun or ended for long, and it can get no copy"},
	LossBound:      {"loss-bound", "trials must not lose too much"},
	CopyFaster: {
		"copy-faster",
		"another attempt of the task is faster and will probably end first, so this one had bad luck or a slow machine",
	},
	NotRestartable: {"not-restartable", "it must not be killed and run again"},
	CopiesSpent:    {"copies-spent", "it must not be copied again"},
	BeatenMachine: {
		"beaten-machine",
		"the last attempt on the machine that is free was the slower of two, and other slots come free soon",
	},
	Overdue:    {"overdue", "it has run for longer than its timeout"},
	NoFaster:   {"no-faster", "it is no faster than the older attempt, so the task is probably long by itself"},
	BadMachine: {"bad-machine", "attempts take far longer on its machine than elsewhere"},
}

// Reasons is the number of reasons. The values of the reasons are 0 to Reasons - 1.
const Reasons = len(reasons)

// String returns the reason's name.
func (r Reason) String() string { return nameOf(reasons[:], r) }

// MarshalText returns the reason's name; an error for a value that does not exist.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(names(reasons[:]), r) }

// UnmarshalText sets the reason by its name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(names(reasons[:]), text, r) }
