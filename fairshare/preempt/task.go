package preempt

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Task is a running attempt that a plan may kill. The host chooses the order of the tasks.
type Task struct {
	Pool      int       // index of a pool without children
	Machine   int       // the host's index of the machine; see the argument free of Preemptor.Plan
	Started   time.Time // when this attempt started
	Slots     int64     // units that the attempt holds; less than 1 counts as 1
	Copy      bool      // another attempt of the same task runs, so this kill loses no result
	Protected bool      // a plan never kills this attempt, for example because it cannot be repeated
	Dying     bool      // the attempt was killed already, and the usage of its pool still counts it
}

func (t *Task) slots() int64 { return max(1, t.Slots) }

// Outcome says whether a plan kills a task, and if not, why not.
type Outcome uint8

const (
	// Spared means that the task could have been killed and was not needed. Either all claims are met, or the unmet
	// claims belong to pools with parents that have their share.
	Spared Outcome = iota
	// Killed means that the task is a victim.
	Killed
	// AtShare means that without the task its pool, or a pool above it, would fall below its fair share.
	AtShare
	// Protected means that the task or its pool is protected.
	Protected
	// Dying means that the task was killed before. The plan counts it as gone.
	Dying
	// UnknownPool means that Task.Pool is no pool, or is a pool with children.
	UnknownPool
)

var outcomeNames = [...]string{
	Spared: "spared", Killed: "killed", AtShare: "at-share", Protected: "protected", Dying: "dying",
	UnknownPool: "unknown-pool",
}

// String returns the name of the outcome.
func (o Outcome) String() string { return enum.Name(outcomeNames[:], o) }

// MarshalText returns the name of the outcome. It returns an error for an unknown value.
func (o Outcome) MarshalText() ([]byte, error) { return enum.Text(outcomeNames[:], o) }

// UnmarshalText sets the outcome by its name. It returns an error for an unknown name.
func (o *Outcome) UnmarshalText(text []byte) error { return enum.Parse(outcomeNames[:], text, o) }

// Reason says why a plan may kill a task.
type Reason uint8

const (
	// AboveShare means that every pool that loses the task keeps its share.
	AboveShare Reason = iota
	// AcrossShare means that a part of the task lies below the share of a pool. Afterwards usage/share of the pool is
	// at least usage/share of the claimant.
	AcrossShare
)

var reasonNames = [...]string{AboveShare: "above-share", AcrossShare: "across-share"}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error for an unknown value.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name. It returns an error for an unknown name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// Victim is a task to kill. Keep the units that it frees for the pool For.
type Victim struct {
	Task, For int    // the index of the task in the argument of Preemptor.Plan, and the pool that gets its units
	Reason    Reason // why the task may be killed
}

func (v *Victim) wire(c *wire.Codec) {
	c.Kind("kill")
	c.Word("reason", &v.Reason)
	c.When(true).Int("task", &v.Task)
	c.When(true).Int("for", &v.For)
}

// String returns the victim as one line. MarshalJSON and LogValue (for log/slog) have the same fields.
func (v Victim) String() string               { return wire.Line(v.wire) }
func (v Victim) LogValue() slog.Value         { return wire.Log(v.wire) }
func (v Victim) MarshalJSON() ([]byte, error) { return wire.JSON(v.wire) }

// Plan says which tasks to kill. Its slices are valid until the next call on the [Preemptor] that made it.
type Plan struct {
	Claims   []Claim   // the claims that were due, with the units granted to each
	Victims  []Victim  // the tasks to kill, in the order in which they were chosen
	Outcomes []Outcome // one outcome for each task, in the tasks' order; nil without claims
}
