package replicate

import (
	"log/slog"
	"math"
	"strconv"
	"time"
)

// Decision is an action, why it is taken, and the numbers that it rests on. It is a plain value: it can be compared
// with ==, prints as one line, logs as structured fields and marshals to JSON with its action and reason by name. The
// zero value leaves the output alone.
type Decision struct {
	Action Action
	Reason Reason
	// Saves is the time that the action is expected to save the tasks that wait, and Takes what it takes: t_rep for
	// Replicate, cluster time for Recompute. Both are 0 if there is NoEstimate.
	Saves, Takes time.Duration
	// Bytes is the size of the output, and Tokens what was left of the budget of bytes; 0 if no copy was asked about.
	Bytes, Tokens int64
	// Allowed is what was left of the budget of cluster time; 0 if no recomputation was asked about.
	Allowed time.Duration
}

// String returns the decision as one line: action, reason, and the numbers that were compared.
func (d Decision) String() string {
	b := make([]byte, 0, 96)
	b = append(b, d.Action.String()...)
	b = append(append(b, ' '), d.Reason.String()...)
	if d.Reason == NoEstimate || d.Reason == NoReason {
		return string(b)
	}
	b = appendSeconds(append(b, " saves="...), d.Saves)
	b = appendSeconds(append(b, " takes="...), d.Takes)
	if d.Bytes != 0 || d.Tokens != 0 {
		b = strconv.AppendInt(append(b, " bytes="...), d.Bytes, 10)
		b = append(b, " tokens="...)
		if d.Tokens == math.MaxInt64 {
			b = append(b, "off"...)
		} else {
			b = strconv.AppendInt(b, d.Tokens, 10)
		}
	}
	if d.Allowed == math.MaxInt64 {
		b = append(b, " allowed=off"...)
	} else if d.Allowed != 0 {
		b = appendSeconds(append(b, " allowed="...), d.Allowed)
	}
	return string(b)
}

func appendSeconds(b []byte, d time.Duration) []byte {
	return append(strconv.AppendFloat(b, d.Seconds(), 'g', 6, 64), 's')
}

// LogValue returns the decision as a group of fields, for log/slog. A budget without limit is left out.
func (d Decision) LogValue() slog.Value {
	attrs := make([]slog.Attr, 0, 7)
	attrs = append(attrs, slog.String("action", d.Action.String()), slog.String("reason", d.Reason.String()))
	if d.Reason == NoEstimate || d.Reason == NoReason {
		return slog.GroupValue(attrs...)
	}
	attrs = append(attrs, slog.Duration("saves", d.Saves), slog.Duration("takes", d.Takes))
	if d.Bytes != 0 || d.Tokens != 0 {
		attrs = append(attrs, slog.Int64("bytes", d.Bytes))
		if d.Tokens != math.MaxInt64 {
			attrs = append(attrs, slog.Int64("tokens", d.Tokens))
		}
	}
	if d.Allowed != 0 && d.Allowed != math.MaxInt64 {
		attrs = append(attrs, slog.Duration("allowed", d.Allowed))
	}
	return slog.GroupValue(attrs...)
}
