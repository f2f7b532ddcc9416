package gate

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Action says whether a task may start, or continue. The zero value is [Wait].
type Action uint8

const (
	// Wait means that the task must not go on now. Ask the gate again later.
	Wait Action = iota
	// Admit means that the task may start, or continue.
	Admit
)

var actionNames = [...]string{Wait: "wait", Admit: "admit"}

// String returns the name of the action.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the name of the action. It returns an error if the value has no name.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action to the constant whose name is text. It returns an error if no constant has this name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason says why a task was admitted or must wait. The zero value is [NotAsked].
type Reason uint8

const (
	// NotAsked is the reason in the zero [Answer], which no gate has given.
	NotAsked Reason = iota
	// BelowLimits means that the task was admitted, because no limit is reached.
	BelowLimits
	// MachineFull means that [Config.MaxReducers] reducers are on the machine, so that no further reducer may
	// start there.
	MachineFull
	// Reserved means that the free slots of the machine are reserved for short and production jobs; see
	// [Config.Reserved].
	Reserved
	// JobCap means that the job of the reducer has [Reducer.MaxRunning] reducers on the machine, and its user
	// allows no more.
	JobCap
	// JobCopying means that [Config.MaxCopying] reducers of the job are on the machine and do not compute yet. A
	// reducer copies its input from other machines before it computes.
	JobCopying
	// MachineComputing means that [Config.MaxComputing] reducers compute on the machine, so that no further
	// reducer may begin to compute.
	MachineComputing
	// NetworkBusy means that the share [Config.MaxNetwork] of the machine's network link, or more, is in use. The
	// numbers Have and Limit of the [Answer] are then in millionths of the link.
	NetworkBusy
	// MemoryFull means that the task needs more memory than other tasks leave free. The numbers Have and Limit of
	// the [Answer] are then in bytes: the memory that tasks use now, and the limit.
	MemoryFull
	// DiskFull means that the task may write more bytes than are free on the disks. Bytes that other tasks will
	// write, and the reserve [Config.DiskReserve], are not free. In the [Answer], Have is then the number of bytes
	// that the task may write, and Limit is the number of free bytes.
	DiskFull
)

var reasonNames = [...]string{
	NotAsked: "not-asked", BelowLimits: "below-limits", MachineFull: "machine-full", Reserved: "reserved", JobCap: "job-cap",
	JobCopying: "job-copying", MachineComputing: "machine-computing", NetworkBusy: "network-busy", MemoryFull: "memory-full",
	DiskFull: "disk-full",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the name of the reason. It returns an error if the value has no name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason to the constant whose name is text. It returns an error if no constant has this name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// Answer is the decision of a gate, with its reason and the two numbers that the gate compared. The zero value
// means Wait. Answers can be compared with ==. An Answer prints as one line, for example:
//
//	wait job-copying have=2 limit=2
//
// Two reducers of the job copy their input on the machine, and the limit is two, so the reducer must wait.
type Answer struct {
	Action Action // whether the task may start, or continue
	Reason Reason // the limit that was reached, or BelowLimits
	// Have and Limit are the two numbers that Reason compared. If Launch or Compute admits a reducer, they are the number
	// of reducers on the machine, or of computing reducers, and its limit.
	Have, Limit int64
}

// OK reports whether the task may start, or continue.
func (a Answer) OK() bool { return a.Action == Admit }

func (a *Answer) wire(c *wire.Codec) {
	c.Word("action", &a.Action)
	c.Word("reason", &a.Reason)
	c.When(true).Int64("have", &a.Have)
	wire.Limit(c.When(true), "limit", &a.Limit)
}

// String returns the answer as one line. MarshalJSON and LogValue (for
// log/slog) return the same fields.
func (a Answer) String() string               { return wire.Line(a.wire) }
func (a Answer) LogValue() slog.Value         { return wire.Log(a.wire) }
func (a Answer) MarshalJSON() ([]byte, error) { return wire.JSON(a.wire) }
