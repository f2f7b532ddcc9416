package preempt

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Task is a running task that might be killed. The order of the tasks is the host's.
type Task struct {
	Pool        int       // without children
	Machine     int       // host's index
	Started     time.Time // of this attempt
	Slots       int64     // units that it holds; less than 1 counts as 1
	Speculative bool      // a clone or a second attempt of a task of which another runs: killing it loses no result
	Protected   bool      // never kill it: it cannot be repeated, or is about to end
	Dying       bool      // killed already, and still counted in its pool's usage
}

func (t *Task) slots() int64 { return max(1, t.Slots) }

// Outcome is what a plan means for a task, and why.
type Outcome uint8

const (
	// Spared means the task could have been killed but was not needed: all claims are met, or those that are not belong
	// to pools whose parents have their share.
	Spared Outcome = iota
	// Killed means the task is a victim.
	Killed
	// AtShare means that killing it would take its pool, or a pool above it, below its fair share.
	AtShare
	// Protected means the task or its pool is protected.
	Protected
	// Dying means the task is dying already; it counts as gone.
	Dying
	// UnknownPool means that Pool is not a pool without children.
	UnknownPool
)

var outcomeNames = [...]string{
	Spared: "spared", Killed: "killed", AtShare: "at-share", Protected: "protected", Dying: "dying",
	UnknownPool: "unknown-pool",
}

// String returns the name of the outcome.
func (o Outcome) String() string { return enum.Name(outcomeNames[:], o) }

// MarshalText returns the outcome's name.
func (o Outcome) MarshalText() ([]byte, error) { return enum.Text(outcomeNames[:], o) }

// UnmarshalText sets the outcome by its name.
func (o *Outcome) UnmarshalText(text []byte) error { return enum.Parse(outcomeNames[:], text, o) }

// Reason is why a task may be killed.
type Reason uint8

const (
	// AboveShare means that its pool, and those above that lose it, keep their shares.
	AboveShare Reason = iota
	// AcrossShare means that part of it is below a pool's share, which stays at least as well served as the claimant.
	AcrossShare
)

var reasonNames = [...]string{AboveShare: "above-share", AcrossShare: "across-share"}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// Victim is a task to kill and the pool for which what it held should be kept.
type Victim struct {
	Task, For int
	Reason    Reason
}

func (v *Victim) wire(c *wire.Codec) {
	c.Kind(0, "kill")
	c.Word("reason", &v.Reason)
	c.When(true).Int("task", &v.Task)
	c.When(true).Int("for", &v.For)
}

// String returns the victim as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (v Victim) String() string                   { return wire.Line(v.wire) }
func (v Victim) LogValue() slog.Value             { return wire.Log(v.wire) }
func (v Victim) MarshalJSON() ([]byte, error)     { return wire.JSON(v.wire) }
func (v *Victim) UnmarshalJSON(data []byte) error { return wire.Read(data, v, (*Victim).wire) }
func (v *Victim) UnmarshalText(line []byte) error { return wire.Scan(line, v, (*Victim).wire) }

// Plan says which tasks to kill. Its slices are valid until the next call on the [Preemptor] that made it.
type Plan struct {
	Claims   []Claim   // what was due, and what of it was found
	Victims  []Victim  // in the order in which they were chosen
	Outcomes []Outcome // one a task; nil if nothing was claimed
}
