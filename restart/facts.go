package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// Attempt is one running copy of a task, as of now; or one that waits in an engine's queue, of which Elapsed is 0 and
// Remaining unknown.
type Attempt struct {
	// Machine is the host's index of the machine it runs on, from 0; negative if not known.
	Machine int
	// Elapsed is how long it has run.
	Elapsed time.Duration
	// Remaining is t_rem, how long it still needs, or [estimate.Unknown].
	Remaining time.Duration
	// Location is how many times longer than usual an attempt of the task takes where this copy runs; 0 counts as 1. It is
	// the same factor as Location of Task.Fresh. Where it is three times that or more, the machine is known to be bad:
	// then it is no guess that a new attempt is faster. Read by LeastCost and [Hold].
	Location float64
	// Left is t_rem as a distribution, in seconds, of which Remaining is the mean; nil where Remaining is taken for
	// certain: then a trial is no guess. Read by Mantri and LeastCost. Package estimate/survival makes some.
	Left estimate.Distribution
	// Basis is what Left rests on; the decision names it.
	Basis Basis
	// Even says that the copy's progress has run evenly so far, and that most copies' progress did. Such progress shows early
	// how fast the copy is. Method Even of survival.Trail tells it. Read by LeastCost.
	Even bool
	// Score is its progress score in [0, 1]. Read by LATE and Hadoop.
	Score float64
	// Done is the work that it has done, in the units of the task's Work. LeastCost and [Hold] see by it which copy of several
	// is furthest on: only for a copy that is further on may the old attempt be killed. Read by Spark as well.
	Done float64
	// Resumed is the work that it found done when it began, since a checkpoint of an earlier copy held it. Done, Score and
	// Remaining are of the rest. [Hold] counts Done and Resumed to see which copy is furthest on.
	Resumed float64
}

// Task is what the host knows of one running task.
type Task struct {
	// Attempts are its running and queued copies; len(Attempts) is c of the paper. A decision refers to them by index.
	Attempts []Attempt
	// Fresh is t_new, how long a new copy would take. If it would resume from a checkpoint, Fresh.Work is what that
	// leaves.
	Fresh estimate.Fresh
	// Work is the size of its input, without what all of its copies found done, in units of your choice; 0 if not
	// known. Read by Flink.
	Work float64
	// Clones is how many of Attempts are the task's first ones, launched together up front, as package clone
	// reckons. They are no copies that were made because the task is slow. 0 counts as 1.
	Clones int
	// Restarts is how often the task was killed and restarted so far.
	Restarts int
	// Copies is how many copies of it were launched so far while another one ran.
	Copies int
	// SinceCopy is how long ago its newest copy was launched, whether that still runs or not, or one of several copies was
	// killed; 0 if it never had more than one. The ages of Attempts are looked at as well.
	SinceCopy time.Duration
	// PastMachines are machines on which attempts of the task ran, latest first. Those of Attempts may stand there as well.
	PastMachines []int
	// Trial is what [Trials] has made of it when it was told of the task's trials. Read by LeastCost.
	Trial Trial
	// Longest is how long the longest attempt of the phase has taken that has ended, had it been of this task's work; 0 if none
	// has ended. Read by LeastCost and [Hold].
	Longest time.Duration
	// NoCopy says that two copies of the task must never run at once: it has side effects.
	NoCopy bool
	// NoRestart says that the task must not be killed and run again.
	NoRestart bool
}

// Phase is what the host knows of the phase that the task belongs to: the tasks that do the same work on different
// data.
type Phase struct {
	// Interval is Δ, the period of progress reports. 0 or less counts as none.
	Interval time.Duration
	// Tasks, Finished and Waiting count the phase's tasks: all, ended with success, neither started nor queued.
	Tasks, Finished, Waiting int
	// Slots is how many tasks of the phase may run at once, FreeSlots how many of them are free now. A queued copy holds
	// one.
	Slots, FreeSlots int
	// Copies is how many copies run, or are queued, beyond the first of their task.
	Copies int
	// Silent says that no copy of the phase has ever reported progress.
	Silent bool
	// Idle is how long ago an attempt of the phase last began or ended. If that is far longer than Task.Longest, no slot
	// will come free. Read by LeastCost and [Hold]: if no host says so, an attempt that hangs while all slots hang is
	// never restarted.
	Idle time.Duration
	// Machines is how many machines could take a copy; 0 if not known. It keeps [Decision.Avoid] from ruling out all.
	Machines int
	// Stream says that there are other phases, whose tasks may want the slots that are idle now. Read by LeastCost.
	Stream bool
	// Trials is what copies and restarts of slow tasks have come to. Read by LeastCost and [Hold].
	Trials Trials
	// Limits are what the host allows. The zero value protects. Read by LeastCost and [Hold].
	Limits Limits
	// Peers is what the engines' rules compare with. Mantri reads none of it.
	Peers Peers
}

// Peers describes the phase's other tasks. A nil distribution is unknown, and so is a zero.
type Peers struct {
	// Durations are the run times of the finished tasks, in seconds. Read by Dryad, Spark and Flink.
	Durations estimate.Distribution
	// UnitTimes are the finished tasks' times per unit of work, in seconds. Read by Flink.
	UnitTimes estimate.Distribution
	// ProgressRates are the progress rates, score/age per second, of the tasks that run or have finished. Read by LATE.
	ProgressRates estimate.Distribution
	// MeanScore is the mean progress score of the tasks that run or have finished, a finished one counting 1. Read by
	// Hadoop.
	MeanScore float64
	// Throughput is the finished tasks' work divided by their run time, in units per second. Read by Spark.
	Throughput float64
	// Machine describes the machine that asks for work, if one does. Read by LATE.
	Machine MachineProgress
}

// MachineProgress is how far a machine has come among all.
type MachineProgress struct {
	// Total is the machine's total work: the sum of the progress scores of all tasks that succeeded or run on it.
	Total float64
	// Of is the distribution of that figure over all machines; nil if not known.
	Of estimate.Distribution
}
