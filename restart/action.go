package restart

import "github.com/straggler-go/straggler/internal/enum"

// Action is what to do about a task. The names and values are stable.
type Action uint8

const (
	// Keep leaves the task as it is. It is the zero value.
	Keep Action = iota
	// Duplicate launches one more copy of the task.
	Duplicate
	// Restart kills the copy that the decision names and starts the task again: it waits for a slot, or takes that of the
	// killed copy.
	Restart
	// Kill ends the copy that the decision names; the task goes on in its other copies.
	Kill
	// Start runs a task that waits. Only [Next] and its like of a tracker answer it.
	Start
)

var actionNames = [...]string{"keep", "duplicate", "restart", "kill", "start"}

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
	// SlowerCopy: other copies of the task are faster, not by their age alone, and this one had its time; or, by LeastCost
	// where nothing is reported, a copy has used up the time in which it might have gained.
	SlowerCopy
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
	// EnoughCopies: the task has as many copies as it may have.
	EnoughCopies
	// CopyTooRecent: a copy of the task was launched a short while ago.
	CopyTooRecent
	// RestartsSpent: the task was restarted as often as it may be.
	RestartsSpent
	// CapReached: as many copies run in the phase as the rule allows.
	CapReached
	// BudgetSpent: the budget for copies is spent.
	BudgetSpent
	// NotEligible: the task must not be duplicated, or not restarted.
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
	// TrialRuns: the latest copy of the task reports nothing, and has not yet run for long enough to show whether it gains:
	// the decision has how many seconds it has run, and how many it may.
	TrialRuns
	// LossBound: with this trial all trials together might lose more slot time than they may: the decision has both, in
	// seconds.
	LossBound
)

var reasonNames = [...]string{
	"no-reason", "fresh-sooner", "saves-resources", "idle-slot", "slower-copy", "longest-to-end", "behind-average",
	"near-end", "beyond-peers", "largest-work", "not-slow", "no-estimate", "too-young", "too-few-finished",
	"tasks-waiting", "no-free-slot", "enough-copies", "copy-too-recent", "restarts-spent", "cap-reached", "budget-spent",
	"not-eligible", "slow-machine", "same-machine", "nothing-to-do", "not-running", "disabled", "overtaken",
	"no-progress", "bad-units", "unlikely", "leaving", "cloned", "bad-answer", "furthest-on",
	"unproven", "held", "trial-runs", "loss-bound",
}

// String returns the reason's name.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name; an error for a value that does not exist.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }
