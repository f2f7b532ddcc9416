package replicate

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Decision is an action, its reason, and the numbers that were compared. It is comparable, prints as one line, logs
// as structured fields and marshals to JSON. The zero value has the action [Leave]. One line:
//
//	leave over-budget saves=10s takes=6s bytes=60000000 tokens=40000000
//
// A copy of the output would save 10 s and take 6 s, but the 40 million tokens do not cover its 60 million bytes.
type Decision struct {
	Action Action // what to do with the output
	Reason Reason // why
	// Saves is the waiting time that the action is expected to save. Takes is the time that it takes: the copy time
	// t_rep for a copy, and cluster time for a recomputation. Both are 0 if Reason is NoEstimate.
	Saves, Takes time.Duration
	// Bytes is the size of the output, and Tokens is the number of tokens in the byte budget. Both are 0 after
	// [DecideRecompute].
	Bytes, Tokens int64
	// Allowed is the time in the budget of cluster time. It is 0 after [Decide].
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

// String returns the decision as one line. MarshalJSON and LogValue (for log/slog) have the same fields.
func (d Decision) String() string               { return wire.Line(d.wire) }
func (d Decision) LogValue() slog.Value         { return wire.Log(d.wire) }
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }
