package delay

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Decision answers an offer. A Decision is a plain value: it can be compared with ==, prints as one line, logs as
// structured fields, and marshals to JSON with the names of its action and reason. The zero value declines the offer.
type Decision struct {
	// Action is Launch or Wait.
	Action Action
	// Reason says why.
	Reason Reason
	// Level is the offered level. Allowed is the least local level at which the job could launch at this time. 0 is the
	// most local level.
	Level, Allowed int
	// NextLevelIn is the time until the allowed level rises, if no launch and no more local candidates come first.
	// NextLevelIn is 0 in three cases: the waits are counted in offers, the wait has not begun or never ends, or
	// there is no further level.
	NextLevelIn time.Duration
	// Misses is the number of further offers to decline before the allowed level rises. Misses is 0 in three cases:
	// the waits are counted in time, there is no further level, or the level rises with the next offer.
	Misses int
}

func (d *Decision) wire(c *wire.Codec) {
	c.Word("action", &d.Action)
	c.Word("reason", &d.Reason)
	c.When(true).Int("level", &d.Level)
	c.When(true).Int("allowed", &d.Allowed)
	c.Duration("next-level-in", &d.NextLevelIn)
	c.Int("misses", &d.Misses)
}

// String returns the decision in one line. LogValue, for log/slog, and MarshalJSON have the same fields.
func (d Decision) String() string               { return wire.Line(d.wire) }
func (d Decision) LogValue() slog.Value         { return wire.Log(d.wire) }
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }
