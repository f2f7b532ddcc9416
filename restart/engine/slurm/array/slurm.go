package array

import (
	"context"
	"time"
)

// Slurm is what the package asks of a cluster. [Commands] asks the real one.
type Slurm interface {
	// Submit submits a batch script as a job array and returns the array's job ID. An error need not mean that the job was
	// not taken: the answer may be lost.
	Submit(ctx context.Context, options []string, script string, args []string) (string, error)
	// Find lists the arrays of this user that wait or run and whose batch scripts lie below a directory: the array's job ID
	// by the name of the entry there in which the script is.
	Find(ctx context.Context, dir string) (map[string]string, error)
	// Describe returns what is common to the tasks of an array that was just submitted.
	Describe(ctx context.Context, array string) (Facts, error)
	// Jobs lists the tasks of the arrays, one entry each, in whatever state. An array that Slurm has forgotten has none.
	Jobs(ctx context.Context, arrays []string) ([]Job, error)
	// Cancel cancels array tasks ("71_9") or whole arrays ("71"). What has ended already is no error.
	Cancel(ctx context.Context, ids []string) error
	// Nodes lists the nodes of a partition.
	Nodes(ctx context.Context, partition string) ([]Node, error)
}

// Node is a node of a partition.
type Node struct {
	Name string
	Down bool // it takes no new jobs: down, drained, or without an answer
	Idle int  // CPUs
}

// Facts are the same for all tasks of an array.
type Facts struct {
	Partition string
	CPUs      int    // of each task
	Exclude   string // the nodes that the user excluded, as a host list; "" if none
	Throttle  int    // how many tasks may run at once, from --array=…%N; 0 if as many as there is room for
}

// Job is one task of a job array, as squeue shows it.
type Job struct {
	ID             string    // "71_9"
	State          string    // squeue's long form: RUNNING, COMPLETED, …
	Node           string    // where it runs or ran; "" before
	Status         int       // the wait status of the batch script, once it has ended
	Start          time.Time // in whole seconds, by slurmctld's clock; zero if not known
	Stdout, Stderr string    // its output files
	Shared         bool      // nothing in their patterns distinguishes the tasks
	WorkDir, Name  string
	RawID          string // the job ID that the task has as a job of its own
}

// live reports whether the job has not ended: it waits, runs, or is on its way out.
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

// exitCode is what a job that has ended counts: the code of a script that has failed by itself, and 1 where it was made
// to end, as sbatch --wait has it.
func (j Job) exitCode() int {
	switch code := j.Status >> 8 & 0xff; {
	case j.State == "COMPLETED":
		return 0
	case j.State == "FAILED" && code != 0:
		return code
	}
	return 1
}
