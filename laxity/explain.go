package laxity

import (
	"log/slog"
	"strconv"
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// text writes a time that may be unknown or endless.
func text(d time.Duration) string {
	switch d {
	case estimate.Unknown:
		return "unknown"
	case NoDeadline:
		return "none"
	}
	return d.String()
}

// field is text for log/slog.
func field(name string, d time.Duration) slog.Attr {
	if d == estimate.Unknown || d == NoDeadline {
		return slog.String(name, text(d))
	}
	return slog.Duration(name, d)
}

// String returns the choice as one line.
func (c Choice) String() string {
	if c.Ticket < 0 {
		return c.Reason.String()
	}
	return c.Reason.String() + " ticket=" + strconv.Itoa(c.Ticket) + " laxity=" + text(c.Laxity) +
		" time-left=" + text(c.TimeLeft)
}

// LogValue returns the choice as a group of fields, for log/slog.
func (c Choice) LogValue() slog.Value {
	if c.Ticket < 0 {
		return slog.GroupValue(slog.String("reason", c.Reason.String()))
	}
	return slog.GroupValue(slog.String("reason", c.Reason.String()), slog.Int("ticket", c.Ticket),
		field("laxity", c.Laxity), field("time-left", c.TimeLeft))
}

// String returns the transfer as one line.
func (t Transfer) String() string {
	s := "stay "
	if t.Move {
		s = "move "
	}
	s += t.Reason.String()
	if t.Laxity != estimate.Unknown {
		s += " laxity=" + text(t.Laxity)
	}
	return s
}

// LogValue returns the transfer as a group of fields, for log/slog.
func (t Transfer) LogValue() slog.Value {
	attrs := []slog.Attr{slog.Bool("move", t.Move), slog.String("reason", t.Reason.String())}
	if t.Laxity != estimate.Unknown {
		attrs = append(attrs, field("laxity", t.Laxity))
	}
	return slog.GroupValue(attrs...)
}
