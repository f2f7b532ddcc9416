package gate

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Action is the decision of a gate. The zero value is [Wait].
type Action uint8

const (
	// Wait means that the task must not go on now. Ask again later.
	Wait Action = iota
	// Admit means that the task may go on.
	Admit
)

var actionNames = [...]string{Wait: "wait", Admit: "admit"}

// String returns the name of the action.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the name of the action. It returns an error for an unknown value.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action by its name. It returns an error for an unknown name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason says why a task was admitted or must wait. The zero value is [NotAsked].
type Reason uint8

const (
	// NotAsked is the reason in the zero [Answer].
	NotAsked Reason = iota
	// BelowLimits means that the task stays within all limits.
	BelowLimits
	// MachineFull means that MaxReducers reducers are on the machine.
	MachineFull
	// Reserved means that the remaining slots of the machine are kept for short or production jobs.
	Reserved
	// JobCap means that the job has [Reducer.MaxRunning] reducers on the machine.
	JobCap
	// JobCopying means that MaxCopying reducers of the job copy on the machine.
	JobCopying
	// MachineComputing means that MaxComputing reducers compute on the machine.
	MachineComputing
	// NetworkBusy means that MaxNetwork or more of the machine's link is in use. Have and Limit are in millionths of
	// the link.
	NetworkBusy
	// MemoryFull means that the task does not fit in the memory that other tasks leave free. Have and Limit are in
	// bytes.
	MemoryFull
	// DiskFull means that the task may write more bytes than are free, after the reserve and the expected writes of
	// other tasks. Have is the task's bytes, and Limit is the free bytes.
	DiskFull
)

var reasonNames = [...]string{
	NotAsked: "not-asked", BelowLimits: "below-limits", MachineFull: "machine-full", Reserved: "reserved", JobCap: "job-cap",
	JobCopying: "job-copying", MachineComputing: "machine-computing", NetworkBusy: "network-busy", MemoryFull: "memory-full",
	DiskFull: "disk-full",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error for an unknown value.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name. It returns an error for an unknown name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// Answer is the decision of a gate, with its reason and the two numbers that it compared. The zero value means Wait.
// An Answer is comparable. One line:
//
//	wait job-copying have=2 limit=2
//
// Two reducers of the job copy on the machine, and the limit is two, so the reducer must wait.
type Answer struct {
	Action      Action // whether the task may go on
	Reason      Reason // the limit that was reached, or BelowLimits
	Have, Limit int64  // the numbers of Reason; after Launch or Compute admits: reducers and their limit
}

// OK reports whether the action is Admit.
func (a Answer) OK() bool { return a.Action == Admit }

func (a *Answer) wire(c *wire.Codec) {
	c.Word("action", &a.Action)
	c.Word("reason", &a.Reason)
	c.When(true).Int64("have", &a.Have)
	wire.Limit(c.When(true), "limit", &a.Limit)
}

// String returns the answer as one line. MarshalJSON and LogValue (for log/slog) have the same fields.
func (a Answer) String() string               { return wire.Line(a.wire) }
func (a Answer) LogValue() slog.Value         { return wire.Log(a.wire) }
func (a Answer) MarshalJSON() ([]byte, error) { return wire.JSON(a.wire) }
