package trace

import (
	"time"

	"github.com/straggler-go/straggler/examples/internal/alike"
)

// Log is what one execution log says about its attempts.
type Log struct {
	Format Format
	// Phases stand in the order in which the log first mentions them; a pair of Job and Name occurs once.
	Phases []Phase
	// Hosts and Executors are what attempts refer to by index. Index 0 of both is the unknown one, without a name.
	Hosts     []Host
	Executors []Executor
	// Splits are what attempts refer to by index: the milliseconds that each of some equal parts of their progress took,
	// twelve in Hadoop. Nil if no attempt does. Index 0 is nil.
	Splits [][]int64
	// Arrivals are the jobs of a log that has no attempts.
	Arrivals []Arrival
	// Records counts what was read, without blank lines: lines, or in a Rumen trace jobs.
	Records int
	// Passed counts, by kind, the events that say nothing about attempts and were passed over. Not a fault.
	Passed map[string]int
	// NotRun counts, by kind, what the log holds of tasks that did not run here, or not as a task that can be told apart:
	// from a cache, aborted, a node of a kind that has no times of its own. Not a fault.
	NotRun map[string]int
	// Faults counts what was wrong with the log.
	Faults Faults
	// Hints say, in a line each, what looks odd: why a part of the log was left out, or that its times may be in
	// another unit.
	Hints []string
}

// Format is the kind of log that was found.
type Format uint8

// The formats that Read knows.
const (
	Lines         Format = iota // the normal form of this package
	Table                       // the same, as comma-separated values
	Spark                       // event logs of Spark 1 to 4
	Shark                       // Spark 0.8's JobLogger
	Rumen                       // traces that Hadoop's TraceBuilder makes
	JobHistory                  // .jhist, of Hadoop 2 and 3
	JobHistory1                 // of Hadoop 0.20 and 1
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
	Slurm                       // what sacct -P prints
	Airflow                     // task instances
	SparkREST                   // tasks of a stage, as Spark's interface answers
	RayTasks                    // ray list tasks
	Flink                       // subtasks of a vertex
	Traces                      // of OpenTelemetry and Jaeger
)

var formatNames = [...]string{
	"attempt lines", "attempt table", "Spark event log", "Spark 0.8 job log", "Hadoop Rumen trace", "Hadoop job history",
	"Hadoop 1 job history", "Hadoop topology", "Alibaba batch table", "SWIM jobs", "go test events", "Bazel build events",
	"timeline", "Kubernetes objects", "Argo workflow", "journal of a tracker",
	"GitHub Actions jobs", "JUnit report", "Nextflow trace", "Slurm accounting", "Airflow task instances", "Spark REST answer",
	"Ray tasks", "Flink REST answer", "traces",
}

func (f Format) String() string { return name(formatNames[:], int(f), "Format") }

// Hadoop says whether the format is one of Hadoop's that hold attempts and the hosts of their input.
func (f Format) Hadoop() bool { return f == Rumen || f == JobHistory || f == JobHistory1 }

// Phase is one stage attempt of Spark, or the maps or the reduces of a Hadoop job.
type Phase struct {
	Job, Name string
	// Kin is what the log promises of the tasks' likeness.
	Kin alike.Kin
	// Family is what the phases of a kind have in common that are in many runs, each a job of its own; empty: the job.
	Family string
	// Names are the tasks' own, by task; empty if they have none, or if there are too many to keep.
	Names []string
	// Tasks is the number of logical tasks that the log declares, or as many as its attempts show if it declares
	// none, or an absurd number. Every attempt's Task is below it; a task may have no attempt.
	Tasks int
	// Submitted is when the phase could start, Completed, never before it, when the engine declared it done. Attempts
	// may end later.
	Submitted, Completed Opt
	// DependsOn lists the phases, by index into Log.Phases, whose output this one reads. All are below its own index.
	DependsOn []int
	// Attempts are ordered by Start (unknown last), then Task, then Number.
	Attempts []Attempt
}

// Attempt is one run of one task. What the log does not say is the zero value of its field, which means unknown.
type Attempt struct {
	Task   int32 // the logical task, an index into its phase
	Number int32 // of the attempt within its task; may have gaps
	// Ready, Start and Finish are in milliseconds since the log's epoch (Unix time, except in hand-made logs).
	// Ready is when the task could have started. Start is never after Finish.
	Ready, Start, Finish Opt
	// Input counts bytes read from storage, Shuffle those read from earlier phases, Output those written to either.
	Input, Shuffle, Output Opt
	// Preferred lists the hosts that hold the input, by index into Log.Hosts. Attempts of one task may share it.
	Preferred   []int32
	Splits      int32 // index into Log.Splits; 0 if the log does not tell
	Host        int32 // index into Log.Hosts
	Executor    int32 // index into Log.Executors
	State       State
	Locality    Locality
	Speculative Answer
}

// Duration is the time from start to finish, if both are known.
func (a *Attempt) Duration() (d time.Duration, ok bool) {
	start, known := a.Start.Get()
	finish, ended := a.Finish.Get()
	if !known || !ended {
		return 0, false
	}
	return time.Duration(finish-start) * time.Millisecond, true
}

// Host is a machine. Rack is empty if the log does not tell.
type Host struct{ Name, Rack string }

// Executor is a process that runs attempts. Host is an index into Log.Hosts; Cores is 0 if the log does not tell.
type Executor struct {
	Name  string
	Host  int32
	Cores int32
}
