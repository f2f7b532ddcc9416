package delay

import (
	"log/slog"
	"strconv"
	"time"
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

// String returns the decision as one line.
func (d Decision) String() string {
	b := make([]byte, 0, 64)
	b = append(b, d.Action.String()...)
	b = append(append(b, ' '), d.Reason.String()...)
	b = strconv.AppendInt(append(b, " level="...), int64(d.Level), 10)
	b = strconv.AppendInt(append(b, " allowed="...), int64(d.Allowed), 10)
	if d.NextLevelIn != 0 {
		b = append(strconv.AppendFloat(append(b, " next-level-in="...), d.NextLevelIn.Seconds(), 'g', 6, 64), 's')
	}
	if d.Misses != 0 {
		b = strconv.AppendInt(append(b, " misses="...), int64(d.Misses), 10)
	}
	return string(b)
}

// LogValue returns the decision as a group of fields, for log/slog.
func (d Decision) LogValue() slog.Value {
	attrs := make([]slog.Attr, 0, 6)
	attrs = append(attrs, slog.String("action", d.Action.String()), slog.String("reason", d.Reason.String()),
		slog.Int("level", d.Level), slog.Int("allowed", d.Allowed))
	if d.NextLevelIn != 0 {
		attrs = append(attrs, slog.Duration("next-level-in", d.NextLevelIn))
	}
	if d.Misses != 0 {
		attrs = append(attrs, slog.Int("misses", d.Misses))
	}
	return slog.GroupValue(attrs...)
}
