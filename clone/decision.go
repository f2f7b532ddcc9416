package clone

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Action says how to launch the tasks of a job. The values and the names of the constants will not change.
type Action uint8

const (
	// Single means: launch one attempt of each task. Single is the zero value.
	Single Action = iota
	// Clone means: start several clones of a task. The first Decision.Tasks tasks of the job get as many clones as
	// Decision.Clones says; each other task gets one attempt.
	Clone
)

var actionNames = [...]string{Single: "single", Clone: "clone"}

// String returns the name of the action.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the name of the action. It returns an error if the value has no name.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action to the constant whose name is text. It returns an error if no constant has this name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason says why a job is cloned or is not cloned. The values and the names of the constants will not change.
type Reason uint8

const (
	// NoReason is the zero value. No decision of a [Budget] has it.
	NoReason Reason = iota

	// Reasons to clone.

	// RoomForAll: there are enough slots for all clones of all tasks.
	RoomForAll
	// RoomForFewer: there are enough slots only for fewer clones of every task, and Config.Shortage is
	// [FewerClones].
	RoomForFewer
	// RoomForSome: there are enough slots only for the clones of some tasks, and Config.Shortage is [FirstTasks].
	RoomForSome

	// Reasons not to clone.

	// OverBudget: with the clones, too many slots would be charged to cloning. In the paper: B_U + c n > β C.
	OverBudget
	// OverCeiling: with the clones, too many slots of the cluster would be busy. In the paper: U + c n > τ C.
	OverCeiling
	// OneSuffices: with one attempt of each task, the probability that the job straggles is already acceptable.
	OneSuffices
	// UpstreamSingle: this phase reads the output of another phase, in which each task has one attempt. A phase
	// never gets more clones than the phase that it reads.
	UpstreamSingle
	// NotEligible: Job.NoCopy forbids two attempts of a task at the same time.
	NotEligible
	// NoEstimate: the probability that a task straggles is unknown.
	NoEstimate
	// NoTasks: the job has no task.
	NoTasks
)

var reasonNames = [...]string{
	NoReason: "no-reason", RoomForAll: "room-for-all", RoomForFewer: "room-for-fewer", RoomForSome: "room-for-some",
	OverBudget: "over-budget", OverCeiling: "over-ceiling", OneSuffices: "one-suffices",
	UpstreamSingle: "upstream-single", NotEligible: "not-eligible", NoEstimate: "no-estimate", NoTasks: "no-tasks",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error if the value has no name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason to the constant whose name is text. It returns an error if no constant has this name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// Decision says how many clones of each task to launch and why, with the numbers that were compared. Decisions can
// be compared with ==. A Decision prints as one line, logs as fields, and can be marshalled. The field Grant is
// not marshalled, because it has no meaning in another process. The zero value launches one attempt of each task.
type Decision struct {
	// Action is Single or Clone.
	Action Action
	// Reason says why the job is cloned or is not cloned.
	Reason Reason
	// Clones is the number of clones of each cloned task. It includes the first attempt, so it is 1 if no task is
	// cloned. Pass this number as Job.Upstream when you ask for the next phase, which reads the output of this phase.
	// If Config.Shortage is [FirstTasks], pass ClonesOf the last task, which has the fewest clones.
	Clones int
	// Tasks is the number of cloned tasks, which are the first tasks of the job. Unless Config.Shortage is
	// [FirstTasks], either all tasks or no tasks are cloned. Tasks is 0 if no task is cloned.
	Tasks int
	// Wanted is the number of clones of each task with which the job straggles with at most the accepted
	// probability, and at most Job.Upstream. It is 0 if the decision did not need this number.
	Wanted int
	// Spent is the number of slots that are charged to cloning after the launch, and Busy is the number of busy
	// slots after the launch. For a job that is cloned they include its clones. For a job that is not cloned they
	// include the clones that it wanted. Budget and Ceiling are the largest allowed values of Spent and Busy;
	// [math.MaxInt] means no limit. The paper calls the four numbers B_U, U, βC and τC. All four are 0 if no
	// numbers were compared.
	Spent, Budget int
	Busy, Ceiling int
	// Grant identifies the job for [Budget.Release]. It is the zero Grant if no task is cloned.
	Grant Grant
}

// ClonesOf returns the number of clones to launch of the task with index i. This number includes the first
// attempt, so it is 1 if the task is not cloned.
func (d Decision) ClonesOf(i int) int {
	if i < d.Tasks {
		return d.Clones
	}
	return 1
}

func (d *Decision) wire(c *wire.Codec) {
	c.Word("action", &d.Action)
	c.Word("reason", &d.Reason)
	c.When(d.Action == Clone).Int("clones", &d.Clones)
	c.When(d.Action == Clone).Int("tasks", &d.Tasks)
	c.Int("wanted", &d.Wanted)
	c.When(d.compared()).Int("spent", &d.Spent)
	wire.Limit(c.When(d.compared()), "budget", &d.Budget)
	c.When(d.compared()).Int("busy", &d.Busy)
	wire.Limit(c.When(d.compared()), "ceiling", &d.Ceiling)
}

// compared reports whether the decision compared the charged slots and the busy slots with their limits.
func (d *Decision) compared() bool {
	return d.Action == Clone || d.Reason == OverBudget || d.Reason == OverCeiling
}

// String returns the decision as one line. LogValue returns the same fields for
// log/slog. MarshalJSON writes the same fields.
func (d Decision) String() string               { return wire.Line(d.wire) }
func (d Decision) LogValue() slog.Value         { return wire.Log(d.wire) }
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }
