package clone

import (
	"log/slog"
	"math"
	"strconv"

	"github.com/straggler-go/straggler/internal/enum"
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
// compared with ==, prints as one line, logs as structured fields and marshals to JSON with its action and reason by
// name. The zero value launches one copy of each task.
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
	Grant Grant `json:"-"`
}

// CopiesOf returns how many copies of the job's i-th task to launch, counted from 0.
func (d Decision) CopiesOf(i int) int {
	if i < d.Tasks {
		return d.Copies
	}
	return 1
}

// String returns the decision as one line: action, reason, and the numbers that were used.
func (d Decision) String() string {
	b := make([]byte, 0, 96)
	b = append(b, d.Action.String()...)
	b = append(b, ' ')
	b = append(b, d.Reason.String()...)
	if d.Action == Clone {
		b = strconv.AppendInt(append(b, " copies="...), int64(d.Copies), 10)
		b = strconv.AppendInt(append(b, " tasks="...), int64(d.Tasks), 10)
	}
	if d.Wanted != 0 {
		b = strconv.AppendInt(append(b, " wanted="...), int64(d.Wanted), 10)
	}
	if d.compared() {
		b = appendShare(append(b, " spent="...), d.Spent, d.Budget)
		b = appendShare(append(b, " busy="...), d.Busy, d.Ceiling)
	}
	return string(b)
}

func (d Decision) compared() bool {
	return d.Action == Clone || d.Reason == OverBudget || d.Reason == OverCeiling
}

func appendShare(b []byte, used, limit int) []byte {
	b = append(strconv.AppendInt(b, int64(used), 10), '/')
	if limit == math.MaxInt {
		return append(b, "off"...)
	}
	return strconv.AppendInt(b, int64(limit), 10)
}

// LogValue returns the decision as a group of fields, for log/slog.
func (d Decision) LogValue() slog.Value {
	attrs := make([]slog.Attr, 0, 9)
	attrs = append(attrs, slog.String("action", d.Action.String()), slog.String("reason", d.Reason.String()))
	if d.Action == Clone {
		attrs = append(attrs, slog.Int("copies", d.Copies), slog.Int("tasks", d.Tasks))
	}
	if d.Wanted != 0 {
		attrs = append(attrs, slog.Int("wanted", d.Wanted))
	}
	if d.compared() {
		attrs = append(attrs, slog.Int("spent", d.Spent))
		attrs = appendLimit(attrs, "budget", d.Budget)
		attrs = append(attrs, slog.Int("busy", d.Busy))
		attrs = appendLimit(attrs, "ceiling", d.Ceiling)
	}
	return slog.GroupValue(attrs...)
}

// appendLimit leaves out a limit that is off.
func appendLimit(attrs []slog.Attr, key string, limit int) []slog.Attr {
	if limit == math.MaxInt {
		return attrs
	}
	return append(attrs, slog.Int(key, limit))
}
