package outlier

import (
	"log/slog"
	"strconv"
)

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
