package array

import (
	"context"
	"time"
)

// Slurm is the interface by which this package uses a Slurm cluster. The type [Commands] implements it for a real
// cluster.
type Slurm interface {
	// Submit submits a batch script as a job array and returns the array's job ID. If Submit returns an error, the
	// array may be in the queue all the same, because the error may only mean that Slurm's answer was lost.
	Submit(ctx context.Context, options []string, script string, args []string) (string, error)
	// Find lists the waiting and running arrays of this user whose batch scripts are below the directory dir. The
	// map's value is the job ID of an array. The map's key is the first part of the script's path below dir: for
	// dir/x/script.sh the key is x.
	Find(ctx context.Context, dir string) (map[string]string, error)
	// Describe returns the facts that all tasks of an array share. Run calls it right after the submission of the
	// array.
	Describe(ctx context.Context, array string) (Facts, error)
	// Jobs lists the tasks of the arrays, one entry for each task, in any state. Some time after the end of an array
	// Slurm no longer lists it. Then the array has no entries.
	Jobs(ctx context.Context, arrays []string) ([]Job, error)
	// Cancel cancels array tasks, with IDs such as "71_9", or whole arrays, with IDs such as "71". If a task has
	// ended, Cancel does nothing about the task and returns no error.
	Cancel(ctx context.Context, ids []string) error
	// Nodes lists the nodes of a partition of the cluster, each node once.
	Nodes(ctx context.Context, partition string) ([]Node, error)
}

// Node is a node of a Slurm partition.
type Node struct {
	Name string
	Down bool // the node accepts no new jobs: it is down or drained, or does not answer
	Idle int  // number of idle CPUs
}

// Facts contains the facts that all tasks of a job array share, such as the partition.
type Facts struct {
	Partition string
	CPUs      int    // number of CPUs that each task gets
	Exclude   string // the nodes that the user has excluded, as Slurm writes lists of hosts; "": none
	Throttle  int    // how many tasks may run at once: N in --array=…%N; 0: no limit
}

// Job is one task of a job array, as squeue shows it.
type Job struct {
	ID      string    // the array's job ID and the task's index, such as "71_9"
	State   string    // state of the task, in squeue's long form, such as RUNNING or COMPLETED
	Node    string    // the node where the task runs or ran; "": not yet
	Status  int       // after the end: the status that wait(2) returns for the batch script
	Start   time.Time // when the task started, in whole seconds, by slurmctld's clock; zero: not known
	Stdout  string    // the file for the standard output
	Stderr  string    // the file for the standard error
	Shared  bool      // all tasks of the array have the same Stdout or Stderr
	WorkDir string    // the directory in which the script runs
	Name    string    // the job's name
	RawID   string    // the job ID that this task has of its own, such as "80"
}

// live reports whether the job is in a state before its end: it waits, runs, or is just ending.
func (j Job) live() bool {
	switch j.State {
	case "PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "STOPPED", "COMPLETING", "SIGNALING", "STAGE_OUT", "RESIZING",
		"REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD":
		return true
	}
	return false
}

// waits reports whether the job waits in the queue, or is being prepared, and has not begun to run.
func (j Job) waits() bool {
	switch j.State {
	case "PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD":
		return true
	}
	return false
}

// exitCode returns the exit code of a job that has ended, as sbatch --wait returns it: 0 after a success. If the
// script has failed by itself, the code is the script's own exit code. If somebody or Slurm has ended the script, the
// code is 1.
func (j Job) exitCode() int {
	switch code := j.Status >> 8 & 0xff; {
	case j.State == "COMPLETED":
		return 0
	case j.State == "FAILED" && code != 0:
		return code
	}
	return 1
}
