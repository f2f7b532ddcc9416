package array

import (
	"context"
	"time"
)

// Slurm is the cluster, as far as this package needs it. [Commands] is the real one.
type Slurm interface {
	// Submit submits a batch script as a job array and returns the array's job ID. After an error the job may be in the
	// queue all the same, because the answer may be lost.
	Submit(ctx context.Context, options []string, script string, args []string) (string, error)
	// Find lists this user's waiting and running arrays with batch scripts below a directory. The map's key is the name of
	// the directory's entry with the script; its value is the array's job ID.
	Find(ctx context.Context, dir string) (map[string]string, error)
	// Describe returns the facts that all tasks of an array share. The array was just submitted.
	Describe(ctx context.Context, array string) (Facts, error)
	// Jobs lists the tasks of the arrays, one entry for each task, in any state. An array that Slurm has forgotten has no
	// entries.
	Jobs(ctx context.Context, arrays []string) ([]Job, error)
	// Cancel cancels array tasks ("71_9") or whole arrays ("71"). To cancel a task that has ended is no error.
	Cancel(ctx context.Context, ids []string) error
	// Nodes lists the nodes of a partition, each node once.
	Nodes(ctx context.Context, partition string) ([]Node, error)
}

// Node is a node of a partition.
type Node struct {
	Name string
	Down bool // the node takes no new jobs: it is down, drained, or does not answer
	Idle int  // idle CPUs
}

// Facts are the facts that all tasks of an array share.
type Facts struct {
	Partition string
	CPUs      int    // CPUs of a task
	Exclude   string // the nodes that the user has excluded, as a host list; "": none
	Throttle  int    // how many tasks may run at once, from --array=…%N; 0: no bound
}

// Job is one task of a job array, as squeue shows it.
type Job struct {
	ID      string    // array and index, as "71_9"
	State   string    // squeue's long form, such as RUNNING or COMPLETED
	Node    string    // the node where the task runs or ran; "": not yet
	Status  int       // the wait status of the batch script, after its end
	Start   time.Time // in whole seconds, by slurmctld's clock; zero: not known
	Stdout  string    // the file for the standard output
	Stderr  string    // the file for the standard error
	Shared  bool      // all tasks of the array have the same Stdout or Stderr
	WorkDir string    // the directory in which the script runs
	Name    string    // the job's name
	RawID   string    // the task's own job ID
}

// live reports whether the job has not ended: the job waits, runs, or is being ended.
func (j Job) live() bool {
	switch j.State {
	case "PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "STOPPED", "COMPLETING", "SIGNALING", "STAGE_OUT", "RESIZING",
		"REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD":
		return true
	}
	return false
}

// waits reports whether the job has not begun to run.
func (j Job) waits() bool {
	switch j.State {
	case "PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD":
		return true
	}
	return false
}

// exitCode returns the exit code of a job that has ended, as sbatch --wait counts it: the code of a script that has
// failed by itself, and 1 for a script that was ended from outside.
func (j Job) exitCode() int {
	switch code := j.Status >> 8 & 0xff; {
	case j.State == "COMPLETED":
		return 0
	case j.State == "FAILED" && code != 0:
		return code
	}
	return 1
}
