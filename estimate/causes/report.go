package causes

import (
	"cmp"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// Report is why the outliers of one phase were slow.
type Report struct {
	// Tasks is the number of tasks given, Finished of those whose time counts in full, Skipped of those without a time.
	Tasks, Finished, Skipped int
	// Median is the lower median of the finished tasks' times, Mean their mean, Slowest the longest.
	Median, Mean, Slowest time.Duration
	// Slowdown is Dolly's ratio, see [Slowdown].
	Slowdown float64
	// Model is the time that bytes explain.
	Model Model
	// Outliers are the tasks over Config.Outlier times the median, by index.
	Outliers []Outlier
	// Excess is what the outliers took beyond the median in all, and Parts shares it out.
	Excess time.Duration
	Parts  Parts
	// Improvable is the number of tasks that are no outliers and yet took over 1+Config.Residual times what the model
	// expects: rules that look for outliers alone do nothing for them [Mantri §4.2, figure 3b].
	Improvable int
	// Machines and Moments are the machines and the moments of this phase whose tasks were slow by more than
	// coincidence, the slowest machine first, the moments in the order of time.
	Machines []Suspect
	Moments  []Moment
}

// Outlier is a task that took long, and why. It is a plain value that can be compared with ==.
type Outlier struct {
	// Task is its index in Phase.Tasks.
	Task  int
	Cause Cause
	// Took is the task's time and Times that in medians of its phase; Expected is the time without waiting for lost
	// input by the phase's model and the task's cohort.
	Took, Expected time.Duration
	Times          float64
	// Explained says that the task took at most 1+Config.Residual times what was expected: no copy would be quicker.
	Explained bool
	// MachineRatio is how many times slower than expected the other tasks of the machine were, MomentRatio those that
	// began when it did; 1 where that shows nothing.
	MachineRatio, MomentRatio float64
	// Parts shares out what the task took beyond the median.
	Parts Parts
}

// Suspect is a machine, or a cohort, whose tasks take longer than those of its peers.
type Suspect struct {
	// Index is the host's index of the machine or the cohort.
	Index int
	// Ratio is the median of its ratio: in one phase over its tasks, in several over the phases.
	Ratio float64
	// Tasks is how many tasks speak about it, Slow how many of them were slow, Phases in how many phases.
	Tasks, Slow, Phases int
}

// Moment is a stretch of time in which tasks began that were slow, whatever their machine.
type Moment struct {
	// From and To are the first and the last start in it.
	From, To time.Duration
	// Ratio is the median of their times to what was expected, Tasks their number.
	Ratio float64
	Tasks int
}

// compareSuspects orders the worst first.
func compareSuspects(a, b Suspect) int {
	return cmp.Or(cmp.Compare(b.Ratio, a.Ratio), cmp.Compare(a.Index, b.Index))
}

// Count returns how many outliers have the cause.
func (r Report) Count(c Cause) int {
	n := 0
	for i := range r.Outliers {
		if r.Outliers[i].Cause == c {
			n++
		}
	}
	return n
}

// String returns the report as one line, with the parts of the excess that are not 0.
func (r Report) String() string {
	return "tasks=" + strconv.Itoa(r.Tasks) + " outliers=" + strconv.Itoa(len(r.Outliers)) +
		" median=" + seconds(r.Median) + " slowest=" + seconds(r.Slowest) + " slowdown=" + short(r.Slowdown) +
		" explained=" + short(r.Model.Explained) + " excess=" + seconds(r.Excess) + r.Parts.text()
}

// String returns the outlier as one line, with the parts that are not 0.
func (o Outlier) String() string {
	return "task=" + strconv.Itoa(o.Task) + " " + o.Cause.String() + " took=" + seconds(o.Took) +
		" expected=" + seconds(o.Expected) + " times=" + short(o.Times) + o.Parts.text()
}

// String returns the suspect as one line.
func (s Suspect) String() string {
	return "index=" + strconv.Itoa(s.Index) + " ratio=" + short(s.Ratio) + " tasks=" + strconv.Itoa(s.Tasks) +
		" slow=" + strconv.Itoa(s.Slow) + " phases=" + strconv.Itoa(s.Phases)
}

// String returns the parts that are not 0 as name=part, Unknown last.
func (p Parts) String() string { return strings.TrimPrefix(p.text(), " ") }

func (p Parts) text() string {
	var b strings.Builder
	list := p.list()
	for c := range causes {
		c = (c + 1) % causes
		if list[c] != 0 {
			b.WriteString(" " + c.String() + "=" + strconv.FormatFloat(list[c], 'g', 2, 64))
		}
	}
	return b.String()
}

// LogValue returns the report as a group of fields, for log/slog.
func (r Report) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("tasks", r.Tasks), slog.Int("outliers", len(r.Outliers)),
		slog.Duration("median", r.Median), slog.Duration("slowest", r.Slowest), slog.Float64("slowdown", r.Slowdown),
		slog.Float64("explained", r.Model.Explained), slog.Duration("excess", r.Excess), slog.Any("parts", r.Parts))
}

// LogValue returns the outlier as a group of fields, for log/slog.
func (o Outlier) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("task", o.Task), slog.String("cause", o.Cause.String()), slog.Duration("took", o.Took),
		slog.Duration("expected", o.Expected), slog.Float64("times", o.Times), slog.Any("parts", o.Parts))
}

// LogValue returns the parts that are not 0 as a group of fields, for log/slog.
func (p Parts) LogValue() slog.Value {
	attrs := make([]slog.Attr, 0, causes)
	for c, part := range p.list() {
		if part != 0 {
			attrs = append(attrs, slog.Float64(Cause(c).String(), part))
		}
	}
	return slog.GroupValue(attrs...)
}
