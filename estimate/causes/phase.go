package causes

import (
	"math"
	"time"
)

// Task is what is known of one task of a phase: of the attempt whose time counts, as a rule the one that succeeded.
// What is not known can stay zero: machines, cohorts or starts that are all alike say nothing about each other.
type Task struct {
	// Took is the task's run time. A task without a positive one is left out.
	Took time.Duration
	// Censored says that the task still runs, or was killed: it takes at least Took. It can be an outlier and speak
	// against its machine by then, but no median and no model counts it.
	Censored bool
	// Bytes is the task's input, Remote how much of it came over slow links, such as those between racks. Any unit will
	// do. A negative number, NaN or one beyond 1e30 is unknown.
	Bytes, Remote float64
	// Waited is how much of Took the task spent waiting for lost input to be computed again.
	Waited time.Duration
	// Start is when the task began, from any common origin.
	Start time.Duration
	// Machine is the host's index of the machine, negative if it is not known.
	Machine int
	// Cohort is the host's index of the tasks that do the same kind of work in every phase: a stage of a pipeline, a
	// partition, a table. What a cohort takes beyond the others is the fault of the division of the work.
	Cohort int
}

// Phase is the tasks that do the same work on different data.
type Phase struct {
	// Tasks are named by their index from here on.
	Tasks []Task
	// Factor returns how many times slower than average a machine is by the host's record, such as
	// machines.Record.Factor or [Bill.Factor]. It decides where too few tasks of the phase ran on the machine to tell.
	// Nil: no record.
	Factor func(machine int) float64
}

// run returns the seconds that a task took by itself, without its wait for lost input, and that wait.
func (t *Task) run() (seconds, waited float64) {
	if t.Waited > 0 {
		waited = float64(min(t.Waited, t.Took)) / 1e9
	}
	return max(float64(t.Took)/1e9-waited, 1e-9), waited
}

// mostUnits is the largest accepted number of bytes; less than 1/mostUnits counts as 0. So no square, sum or ratio
// overflows.
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
