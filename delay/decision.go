package delay

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Decision is the answer to an offer of a slot. Decisions can be compared with ==. A Decision prints as one line,
// logs as fields, and marshals to JSON with the names of its action and reason. The zero value declines the offer.
type Decision struct {
	// Action is Launch or Wait.
	Action Action
	// Reason says why the job should launch a task or wait.
	Reason Reason
	// Level is the locality level of the offered slot. Allowed is the largest level at which the job may launch
	// now. Level 0 is the most local level.
	Level, Allowed int
	// NextLevelIn is the time until Allowed becomes larger. A launch, or new tasks at a more local level, may
	// change this time. NextLevelIn is 0 in three cases: waits are numbers of offers, the wait has not begun or
	// never ends, or there is no further level.
	NextLevelIn time.Duration
	// Misses is the number of further offers that the job must decline before Allowed becomes larger. Misses is 0
	// in three cases: waits are times, there is no further level, or Allowed becomes larger at the next offer.
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

// String returns the decision as one line. LogValue returns the same fields for
// log/slog. MarshalJSON writes the same fields.
func (d Decision) String() string               { return wire.Line(d.wire) }
func (d Decision) LogValue() slog.Value         { return wire.Log(d.wire) }
func (d Decision) MarshalJSON() ([]byte, error) { return wire.JSON(d.wire) }
