package causes

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/straggler-go/straggler/internal/wire"
)

// Report explains why the outliers of one phase, its slowest tasks, were slow.
type Report struct {
	// Tasks is the number of tasks in the phase. Finished is the number of tasks that have ended and have a
	// positive time. Skipped is the number of tasks without a positive time.
	Tasks, Finished, Skipped int
	// Median is the [Median] of the finished tasks' times. Mean is their mean, and Slowest is the longest time.
	Median, Mean, Slowest time.Duration
	// Slowdown compares the speeds of the finished tasks, in bytes per second [Dolly §2.1.1]. It is the median
	// speed divided by the lowest speed. If no task has bytes, all tasks are treated as having equal bytes.
	// Slowdown is 0 if there is no finished task.
	Slowdown float64
	// Model is the time that the tasks should take by their bytes.
	Model Model
	// Outliers are the tasks that take over Config.Outlier times the median, in the order of their indexes. A phase of fewer
	// than LeastTasks tasks has none.
	Outliers []Outlier
	// Excess is a sum over the outliers: the time of each outlier beyond the median. Parts divides Excess among the
	// causes.
	Excess time.Duration
	Parts  Parts
	// Improvable is the number of finished tasks that are no outliers and still took over 1+Config.Residual times
	// their expected time. Rules that look for outliers alone do nothing for these tasks [Mantri §4.2, figure 3b].
	Improvable int
	// Machines and Moments are the machines and the moments of this phase with more slow tasks than coincidence
	// explains. Machines are sorted by their ratio, the slowest first. Moments are sorted by time.
	Machines []Suspect
	Moments  []Moment
}

// Outlier is a task that took much longer than the median, with the causes. An Outlier can be compared with ==.
type Outlier struct {
	// Task is the index of the task in Phase.Tasks.
	Task  int
	Cause Cause
	// Took is the task's time. Times is Took divided by the median of the phase. Expected is the time that the
	// phase's model and the task's cohort explain, without the wait for lost input.
	Took, Expected time.Duration
	Times          float64
	// Explained says that the task took at most 1+Config.Residual times its expected time. So a copy would not be
	// faster.
	Explained bool
	// MachineRatio describes the other tasks on this task's machine: their time divided by their expected time.
	// MomentRatio is how many times slower than expected the tasks were that began at the same time. A ratio is 1 if these
	// tasks do not show that the machine or the moment is slow. If too few tasks ran on the machine, MachineRatio is the
	// machine's factor in the host's record, [Phase.Factor].
	MachineRatio, MomentRatio float64
	// Parts divides the task's time beyond the median of the phase among the causes.
	Parts Parts
}

// Suspect is a machine or a cohort whose tasks take longer than other tasks.
type Suspect struct {
	// Index is the host's index of the machine or the cohort.
	Index int
	// Ratio is time divided by expected time. In a Report, Ratio is the median over the tasks of the suspect. In a
	// Bill, Ratio is the median over the phases.
	Ratio float64
	// Tasks is the number of the suspect's tasks that are evidence. Slow is the number of slow tasks among them,
	// and Phases is the number of phases from which they come.
	Tasks, Slow, Phases int
}

// Moment is a range of time. Tasks that began in this range were slow on any machine.
type Moment struct {
	// From and To are the first and the last start of a task in the moment.
	From, To time.Duration
	// Ratio is the median of time divided by expected time, over the tasks that began in the moment. Tasks is the
	// number of these tasks.
	Ratio float64
	Tasks int
}

// compareSuspects orders suspects by Ratio, the slowest first. If ratios are equal, the lower index is first.
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

// String returns a summary of the report as one line. LogValue returns the same fields as String for log/slog.
// MarshalJSON returns the whole report as JSON.
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

// String returns the outlier as one line. LogValue returns the same fields for
// log/slog. MarshalJSON returns the same fields as JSON.
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

// String returns the suspect as one line. LogValue returns the same fields for
// log/slog. MarshalJSON returns the same fields as JSON.
func (s Suspect) String() string               { return wire.Line(s.wire) }
func (s Suspect) LogValue() slog.Value         { return wire.Log(s.wire) }
func (s Suspect) MarshalJSON() ([]byte, error) { return wire.JSON(s.wire) }

func (m *Moment) wire(c *wire.Codec) {
	c.When(true).Duration("from", &m.From)
	c.When(true).Duration("to", &m.To)
	c.When(true).Float("ratio", &m.Ratio)
	c.When(true).Int("tasks", &m.Tasks)
}
