package hedge

import (
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Ledger counts what second requests have cost and gained. The counts never fall, so they can be exported as counters.
type Ledger struct {
	// Started is the number of operations, and Answered the number of answered operations.
	Started, Answered int64
	// Sent is the number of second requests. Won counts second requests that brought the answer, and Lost counts
	// second requests that were overtaken by the first request. A failed second request counts as neither.
	Sent, Won, Lost int64
	// Expected is the number of second requests that independent times would let win.
	Expected float64
	// Refused is the number of second requests that were refused after the planned delay.
	Refused [reasons]int64
	// Busy is the time that second requests have taken. In shadow mode it is an estimate.
	Busy time.Duration
	// Forgotten is the number of operations that were dropped because they were still open when 65,536 others had
	// started after them. Their times count as cancelled.
	Forgotten int64
	// Steps is the number of times that the host's clock was set back.
	Steps int
}

func (l *Ledger) wire(c *wire.Codec) {
	c.Int64("started", &l.Started)
	c.Int64("answered", &l.Answered)
	c.Int64("sent", &l.Sent)
	c.Int64("won", &l.Won)
	c.Int64("lost", &l.Lost)
	c.Float("expected", &l.Expected)
	for r, n := range l.Refused {
		c.Int64(reasonNames[r], &n)
	}
	c.Duration("busy", &l.Busy)
	c.Int64("forgotten", &l.Forgotten)
	c.Int("clock-steps", &l.Steps)
}

// String returns the counts that are not 0 as one line. A refusal has the name of its reason.
func (l Ledger) String() string { return wire.Line(l.wire) }

// LogValue returns the counts as a group of fields for log/slog.
func (l Ledger) LogValue() slog.Value { return wire.Log(l.wire) }

// MarshalJSON returns a JSON object with the counts that are not 0.
func (l Ledger) MarshalJSON() ([]byte, error) { return wire.JSON(l.wire) }
