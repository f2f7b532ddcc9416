package clone

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Action is what to do with a job. The names and values are stable.
type Action uint8

const (
	// Single runs one copy of each task. It is the zero value.
	Single Action = iota
	// Clone runs Decision.Copies copies of each of the first Decision.Tasks tasks.
	Clone
)

var actionNames = [...]string{"single", "clone"}

// String returns the action's name.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the name.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action by its name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason says why: why a job is cloned, and why it is not. The names and values are stable.
type Reason uint8

const (
	// NoReason is the zero value.
	NoReason Reason = iota

	// Reasons to clone.

	// RoomForAll: there is room for every copy of every task.
	RoomForAll
	// RoomForFewer: there is room for some copies of every task, by [FewerCopies].
	RoomForFewer
	// RoomForSome: there is room for every copy of some tasks, by [FirstTasks].
	RoomForSome

	// Reasons not to.

	// OverBudget: the cloning budget would be exceeded. B_U + c n > β C.
	OverBudget
	// OverCeiling: the cluster would be too full. U + c n > τ C.
	OverCeiling
	// OneSuffices: with one copy of each task the risk of straggling is acceptable.
	OneSuffices
	// UpstreamSingle: the phase that this one reads has one copy of each task, and no phase gets more than that.
	UpstreamSingle
	// NotEligible: the tasks must not be duplicated.
	NotEligible
	// NoEstimate: p is not known.
	NoEstimate
	// NoTasks: there is nothing to run.
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

// Decision says how many copies to launch, why, and the numbers that were compared. It is a plain value: it can be
// compared with ==, prints as one line, logs as structured fields and marshals, without the Grant, which means nothing
// elsewhere. The zero value launches one copy of each task.
type Decision struct {
	Action Action
	Reason Reason
	// Copies is how many copies of a cloned task to launch in all, 1 if none is cloned. Pass it as Job.Upstream of the
	// next phase; under [FirstTasks], pass CopiesOf the last task, which has the fewest.
	Copies int
	// Tasks is how many of the job's tasks, from the first, get so many: all of them, unless the policy is
	// [FirstTasks]; 0 if none is cloned.
	Tasks int
	// Wanted is c, the count that meets the accepted risk, or what the upstream phase leaves of it; 0 if it was not
	// needed.
	Wanted int
	// Spent is B_U and Busy is U, in slots, with this job's copies: with those granted if it is cloned, with those
	// wanted if it is not. Budget is βC and Ceiling is τC, the most that these may be; [math.MaxInt] if they have no
	// limit. All are 0 if they were not compared.
	Spent, Budget int
	Busy, Ceiling int
	// Grant is the entry in the budget, for [Budget.Release]; the zero Grant if nothing is cloned.
	Grant Grant
}

// CopiesOf returns how many copies of the job's i-th task to launch, counted from 0.
func (d Decision) CopiesOf(i int) int {
	if i < d.Tasks {
		return d.Copies
	}
	return 1
}

func (d *Decision) wire(c *wire.Codec) {
	c.Word("action", &d.Action)
	c.Word("reason", &d.Reason)
	c.When(d.Action == Clone).Int("copies", &d.Copies)
	c.When(d.Action == Clone).Int("tasks", &d.Tasks)
	if c.Reading() && d.Action != Clone {
		d.Copies = 1
	}
	c.Int("wanted", &d.Wanted)
	c.When(d.compared()).Part("spent", &d.Spent, "budget", &d.Budget)
	c.When(d.compared()).Part("busy", &d.Busy, "ceiling", &d.Ceiling)
}

func (d *Decision) compared() bool {
	return d.Action == Clone || d.Reason == OverBudget || d.Reason == OverCeiling
}

// String returns the decision as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (d Decision) String() string                   { return wire.Line(d.wire) }
func (d Decision) LogValue() slog.Value             { return wire.Log(d.wire) }
func (d Decision) MarshalJSON() ([]byte, error)     { return wire.JSON(d.wire) }
func (d *Decision) UnmarshalJSON(data []byte) error { return wire.Read(data, d, (*Decision).wire) }
func (d *Decision) UnmarshalText(line []byte) error { return wire.Scan(line, d, (*Decision).wire) }
