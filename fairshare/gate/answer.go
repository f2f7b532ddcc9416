package gate

import (
	"log/slog"

	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// Action is what a gate says.
type Action uint8

const (
	// Wait means not now.
	Wait Action = iota
	// Admit means go on.
	Admit
)

var actionNames = [...]string{Wait: "wait", Admit: "admit"}

// String returns the name of the action.
func (a Action) String() string { return enum.Name(actionNames[:], a) }

// MarshalText returns the action's name.
func (a Action) MarshalText() ([]byte, error) { return enum.Text(actionNames[:], a) }

// UnmarshalText sets the action by its name.
func (a *Action) UnmarshalText(text []byte) error { return enum.Parse(actionNames[:], text, a) }

// Reason is why a task was let in or not.
type Reason uint8

const (
	// NotAsked is the zero value.
	NotAsked Reason = iota
	// BelowLimits means that no limit was reached.
	BelowLimits
	// NodeFull means that MaxReducers are on the node.
	NodeFull
	// Reserved means that what is left on the node is kept for short or production jobs.
	Reserved
	// JobCap means that the job has as many reducers on the node as its user allows.
	JobCap
	// JobCopying means that MaxCopying reducers of the job are copying on the node.
	JobCopying
	// NodeComputing means that MaxComputing reducers are computing on the node.
	NodeComputing
	// NetworkBusy means that the node's link is in use to MaxNetwork; the numbers are millionths of it.
	NetworkBusy
	// MemoryFull means that the task would not fit in the node's memory beside what the others hold.
	MemoryFull
	// DiskFull means that the task is expected to write more than is free and not owed to others.
	DiskFull
)

var reasonNames = [...]string{
	NotAsked: "not-asked", BelowLimits: "below-limits", NodeFull: "node-full", Reserved: "reserved", JobCap: "job-cap",
	JobCopying: "job-copying", NodeComputing: "node-computing", NetworkBusy: "network-busy", MemoryFull: "memory-full",
	DiskFull: "disk-full",
}

// String returns the name of the reason.
func (r Reason) String() string { return enum.Name(reasonNames[:], r) }

// MarshalText returns the reason's name.
func (r Reason) MarshalText() ([]byte, error) { return enum.Text(reasonNames[:], r) }

// UnmarshalText sets the reason by its name.
func (r *Reason) UnmarshalText(text []byte) error { return enum.Parse(reasonNames[:], text, r) }

// Answer is what a gate says, with what it compared. The zero value is a no; it is comparable.
type Answer struct {
	Action      Action
	Reason      Reason
	Have, Limit int64 // of the limit that was reached, or of the number of reducers
}

// OK reports whether the task may go on.
func (a Answer) OK() bool { return a.Action == Admit }

func (a *Answer) wire(c *wire.Codec) {
	c.Word("action", &a.Action)
	c.Word("reason", &a.Reason)
	c.When(true).Int64("have", &a.Have)
	wire.Limit(c.When(true), "limit", &a.Limit)
}

// String returns the answer as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (a Answer) String() string                   { return wire.Line(a.wire) }
func (a Answer) LogValue() slog.Value             { return wire.Log(a.wire) }
func (a Answer) MarshalJSON() ([]byte, error)     { return wire.JSON(a.wire) }
func (a *Answer) UnmarshalJSON(data []byte) error { return wire.Read(data, a, (*Answer).wire) }
func (a *Answer) UnmarshalText(line []byte) error { return wire.Scan(line, a, (*Answer).wire) }
