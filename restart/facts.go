package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
)

// Attempt describes one run of a task, now. It may also wait in an engine's queue: then Elapsed is 0 and Remaining unknown.
type Attempt struct {
	// Machine is the host's index of the machine where the attempt runs, from 0; negative if not known.
	Machine int
	// Elapsed is the attempt's age: how long it has run.
	Elapsed time.Duration
	// Remaining is t_rem, how long the attempt still needs; [estimate.Unknown] if not known.
	Remaining time.Duration
	// Location is the factor by which an attempt of the task takes longer on this machine than on an average machine; 0 means
	// 1. Task.Fresh.Location is this factor for the machine of a new attempt. If Location is three times as large or more, the
	// machine is known to be bad, and a restart elsewhere is no guess. Read by LeastCost and [Hold].
	Location float64
	// Left is the distribution of the remaining time (t_rem), in seconds; its mean is Remaining. If Left is nil, Remaining is
	// taken to be certain, and a trial is no guess. Read by Mantri and LeastCost. Package estimate/survival makes such distributions.
	Left estimate.Distribution
	// Basis says what Left rests on. The decision repeats it.
	Basis Basis
	// Even says that the attempt has moved evenly so far, and that most attempts of the phase have. Even progress shows early
	// how fast an attempt is. Method Even of survival.Trail computes it. Read by LeastCost.
	Even bool
	// Score is the attempt's progress score in [0, 1]. Read by LATE and Hadoop.
	Score float64
	// Done is the work that the attempt has done, in the units of Task.Work. LeastCost and [Hold] find by it the attempt that
	// is furthest on, which is not killed on an estimate alone. Read by Spark as well.
	Done float64
	// Resumed is the work that the attempt found done when it began, from a checkpoint of an earlier attempt. Done, Score and
	// Remaining count without it. [Hold] adds Done and Resumed to find the attempt that is furthest on.
	Resumed float64
}

// Task holds the facts of one running task. The zero value of a field means that nothing is known; less is risked
// then.
type Task struct {
	// Attempts are the attempts of the task that run or wait in an engine's queue; len(Attempts) is c of the paper.
	Attempts []Attempt
	// Fresh is t_new, the time that a new attempt would take. If a new attempt would resume from a checkpoint, Fresh.Work is
	// the work that is left from there.
	Fresh estimate.Fresh
	// Work is the size of the task's input without the part that all of its attempts found done, in units of the host's
	// choice; 0 if not known. Read by Flink.
	Work float64
	// Clones is how many of Attempts are clones: first attempts that the host started together, as package clone computes.
	// 0 means 1.
	Clones int
	// Restarts is how often the task was killed and started again.
	Restarts int
	// Copies is how many copies the task was given so far. Clones do not count.
	Copies int
	// SinceCopy is the time since the newest copy of the task was started, or since one of its attempts was killed while
	// another went on; 0 if the task never had two attempts. A policy also looks at the ages of Attempts.
	SinceCopy time.Duration
	// PastMachines are machines on which attempts of the task ran, latest first. Machines of Attempts may stand here, too.
	PastMachines []int
	// Trial is the state of the task's trials, which the methods of [Trials] keep. Read by LeastCost and [Hold].
	Trial Trial
	// Longest is the time of the longest attempt of the phase that has ended, scaled to this task's work; 0 if none has ended.
	// Read by LeastCost and [Hold].
	Longest time.Duration
	// NoCopy says that two attempts of the task must never run at once, because the task has side effects.
	NoCopy bool
	// NoRestart says that the task must not be killed and run again.
	NoRestart bool
}

// Phase holds the facts of the task's phase: the tasks that do the same work on different data.
type Phase struct {
	// Interval is Δ, the period of progress reports. 0 or less means that there is no fixed period.
	Interval time.Duration
	// Tasks counts all tasks of the phase, Finished the tasks that ended with success, and Waiting the tasks that neither run
	// nor wait in an engine's queue.
	Tasks, Finished, Waiting int
	// Slots is how many attempts of the phase may run at once, and FreeSlots how many more may start now. An attempt in an
	// engine's queue holds a slot.
	Slots, FreeSlots int
	// Copies is how many attempts run, or wait in an engine's queue, beyond the first of each task.
	Copies int
	// Silent says that no attempt of the phase has ever reported progress.
	Silent bool
	// Idle is the time since an attempt of the phase last began or ended. If Idle is far longer than Task.Longest, the phase
	// is stuck: no slot will come free. If the host leaves Idle 0, a phase in which all attempts hang stays stuck. Read by LeastCost and
	// [Hold].
	Idle time.Duration
	// Machines is how many machines could run an attempt; 0 if not known. It keeps [Decision].Avoid from naming all machines.
	Machines int
	// Stream says that other phases may want the slots that are idle now. Read by LeastCost.
	Stream bool
	// Trials is the account of the phase's trials. Read by LeastCost and [Hold].
	Trials Trials
	// Limits are the restarts, copies and losses that the host allows. The zero value protects. Read by LeastCost and [Hold].
	Limits Limits
	// Peers describes the phase's other tasks, for the rules of other engines. LeastCost and Mantri do not read it.
	Peers Peers
}

// Peers describes the other tasks of the phase. A nil distribution or a zero is unknown.
type Peers struct {
	// Durations are the run times of the finished tasks, in seconds. Read by Dryad, Spark and Flink.
	Durations estimate.Distribution
	// UnitTimes are the run times of the finished tasks divided by their work, in seconds. Read by Flink.
	UnitTimes estimate.Distribution
	// ProgressRates are the progress rates, score/age per second, of the running and finished tasks. Read by LATE.
	ProgressRates estimate.Distribution
	// MeanScore is the mean progress score of the running and finished tasks; a finished task has the score 1. Read by Hadoop.
	MeanScore float64
	// Throughput is the work of the finished tasks divided by their run time, in units per second. Read by Spark.
	Throughput float64
	// Machine describes the machine that asks for work, if one asks. Read by LATE.
	Machine MachineProgress
}

// MachineProgress compares the progress of one machine with the others.
type MachineProgress struct {
	// Total is the machine's total work: the sum of the progress scores of all tasks that succeeded or run there.
	Total float64
	// Of is the distribution of Total over all machines; nil if not known.
	Of estimate.Distribution
}
