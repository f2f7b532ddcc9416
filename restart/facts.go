package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// Attempt describes one run of a task at the present moment. The attempt may still wait in an engine's queue: then
// Elapsed is 0 and Remaining is unknown.
type Attempt struct {
	// Machine is the index of the machine on which the attempt runs, from 0. The host numbers its machines. A
	// negative number means that the machine is not known.
	Machine int
	// Elapsed is the attempt's age: how long it has run.
	Elapsed time.Duration
	// Remaining is how long the attempt still needs (t_rem). It is [estimate.Unknown] if that is not known.
	Remaining time.Duration
	// Location is the factor by which an attempt of this task takes longer on this machine than on an average
	// machine, such as 2 for twice as long. 0 means 1. Task.Fresh.Location is the same factor for the machine of a
	// new attempt. If Location is at least three times Task.Fresh.Location, the machine is known to be bad for the
	// task, and a restart on another machine is no guess; see [Trials]. Read by LeastCost and [Hold].
	Location float64
	// Left is the probability distribution of the remaining time, in seconds. The mean of Left is Remaining. If Left
	// is nil, Remaining is taken to be certain, and a copy or restart puts no slot time at risk. Read by Mantri and
	// LeastCost. Package estimate/survival makes such distributions.
	Left estimate.Distribution
	// Basis is the evidence from which Left was predicted: progress reports, or the attempt's age. It is copied into
	// the decision.
	Basis Basis
	// Score is the attempt's progress score: 0 at the start, 1 at the end. Read by LATE and Hadoop.
	Score float64
	// Done is the work that the attempt has done, in the units of Task.Work. Read by Spark, LeastCost and [Hold].
	Done float64
	// Resumed is the work that was already done when the attempt began, because it continued from a checkpoint of an
	// earlier attempt. Done, Score and Remaining do not include this work. LeastCost and [Hold] add Done and Resumed to
	// find the attempt with the most work behind it, which [Limits] protects.
	Resumed float64
}

// Task contains the facts of one running task. The zero value of a field means that the fact is not known. Policies
// take fewer risks if facts are not known.
type Task struct {
	// Attempts are the attempts of the task that run, or that wait in an engine's queue. The Mantri paper calls
	// their number c.
	Attempts []Attempt
	// Fresh is the time that a new attempt of the task would take (t_new), as a probability distribution. If a new
	// attempt would continue from a checkpoint, Fresh.Work is the work after the checkpoint.
	Fresh estimate.Fresh
	// Work is the size of the task's input, in units of the host's choice, such as bytes. It excludes work that all
	// attempts of the task found already done when they began. 0 means that the size is not known. Read by Flink.
	Work float64
	// Clones is how many of Attempts are clones. Clones are first attempts that the host started together, before
	// anything was slow; package clone computes their number. 0 means 1: the first attempt is the only clone.
	Clones int
	// Restarts is how often the task was killed and started again so far.
	Restarts int
	// Copies is how many copies the task was given so far. Clones are not included.
	Copies int
	// SinceCopy is the time since a copy of the task was last started, or since an attempt was last killed while
	// another attempt of the task went on. The later event is used. 0 means that the task never had two attempts. A
	// policy also looks at the ages of Attempts.
	SinceCopy time.Duration
	// PastMachines lists machines on which attempts of the task ran, the latest first. The list may also contain
	// machines of running attempts.
	PastMachines []int
	// Longest is the longest run time of a finished attempt of the phase, scaled to the work of this task. 0 means
	// that no attempt has finished. Read by LeastCost and [Hold].
	Longest time.Duration
	// NoCopy says that two attempts of the task must never run at once, for example because the task has side
	// effects.
	NoCopy bool
	// NoRestart says that the task must not be killed and run again.
	NoRestart bool
}

// Phase contains the facts of the task's phase.
type Phase struct {
	// Interval is the time between two progress reports of an attempt; the Mantri paper calls it Δ. 0 or less means that
	// reports have no fixed period.
	Interval time.Duration
	// Tasks is the number of all tasks of the phase. Finished is the number of tasks that ended with success. Waiting
	// is the number of tasks that have not finished, do not run and are not in an engine's queue.
	Tasks, Finished, Waiting int
	// Slots is how many attempts of the phase may run at once. FreeSlots is how many more attempts may start now. An
	// attempt in an engine's queue occupies a slot.
	Slots, FreeSlots int
	// Copies is the number of attempts of the phase beyond one attempt for each task. It includes attempts that run
	// and attempts that wait in an engine's queue.
	Copies int
	// Silent says that no attempt of the phase has ever reported progress.
	Silent bool
	// Idle is the time since an attempt of the phase last began or ended. If the host leaves it 0, policies never see
	// that a phase is stuck ([Phase.Stuck]), even if all its attempts hang. Read by LeastCost and [Hold].
	Idle time.Duration
	// Machines is how many machines could run an attempt; 0 if not known. [Decision].Avoid then always leaves out at
	// least one machine, so that a new attempt has a machine to run on.
	Machines int
	// Stream says that other phases may soon need the slots that are idle now. Read by LeastCost.
	Stream bool
	// Trials is the account of the trials of the phase. Read by LeastCost and [Hold].
	Trials Trials
	// Limits bounds the restarts, the copies and the lost slot time of the phase. The zero value has safe defaults.
	// Read by LeastCost and [Hold].
	Limits Limits
	// Peers describes the phase's other tasks. Rules that come from other engines, such as Spark's, need it;
	// LeastCost and Mantri do not read it.
	Peers Peers
}

// Peers describes the other tasks of the phase. A nil distribution or a zero means that the value is not known.
type Peers struct {
	// Durations is the distribution of the run times of the finished tasks, in seconds. Read by Dryad, Spark and
	// Flink.
	Durations estimate.Distribution
	// UnitTimes is the distribution of run time divided by work over the finished tasks, in seconds for each unit of
	// work. Read by Flink.
	UnitTimes estimate.Distribution
	// ProgressRates is the distribution of progress rates over the running and finished tasks. The progress rate of a
	// task is its progress score divided by its age in seconds. Read by LATE.
	ProgressRates estimate.Distribution
	// MeanScore is the mean progress score of the running and finished tasks. A finished task has the score 1. Read
	// by Hadoop.
	MeanScore float64
	// Throughput is the total work of the finished tasks divided by their total run time, in units of work for each
	// second. Read by Spark.
	Throughput float64
	// Machine describes the machine that asks for work, if a machine asks. Read by LATE.
	Machine MachineProgress
}

// MachineProgress compares the total progress made on one machine with the totals of all machines.
type MachineProgress struct {
	// Total is the sum of the progress scores of all tasks that run or have succeeded on the machine. A succeeded
	// task adds 1.
	Total float64
	// Of is the distribution of Total over all machines; nil if it is not known.
	Of estimate.Distribution
}
