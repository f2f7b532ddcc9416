package delay

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Decision answers an offer. It is a plain value: it can be compared with ==, prints as one line, logs as structured
// fields and marshals to JSON with its action and reason by name. The zero value declines.
type Decision struct {
	// Action is Launch or Wait.
	Action Action
	Reason Reason
	// Level is the level that was offered, and Allowed the least local one that the job might have launched at. 0 is
	// the most local.
	Level, Allowed int
	// NextLevelIn is in how long the allowed level rises, if no launch and no more local candidates come first. It is 0
	// if that is not a matter of time: the waits are counted in offers, the wait has not begun or never ends, or there
	// is no further level.
	NextLevelIn time.Duration
	// Misses is how many more offers are to be declined before the allowed level rises. It is 0 if that is not a matter
	// of offers, there is no further level, or the level rises with the next offer.
	Misses int
}

// Rejected reports whether the slot was declined because of the delay.
func (d Decision) Rejected() bool { return d.Reason == Delayed }

func (d *Decision) wire(c *wire.Codec) {
	c.Word("action", &d.Action)
	c.Word("reason", &d.Reason)
	c.When(true).Int("level", &d.Level)
	c.When(true).Int("allowed", &d.Allowed)
	c.Duration("next-level-in", &d.NextLevelIn)
	c.Int("misses", &d.Misses)
}

// String returns the decision as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (d Decision) String() string                   { return wire.Line(d.wire) }
func (d Decision) LogValue() slog.Value             { return wire.Log(d.wire) }
func (d Decision) MarshalJSON() ([]byte, error)     { return wire.JSON(d.wire) }
func (d *Decision) UnmarshalJSON(data []byte) error { return wire.Read(data, d, (*Decision).wire) }
func (d *Decision) UnmarshalText(line []byte) error { return wire.Scan(line, d, (*Decision).wire) }
