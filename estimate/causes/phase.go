package causes

import (
	"math"
	"time"
)

// Task describes one task of a phase by the attempt that counts, which is usually the attempt that succeeded. An
// unknown fact can stay zero: if all machines, cohorts or starts are equal, the package compares none of them.
type Task struct {
	// Took is the task's run time. A task without a positive time is left out.
	Took time.Duration
	// Censored says that the task still runs, or was killed, so it takes at least Took. A censored task can be an
	// outlier and count against its machine. A censored task counts in no median and in no model.
	Censored bool
	// Bytes is the task's input, and Remote the part that came over slow links, such as links between racks. Any
	// unit is valid. A negative number, NaN or a number beyond 1e30 is unknown.
	Bytes, Remote float64
	// Waited is how much of Took the task spent waiting for lost input to be computed again.
	Waited time.Duration
	// Start is when the task began, from any common origin.
	Start time.Duration
	// Machine is the host's index of the machine, negative if it is not known.
	Machine int
	// Cohort is the host's index of a group of tasks that do the same part of the work in every phase: a stage of a
	// pipeline, a partition, a table. If a cohort takes longer than the others, the division of the work is at
	// fault.
	Cohort int
}

// Phase holds tasks that do the same work on different data.
type Phase struct {
	// Tasks are the tasks of the phase. A report names each task by its index.
	Tasks []Task
	// Factor returns how many times slower than average a machine is by the host's record, such as
	// machines.Record.Factor or [Bill.Factor]. If too few tasks of the phase ran on a machine, Explain uses Factor
	// to judge the machine. Nil means that there is no record.
	Factor func(machine int) float64
}

// run returns the seconds that a task ran without its wait for lost input, and the seconds of the wait.
func (t *Task) run() (seconds, waited float64) {
	if t.Waited > 0 {
		waited = float64(min(t.Waited, t.Took)) / 1e9
	}
	return max(float64(t.Took)/1e9-waited, 1e-9), waited
}

// mostUnits is the largest valid number of bytes; less than 1/mostUnits counts as 0. With this bound no square, sum
// or ratio overflows.
const mostUnits = 1e30

// units returns a number of bytes, or NaN if it is unknown.
func units(x float64) float64 {
	switch {
	case !(x >= 0 && x <= mostUnits):
		return math.NaN()
	case x < 1/mostUnits:
		return 0
	}
	return x
}
