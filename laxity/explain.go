package laxity

import (
	"log/slog"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/wire"
)

func (h *Choice) wire(c *wire.Codec) {
	c.Word("reason", &h.Reason)
	c.Index("ticket", &h.Ticket)
	c.When(h.Ticket >= 0).Duration("laxity", &h.Laxity)
	c.When(h.Ticket >= 0).Duration("until-deadline", &h.UntilDeadline)
}

// String returns the choice in one line, and UnmarshalText reads this line. LogValue returns the same fields for log/slog.
// MarshalJSON writes the same fields, and UnmarshalJSON reads them.
func (h Choice) String() string                   { return wire.Line(h.wire) }
func (h Choice) LogValue() slog.Value             { return wire.Log(h.wire) }
func (h Choice) MarshalJSON() ([]byte, error)     { return wire.JSON(h.wire) }
func (h *Choice) UnmarshalJSON(data []byte) error { return wire.Read(data, h, (*Choice).wire) }
func (h *Choice) UnmarshalText(line []byte) error { return wire.Scan(line, h, (*Choice).wire) }

func (t *Transfer) wire(c *wire.Codec) {
	c.Flag("move", &t.Move, "stay", "move")
	c.Word("reason", &t.Reason)
	if c.Reading() {
		t.Laxity = estimate.Unknown
	}
	c.When(t.Laxity != estimate.Unknown).Duration("laxity", &t.Laxity)
}

// String returns the transfer in one line, and UnmarshalText reads this line. LogValue returns the same fields for
// log/slog. MarshalJSON writes the same fields, and UnmarshalJSON reads them.
func (t Transfer) String() string                   { return wire.Line(t.wire) }
func (t Transfer) LogValue() slog.Value             { return wire.Log(t.wire) }
func (t Transfer) MarshalJSON() ([]byte, error)     { return wire.JSON(t.wire) }
func (t *Transfer) UnmarshalJSON(data []byte) error { return wire.Read(data, t, (*Transfer).wire) }
func (t *Transfer) UnmarshalText(line []byte) error { return wire.Scan(line, t, (*Transfer).wire) }
