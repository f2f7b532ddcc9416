package replicate

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Decision is an action, why it is taken, and the numbers that it rests on. It is a plain value: it can be compared
// with ==, prints as one line, logs as structured fields and marshals to JSON with its action and reason by name. The
// zero value leaves the output alone.
type Decision struct {
	Action Action
	Reason Reason
	// Saves is the time that the action is expected to save the tasks that wait, and Takes what it takes: t_rep for
	// Replicate, cluster time for Recompute. Both are 0 if there is NoEstimate.
	Saves, Takes time.Duration
	// Bytes is the size of the output, and Tokens what was left of the budget of bytes; 0 if no copy was asked about.
	Bytes, Tokens int64
	// Allowed is what was left of the budget of cluster time; 0 if no recomputation was asked about.
	Allowed time.Duration
}

func (d *Decision) wire(c *wire.Codec) {
	c.Word("action", &d.Action)
	c.Word("reason", &d.Reason)
	compared, asked := d.Reason != NoEstimate && d.Reason != NoReason, d.Bytes != 0 || d.Tokens != 0
	c.When(compared).Duration("saves", &d.Saves)
	c.When(compared).Duration("takes", &d.Takes)
	c.When(compared && asked).Int64("bytes", &d.Bytes)
	wire.Limit(c.When(compared && asked), "tokens", &d.Tokens)
	wire.Limit(c.When(compared && d.Allowed != 0), "allowed", &d.Allowed)
}

// String returns the decision as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (d Decision) String() string                   { return wire.Line(d.wire) }
func (d Decision) LogValue() slog.Value             { return wire.Log(d.wire) }
func (d Decision) MarshalJSON() ([]byte, error)     { return wire.JSON(d.wire) }
func (d *Decision) UnmarshalJSON(data []byte) error { return wire.Read(data, d, (*Decision).wire) }
func (d *Decision) UnmarshalText(line []byte) error { return wire.Scan(line, d, (*Decision).wire) }
