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
	if known(d) {
		return slog.Duration(name, d)
	}
	return slog.String(name, text(d))
}

// String returns the choice as one line.
func (c Choice) String() string {
	if c.Ticket < 0 {
		return c.Reason.String()
	}
	return "ticket=" + strconv.Itoa(c.Ticket) + " " + c.Reason.String() + " laxity=" + text(c.Laxity) + " left=" + text(c.Left)
}

// LogValue returns the choice as a group of fields, for log/slog.
func (c Choice) LogValue() slog.Value {
	if c.Ticket < 0 {
		return slog.GroupValue(slog.String("reason", c.Reason.String()))
	}
	return slog.GroupValue(slog.Int("ticket", c.Ticket), slog.String("reason", c.Reason.String()),
		field("laxity", c.Laxity), field("left", c.Left))
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

// String returns the verdict as one line.
func (v Verdict) String() string {
	s := "fine"
	if v.Overloaded {
		s = "overloaded"
	}
	s += " " + v.Reason.String()
	if known(v.Laxity) {
		s += " laxity=" + v.Laxity.String()
	}
	if v.Threshold == 0 {
		return s
	}
	return s + " bar=" + v.Bar.String() + " factor=" + strconv.FormatFloat(v.Factor, 'g', 6, 64) +
		" threshold=" + strconv.FormatFloat(v.Threshold, 'g', 6, 64)
}

// LogValue returns the verdict as a group of fields, for log/slog.
func (v Verdict) LogValue() slog.Value {
	attrs := []slog.Attr{slog.Bool("overloaded", v.Overloaded), slog.String("reason", v.Reason.String())}
	if known(v.Laxity) {
		attrs = append(attrs, slog.Duration("laxity", v.Laxity))
	}
	if v.Threshold != 0 {
		attrs = append(attrs, slog.Duration("bar", v.Bar), slog.Float64("factor", v.Factor),
			slog.Float64("threshold", v.Threshold))
	}
	return slog.GroupValue(attrs...)
}
