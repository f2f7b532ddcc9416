package causes

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Report is why the outliers of one phase were slow.
type Report struct {
	// Tasks is the number of tasks given, Finished of those whose time counts in full, Skipped of those without a time.
	Tasks, Finished, Skipped int
	// Median is the lower median of the finished tasks' times, Mean their mean, Slowest the longest.
	Median, Mean, Slowest time.Duration
	// Slowdown is how many times faster than the slowest of the finished tasks the median one progressed, in bytes per
	// second [Dolly §2.1.1]; by their times alone if no task has bytes. 0 if there is no task.
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

func (r *Report) wire(c *wire.Codec) {
	c.When(true).Int("tasks", &r.Tasks)
	c.When(true).Int("finished", &r.Finished)
	c.Int("skipped", &r.Skipped)
	if n := len(r.Outliers); c.Brief() {
		c.When(true).Int("outliers", &n)
	} else {
		wire.List(c, "outliers", &r.Outliers, (*Outlier).wire)
	}
	c.When(true).Duration("median", &r.Median)
	c.When(true).Duration("mean", &r.Mean)
	c.When(true).Duration("slowest", &r.Slowest)
	c.When(true).Float("slowdown", &r.Slowdown)
	c.Value("model", &r.Model)
	c.When(true).Duration("excess", &r.Excess)
	c.Value("parts", &r.Parts)
	c.Int("improvable", &r.Improvable)
	wire.List(c, "machines", &r.Machines, (*Suspect).wire)
	if !c.Brief() {
		wire.List(c, "moments", &r.Moments, (*Moment).wire)
	}
}

// String returns a summary of the report as one line, and LogValue the same for log/slog; MarshalJSON writes it whole,
// and UnmarshalJSON reads that.
func (r Report) String() string                   { return wire.Line(r.wire) }
func (r Report) LogValue() slog.Value             { return wire.Log(r.wire) }
func (r Report) MarshalJSON() ([]byte, error)     { return wire.JSON(r.wire) }
func (r *Report) UnmarshalJSON(data []byte) error { return wire.Read(data, r, (*Report).wire) }

func (o *Outlier) wire(c *wire.Codec) {
	c.Word("cause", &o.Cause)
	c.When(true).Int("task", &o.Task)
	c.When(true).Duration("took", &o.Took)
	c.When(true).Duration("expected", &o.Expected)
	c.When(true).Float("times", &o.Times)
	c.Bool("explained", &o.Explained)
	c.When(true).Float("machine-ratio", &o.MachineRatio)
	c.When(true).Float("moment-ratio", &o.MomentRatio)
	c.Value("parts", &o.Parts)
}

// String returns the outlier as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (o Outlier) String() string                   { return wire.Line(o.wire) }
func (o Outlier) LogValue() slog.Value             { return wire.Log(o.wire) }
func (o Outlier) MarshalJSON() ([]byte, error)     { return wire.JSON(o.wire) }
func (o *Outlier) UnmarshalJSON(data []byte) error { return wire.Read(data, o, (*Outlier).wire) }
func (o *Outlier) UnmarshalText(line []byte) error { return wire.Scan(line, o, (*Outlier).wire) }

func (s *Suspect) wire(c *wire.Codec) {
	c.When(true).Int("index", &s.Index)
	c.When(true).Float("ratio", &s.Ratio)
	c.When(true).Int("tasks", &s.Tasks)
	c.When(true).Int("slow", &s.Slow)
	c.When(true).Int("phases", &s.Phases)
}

// String returns the suspect as one line, which UnmarshalText reads; LogValue, for log/slog, and MarshalJSON, which
// UnmarshalJSON reads, have the same fields.
func (s Suspect) String() string                   { return wire.Line(s.wire) }
func (s Suspect) LogValue() slog.Value             { return wire.Log(s.wire) }
func (s Suspect) MarshalJSON() ([]byte, error)     { return wire.JSON(s.wire) }
func (s *Suspect) UnmarshalJSON(data []byte) error { return wire.Read(data, s, (*Suspect).wire) }
func (s *Suspect) UnmarshalText(line []byte) error { return wire.Scan(line, s, (*Suspect).wire) }

func (m *Moment) wire(c *wire.Codec) {
	c.When(true).Duration("from", &m.From)
	c.When(true).Duration("to", &m.To)
	c.When(true).Float("ratio", &m.Ratio)
	c.When(true).Int("tasks", &m.Tasks)
}
