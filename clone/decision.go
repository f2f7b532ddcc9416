package clone

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Action says how to launch a job's tasks. The names and values are stable.
type Action uint8

const (
	// Single launches one attempt of each task. Single is the zero value.
	Single Action = iota
	// Clone launches Decision.Clones clones of each of the first Decision.Tasks tasks.
	Clone
)

var actionNames = [...]string{"single", "clone"}

// String returns the action's name.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the name.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action by its name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason says why a job is cloned or not. The names and values are stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota

	// Reasons to clone.

	// RoomForAll: there is room for all clones of all tasks.
	RoomForAll
	// RoomForFewer: there is room for a smaller number of clones of every task, under [FewerClones].
	RoomForFewer
	// RoomForSome: there is room for all clones of some tasks, under [FirstTasks].
	RoomForSome

	// Reasons not to clone.

	// OverBudget: the clones would exceed the cloning budget, B_U + c n > β C.
	OverBudget
	// OverCeiling: the clones would fill the cluster too much, U + c n > τ C.
	OverCeiling
	// OneSuffices: with one attempt of each task the risk of straggling is acceptable already.
	OneSuffices
	// UpstreamSingle: each task of the upstream phase has one attempt, and a phase gets no more clones than its upstream.
	UpstreamSingle
	// NotEligible: Job.NoCopy forbids two attempts of a task at once.
	NotEligible
	// NoEstimate: p is unknown.
	NoEstimate
	// NoTasks: the job has no task.
	NoTasks
)

var reasonNames = [...]string{
	"no-reason", "room-for-all", "room-for-fewer", "room-for-some", "over-budget", "over-ceiling", "one-suffices",
	"upstream-single", "not-eligible", "no-estimate", "no-tasks",
}

// String returns the reason's name.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// Decision says how many clones to launch and why, with the numbers that were compared. A Decision is a plain value: it
// can be compared with ==, prints as one line, logs as structured fields, and marshals. Grant is not marshalled, because
// it has no meaning in another process. The zero value launches one attempt of each task.
type Decision struct {
	// Action is Single or Clone.
	Action Action
	// Reason says why.
	Reason Reason
	// Clones is the number of clones of each cloned task, the first attempt included; 1 if no task is cloned. Pass the
	// number as Job.Upstream of the next phase. Under [FirstTasks], pass ClonesOf the last task, which has the fewest.
	Clones int
	// Tasks is the number of cloned tasks, counted from the first task. All tasks are cloned unless the policy is
	// [FirstTasks]. Tasks is 0 if no task is cloned.
	Tasks int
	// Wanted is c, the number of clones that meets the accepted risk, but at most Job.Upstream. 0 if c was not needed.
	Wanted int
	// Spent is B_U and Busy is U after the launch, in slots. For a cloned job both numbers include the granted
	// clones. For a denied job both numbers include the wanted clones. Budget is βC and Ceiling is τC, the largest
	// allowed values; [math.MaxInt] means no limit. All four numbers are 0 if no comparison was made.
	Spent, Budget int
	Busy, Ceiling int
	// Grant is the job's entry in the budget, for [Budget.Release]; the zero Grant if no task is cloned.
	Grant Grant
}

// ClonesOf returns how many clones of the task with index i to launch; 1 if the task is not cloned.
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
	c.When(d.compared()).Part("spent", &d.Spent, "budget", &d.Budget)
	c.When(d.compared()).Part("busy", &d.Busy, "ceiling", &d.Ceiling)
}

// compared reports whether the decision compared the budget and the ceiling with their limits.
func (d *Decision) compared() bool {
	return d.Action == Clone || d.Reason == OverBudget || d.Reason == OverCeiling
}

// String returns the decision in one line. LogValue, for log/slog, and MarshalJSON have the same fields.
func (d Decision) String() string               { return wire.Line(d.wire) }
func (d Decision) LogValue() slog.Value         { return wire.Log(d.wire) }
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }
