package trace

import (
	"time"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// Log is the content of one execution log.
type Log struct {
	Format Format
	// Phases are in the order in which the log mentions them first. A pair of Job and Name is in the list once.
	Phases []Phase
	// Hosts and Executors are lists to which attempts refer by index. Index 0 of both is the unknown one, without a
	// name.
	Hosts     []Host
	Executors []Executor
	// Stages are the stages of the workers of steps, by the name of the worker; nil if the log names none. Workers of one
	// stage should take equally long. The stages of a worker of several are joined by +, in the order of their names.
	Stages map[string]string
	// Splits is a list to which attempts refer by index. An element has the milliseconds of each of a number of equal
	// parts of the progress, twelve in Hadoop. It is nil if no attempt has such times. Index 0 is nil.
	Splits [][]int64
	// Arrivals are the jobs of a log that has no attempts.
	Arrivals []Arrival
	// Ended has the jobs that have ended, if the log has no time of their ends but says that they ended. No task of such a job
	// begins later.
	Ended map[string]bool
	// Records is the number of records: lines that are not blank, or jobs in a Rumen trace.
	Records int
	// Passed has the number of ignored events, by kind. Such events have nothing about attempts. They are not faults.
	Passed map[string]int
	// NotRun has the number of tasks that did not run here, by kind: for example results from a cache, aborted tasks,
	// and nodes without times of their own. They are not faults.
	NotRun map[string]int
	// Faults has the number of errors in the log, by kind.
	Faults Faults
	// Hints are lines for the user about doubtful data, such as parts that were left out, or times that may have
	// another unit.
	Hints []string
}

// Format is a format of logs.
type Format uint8

// The formats that Read knows.
const (
	Lines         Format = iota // the normal form of this package
	Table                       // the normal form as comma-separated values
	Spark                       // event logs of Spark 1 to 4
	Shark                       // Spark 0.8's JobLogger
	Rumen                       // traces that Hadoop's TraceBuilder makes
	JobHistory                  // .jhist files of Hadoop 2 and 3
	JobHistory1                 // job histories of Hadoop 0.20 and 1
	Topology                    // Rumen's racks and hosts, without attempts
	Alibaba                     // the batch tables of 2017 and 2018
	Swim                        // SWIM's jobs, which have no attempts
	GoTest                      // go test -json
	Bazel                       // Bazel's build event protocol
	Timeline                    // trace events of Chrome, Ray and many others
	Kubernetes                  // jobs or pods, as kubectl prints them
	Argo                        // workflows of Argo
	Journal                     // recordings of package restart/journal
	GitHubActions               // jobs of workflow runs
	JUnit                       // reports of tests in XML
	Nextflow                    // the trace of a run
	Slurm                       // output of sacct -P
	Airflow                     // task instances
	SparkREST                   // tasks of a stage, from Spark's REST interface
	RayTasks                    // ray list tasks
	Flink                       // subtasks of a vertex
	Traces                      // traces of OpenTelemetry and Jaeger
)

var formatNames = [...]string{
	Lines: "attempt lines", Table: "attempt table", Spark: "Spark event log", Shark: "Spark 0.8 job log",
	Rumen: "Hadoop Rumen trace", JobHistory: "Hadoop job history", JobHistory1: "Hadoop 1 job history",
	Topology: "Hadoop topology", Alibaba: "Alibaba batch table", Swim: "SWIM jobs", GoTest: "go test events",
	Bazel: "Bazel build events", Timeline: "timeline", Kubernetes: "Kubernetes objects", Argo: "Argo workflow",
	Journal: "journal of a tracker", GitHubActions: "GitHub Actions jobs", JUnit: "JUnit report",
	Nextflow: "Nextflow trace", Slurm: "Slurm accounting", Airflow: "Airflow task instances",
	SparkREST: "Spark REST answer", RayTasks: "Ray tasks", Flink: "Flink REST answer", Traces: "traces",
}

func (f Format) String() string { return name(formatNames[:], int(f), "Format") }

// Hadoop reports whether the format is a format of Hadoop with attempts and with the hosts of their input.
func (f Format) Hadoop() bool { return f == Rumen || f == JobHistory || f == JobHistory1 }

// Phase is an attempt of a stage in Spark, or the maps or the reduces of a job in Hadoop.
type Phase struct {
	Job, Name string
	// Kin is the promise of the log about the tasks: whether they are alike.
	Kin alike.Kin
	// Family is a name that phases of the same kind share in several runs, if each run is a job of its own; empty:
	// the job.
	Family string
	// Step says that the phase is a step of a job with a barrier, in which each task is the work of one worker.
	Step bool
	// Names are the names of the tasks, by number; empty if tasks have no names, or too many to store.
	Names []string
	// Whole are the names of the tasks of another phase of the job that consist of tasks of this phase; nil if there are
	// none. Such a task is the run of a package, and the tasks of this phase are its tests.
	Whole []string
	// Tasks is the declared number of tasks. If the log declares none, or an absurd number, it is the number that the
	// attempts show. Attempt.Task is always below it. A task may have no attempt.
	Tasks int
	// Submitted is when the phase could start, and Completed when the engine declared it done, never before
	// Submitted. Attempts may end later.
	Submitted, Completed Opt
	// DependsOn lists the phases whose output this phase reads, as indexes into Log.Phases below its own index.
	DependsOn []int
	// Attempts are ordered by Start (unknown last), then Task, then Number.
	Attempts []Attempt
}

// Attempt is one run of a task. A value that the log does not have is the zero value of its field, which means
// unknown.
type Attempt struct {
	Task   int32 // number of the task in its phase
	Number int32 // number of the attempt in its task; numbers may have gaps
	// Ready, Start and Finish are milliseconds since the epoch of the log, which is Unix time except in logs written
	// by hand. Ready is when the task could have started. Start is never after Finish.
	Ready, Start, Finish Opt
	// Input is the number of bytes read from storage, Shuffle of bytes read from earlier phases, and Output of bytes
	// written.
	Input, Shuffle, Output Opt
	// Preferred lists the hosts that hold the input, as indexes into Log.Hosts. Attempts of one task may share the
	// list.
	Preferred   []int32
	Splits      int32 // index into Log.Splits; 0 if the log does not have the times
	Host        int32 // index into Log.Hosts
	Executor    int32 // index into Log.Executors
	State       State
	Locality    Locality
	Speculative Answer
}

// Duration returns the time from start to finish; false if one of them is unknown.
func (a *Attempt) Duration() (d time.Duration, ok bool) {
	start, known := a.Start.Get()
	finish, ended := a.Finish.Get()
	if !known || !ended {
		return 0, false
	}
	return time.Duration(finish-start) * time.Millisecond, true
}

// states sets the duration that the log states, in milliseconds; an unknown one changes nothing. If the log has both
// times as well, the finish is kept: a job that was suspended took less time than its two times tell.
func (a *Attempt) states(millis Opt) {
	d, ok := millis.Get()
	if !ok {
		return
	}
	start, begun := a.Start.Get()
	finish, ended := a.Finish.Get()
	switch {
	case begun && !ended:
		a.Finish = Known(start + d)
	case ended && (!begun || finish-start != d):
		a.Start = Known(max(finish-d, 0))
	}
	if ready, ok := a.Ready.Get(); ok && ready > a.Start.Or(ready) {
		a.Ready = a.Start
	}
}

// Host is a machine. Rack is empty if the log does not have it.
type Host struct{ Name, Rack string }

// Executor is a process that runs attempts. Host is an index into Log.Hosts. Cores is 0 if the log does not have it.
type Executor struct {
	Name  string
	Host  int32
	Cores int32
}
