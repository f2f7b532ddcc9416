package replicate

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Decision is an action with its reason and the numbers that were compared. It can be compared with ==, prints as
// one line, logs as structured fields and has a JSON form. The zero value has the action [Leave]. An example of the
// line:
//
//	leave over-budget saves=10s takes=6s bytes=60000000 tokens=40000000
//
// A copy of the output would save 10 s and take 6 s. But the budget has 40 million tokens, and the output has 60
// million bytes. So the output is left without a copy.
type Decision struct {
	Action Action // the action to take with the output
	Reason Reason // the reason for the action
	// Saves is the waiting time that the action is expected to save. Takes is the time that the action takes: for a
	// copy, the time of the copy, and for a recomputation, the cluster time that it needs. If Reason is NoEstimate,
	// both are 0.
	Saves, Takes time.Duration
	// Bytes is the size of the output, and Tokens is the number of tokens in the byte budget. In a Decision from
	// [DecideRecompute] both are 0.
	Bytes, Tokens int64
	// Allowed is the cluster time in the budget for recomputations. In a Decision from [Decide] it is 0.
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

// String returns the decision as one line. LogValue returns the same fields for
// log/slog. MarshalJSON returns the same fields as JSON.
func (d Decision) String() string               { return wire.Line(d.wire) }
func (d Decision) LogValue() slog.Value         { return wire.Log(d.wire) }
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }
