package causes

import (
	"math"
	"time"
)

// Task describes one task of a phase by one of its attempts, usually the attempt that succeeded. A fact that the
// host does not know may stay zero: if all machines, cohorts or starts are equal, the package does not compare
// them.
type Task struct {
	// Took is the time that the task ran. A task whose time is not positive is left out.
	Took time.Duration
	// Censored says that the end of the task is not known, because the task still runs or was killed. Such a task
	// takes at least Took. A censored task can be an outlier and can be evidence against its machine. It is left
	// out of all medians and of the fit of the model.
	Censored bool
	// Bytes is the task's input, and Remote is the part of the input that came over slow links, such as links
	// between racks. Any unit is allowed. A negative number, NaN or a number above 1e30 means that the number is
	// not known.
	Bytes, Remote float64
	// Waited is the part of Took that the task spent waiting for lost input to be computed again.
	Waited time.Duration
	// Start is when the task began, as the time since an instant that is the same for all tasks of the phase.
	Start time.Duration
	// Machine is the host's index of the machine, or negative if the machine is not known.
	Machine int
	// Cohort is the host's index of a group of tasks that do the same part of the work in every phase. Examples are
	// a stage of a pipeline, a partition or a table. If a cohort takes longer than the others, the division of the
	// work is at fault.
	Cohort int
}

// Phase contains tasks that do the same work on different data.
type Phase struct {
	// Tasks are the tasks of the phase. A report refers to each task by its index in Tasks.
	Tasks []Task
	// Factor returns how many times slower than average a machine is, by the host's record. For example, Factor can
	// be the method Factor of a machines.Record or of a [Bill]. Explain uses Factor to judge a machine if too few
	// tasks of the phase ran on it. Nil means that there is no record.
	Factor func(machine int) float64
}

// run returns the seconds that a task ran, without its wait for lost input, and the seconds of the wait.
func (t *Task) run() (seconds, waited float64) {
	if t.Waited > 0 {
		waited = float64(min(t.Waited, t.Took)) / 1e9
	}
	return max(float64(t.Took)/1e9-waited, 1e-9), waited
}

// mostUnits is the largest valid number of bytes. A number below 1/mostUnits is treated as 0. With these limits no
// square, sum or ratio overflows.
const mostUnits = 1e30

// units returns the number of bytes x, or NaN if x means that the number is not known.
func units(x float64) float64 {
	switch {
	case !(x >= 0 && x <= mostUnits):
		return math.NaN()
	case x < 1/mostUnits:
		return 0
	}
	return x
}
