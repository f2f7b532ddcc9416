package causes

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Report explains why the outliers of one phase were slow.
type Report struct {
	// Tasks is the number of tasks given. Finished is the number of tasks with a full time, and Skipped the number
	// without a time.
	Tasks, Finished, Skipped int
	// Median is the lower median of the finished tasks' times, Mean their mean, Slowest the longest time.
	Median, Mean, Slowest time.Duration
	// Slowdown is how many times faster than the slowest finished task the median finished task progressed, in
	// bytes per second [Dolly §2.1.1]. If no task has bytes, only times count. 0 if there is no task.
	Slowdown float64
	// Model is the time that bytes explain.
	Model Model
	// Outliers are the tasks over Config.Outlier times the median, by index.
	Outliers []Outlier
	// Excess is the sum of the outliers' times beyond the median. Parts divides Excess among the causes.
	Excess time.Duration
	Parts  Parts
	// Improvable is the number of tasks that are no outliers and still took over 1+Config.Residual times their
	// expected time. Rules that look for outliers alone do nothing for them [Mantri §4.2, figure 3b].
	Improvable int
	// Machines and Moments are the machines and the moments of this phase with more slow tasks than coincidence
	// explains. Machines are in order of their ratio, the slowest first; Moments are in order of time.
	Machines []Suspect
	Moments  []Moment
}

// Outlier is a task that took long, with its causes. An Outlier is a plain value that can be compared with ==.
type Outlier struct {
	// Task is the index of the task in Phase.Tasks.
	Task  int
	Cause Cause
	// Took is the task's time, and Times is Took divided by the median of the phase. Expected is the time by the
	// phase's model and the task's cohort, without the wait for lost input.
	Took, Expected time.Duration
	Times          float64
	// Explained says that the task took at most 1+Config.Residual times its expected time: no copy would be faster.
	Explained bool
	// MachineRatio is how many times slower than expected the other tasks of the machine were. MomentRatio is the
	// same ratio for the tasks that began at the same time. Each is 1 if the other tasks do not show that it is
	// slow.
	MachineRatio, MomentRatio float64
	// Parts divides the task's time beyond the median among the causes.
	Parts Parts
}

// Suspect is a machine or a cohort that takes longer than its peers.
type Suspect struct {
	// Index is the host's index of the machine or the cohort.
	Index int
	// Ratio is the median of its ratio of time to expected time: over its tasks in a Report, over the phases in a
	// Bill.
	Ratio float64
	// Tasks is the number of tasks that are evidence about it, Slow the number of slow tasks, and Phases the number
	// of phases.
	Tasks, Slow, Phases int
}

// Moment is a stretch of time: tasks that began in it were slow on any machine.
type Moment struct {
	// From and To are the first and the last start in the moment.
	From, To time.Duration
	// Ratio is the median of the tasks' times to their expected times, and Tasks their number.
	Ratio float64
	Tasks int
}

// compareSuspects orders suspects by ratio, the slowest first.
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

// String returns a summary of the report as one line. LogValue returns the same fields for log/slog. MarshalJSON
// writes the whole report.
func (r Report) String() string               { return wire.Line(r.wire) }
func (r Report) LogValue() slog.Value         { return wire.Log(r.wire) }
func (r Report) MarshalJSON() ([]byte, error) { return wire.JSON(r.wire) }

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

// String returns the outlier as one line. LogValue, for log/slog, and MarshalJSON have the same fields.
func (o Outlier) String() string               { return wire.Line(o.wire) }
func (o Outlier) LogValue() slog.Value         { return wire.Log(o.wire) }
func (o Outlier) MarshalJSON() ([]byte, error) { return wire.JSON(o.wire) }

func (s *Suspect) wire(c *wire.Codec) {
	c.When(true).Int("index", &s.Index)
	c.When(true).Float("ratio", &s.Ratio)
	c.When(true).Int("tasks", &s.Tasks)
	c.When(true).Int("slow", &s.Slow)
	c.When(true).Int("phases", &s.Phases)
}

// String returns the suspect as one line. LogValue, for log/slog, and MarshalJSON have the same fields.
func (s Suspect) String() string               { return wire.Line(s.wire) }
func (s Suspect) LogValue() slog.Value         { return wire.Log(s.wire) }
func (s Suspect) MarshalJSON() ([]byte, error) { return wire.JSON(s.wire) }

func (m *Moment) wire(c *wire.Codec) {
	c.When(true).Duration("from", &m.From)
	c.When(true).Duration("to", &m.To)
	c.When(true).Float("ratio", &m.Ratio)
	c.When(true).Int("tasks", &m.Tasks)
}
