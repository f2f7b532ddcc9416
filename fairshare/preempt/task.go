package preempt

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Task is one running attempt of a task, which a plan may kill. The host passes the tasks in any order; a plan
// refers to them by index.
type Task struct {
	Pool      int       // index of a pool without children
	Machine   int       // the host's index of the machine, as in the argument free of Preemptor.Plan
	Started   time.Time // when this attempt started
	Slots     int64     // units that the attempt uses; less than 1 means 1
	Copy      bool      // another attempt of the same task runs, so to kill this attempt loses no result
	Protected bool      // a plan never kills this attempt, for example because it cannot be repeated
	Dying     bool      // the attempt was killed, but the usage of its pool still includes it
}

func (t *Task) slots() int64 { return max(1, t.Slots) }

// Outcome says whether a plan kills a task, and if not, why not.
type Outcome uint8

const (
	// Spared means that the plan could have killed the task but did not need it. Either all claims were met, or the
	// parents of the pools with unmet claims have their share already.
	Spared Outcome = iota
	// Killed means that the plan has chosen to kill the task.
	Killed
	// AtShare means that without the task its pool, or a pool above its pool, would be below its fair share.
	AtShare
	// Protected means that [Task.Protected] or [PoolConfig.Protected] is set for the task or its pool.
	Protected
	// Dying means that the task was killed before this plan, so that [Task.Dying] is set. The plan treats the task
	// as gone.
	Dying
	// UnknownPool means that Task.Pool is not the index of a pool, or is the index of a pool with children.
	UnknownPool
)

var outcomeNames = [...]string{
	Spared: "spared", Killed: "killed", AtShare: "at-share", Protected: "protected", Dying: "dying",
	UnknownPool: "unknown-pool",
}

// String returns the name of the outcome.
func (o Outcome) String() string { return enum.Name(outcomeNames[:], o) }

// MarshalText returns the name of the outcome. It returns an error if the value has no name.
func (o Outcome) MarshalText() ([]byte, error) { return enum.Text(outcomeNames[:], o) }

// UnmarshalText sets the outcome to the constant whose name is text. It returns an error if no constant has this name.
func (o *Outcome) UnmarshalText(text []byte) error { return enum.Parse(outcomeNames[:], text, o) }

// Reason says why a plan was allowed to kill a task.
type Reason uint8

const (
	// AboveShare means that every pool that loses the task still has its share.
	AboveShare Reason = iota
	// AcrossShare means that a pool of the task was above its share before the kill, and is below its share after the
	// kill. Even so, the ratio of used units to share of this pool is at least the ratio of the pool that gets the
	// units.
	AcrossShare
)

var reasonNames = [...]string{AboveShare: "above-share", AcrossShare: "across-share"}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error if the value has no name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason to the constant whose name is text. It returns an error if no constant has this name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// Victim is a task to kill. After the kill, give the units that it frees to the pool For.
type Victim struct {
	Task, For int    // the index of the task in the argument of Preemptor.Plan, and the pool that gets its units
	Reason    Reason // why the plan was allowed to kill the task
}

func (v *Victim) wire(c *wire.Codec) {
	c.Kind("kill")
	c.Word("reason", &v.Reason)
	c.When(true).Int("task", &v.Task)
	c.When(true).Int("for", &v.For)
}

// String returns the victim as one line. MarshalJSON and LogValue (for
// log/slog) return the same fields.
func (v Victim) String() string               { return wire.Line(v.wire) }
func (v Victim) LogValue() slog.Value         { return wire.Log(v.wire) }
func (v Victim) MarshalJSON() ([]byte, error) { return wire.JSON(v.wire) }

// Plan says which tasks to kill. Its slices are valid until the next call of a method of the [Preemptor] that made
// it.
type Plan struct {
	Claims   []Claim   // the claims for units, with the units granted to each
	Victims  []Victim  // the tasks to kill, in the order in which they were chosen
	Outcomes []Outcome // one outcome for each task, in the order of the tasks; nil if there are no claims
}
