package laxity

import (
	"log/slog"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/wire"
)

func (a *Choice) wire(c *wire.Codec) {
	c.Word("reason", &a.Reason)
	c.Index("ticket", &a.Ticket)
	c.When(a.Ticket >= 0).Duration("laxity", &a.Laxity)
	c.When(a.Ticket >= 0).Duration("until-deadline", &a.UntilDeadline)
}

// String returns the choice as one line. LogValue returns the same fields for
// log/slog. MarshalJSON writes the same fields.
func (a Choice) String() string               { return wire.Line(a.wire) }
func (a Choice) LogValue() slog.Value         { return wire.Log(a.wire) }
func (a Choice) MarshalJSON() ([]byte, error) { return wire.JSON(a.wire) }

func (t *Transfer) wire(c *wire.Codec) {
	c.Flag("move", &t.Move, "stay", "move")
	c.Word("reason", &t.Reason)
	c.When(t.Laxity != estimate.Unknown).Duration("laxity", &t.Laxity)
}

// String returns the transfer as one line. LogValue returns the same fields for
// log/slog. MarshalJSON writes the same fields.
func (t Transfer) String() string               { return wire.Line(t.wire) }
func (t Transfer) LogValue() slog.Value         { return wire.Log(t.wire) }
func (t Transfer) MarshalJSON() ([]byte, error) { return wire.JSON(t.wire) }
