// Package array is for users and tools that run Slurm job arrays and lose time to a few slow tasks. [Run] submits a
// job array and waits for its end, as sbatch --wait does. Meanwhile Run watches the tasks of the array by squeue, and
// by small files that the tasks write. Package restart/engine decides which slow tasks are copied or restarted. Run
// then submits copies with sbatch, and cancels attempts with scancel. Run needs only Slurm's commands, and a
// directory that all nodes share:
//
//	result, err := array.Run(ctx, array.Commands{}, array.Options{Script: "count.sh", Sbatch: []string{"--array=0-63"}})
//
// The command straggler-slurm calls Run with options from the command line. The page examples/slurm/README.md
// contains the rules for a script and the guarantees of Run.
//
// # What a script should do
//
//   - Report its progress about once in each Options.Interval, as a share or a quotient: echo 40/100 >
//     "$STRAGGLER_PROGRESS". Instead you may set Options.ExpectBytes: then the number of bytes that a task has
//     written is its progress. If there is no progress of either kind, the policy compares how long an attempt has
//     run with the run times of the tasks that have ended.
//   - Write its result files to the directory $STRAGGLER_OUT. Each attempt has such a directory of its own. Run moves
//     the files of the attempt that wins to Options.Results. If a script writes to other places, two attempts of a
//     task that run at the same time must not disturb each other.
//
// # Rules
//
//   - Run uses the result of an attempt only if the script has ended by itself, with the exit code 0, and Slurm does
//     not show that the attempt was ended from outside.
//   - Run moves the first result of a task to the place that the user expects, and cancels the other attempts of the
//     task.
//   - If the script of a task fails, and no other attempt of the task runs, the task has failed. If somebody else
//     cancels a task, Run does not submit the task again.
//   - If the node of a task fails, or Slurm preempts the task, Run submits the task again, for another node.
//   - To restart a task, Run submits a new attempt. Run cancels the old attempt only after the new attempt has begun.
//   - While Slurm does not answer, Run takes no decision and asks again. After Options.Patience without an answer,
//     Run gives up.
//
// Run polls the cluster at intervals. Each poll runs squeue and sinfo once, and lists the directory of the small
// files once. A poll takes time O(attempts).
package array

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// Options are the settings of [Run]. Only the field Script is required. The indices of the array are set by the
// option --array in Sbatch, or by a line #SBATCH --array=... in the script.
type Options struct {
	// Script is the path of the user's batch script. The options in its #SBATCH lines are used.
	Script string
	// Args are the arguments with which the script is called.
	Args []string
	// Sbatch contains options for the command sbatch, such as --array=0-63.
	Sbatch []string

	// Policy decides which slow attempts are copied or restarted. Nil means restart.LeastCost{}.
	Policy restart.Policy
	// Limits bounds copies and restarts, whatever the policy decides. In the zero value each limit has the default
	// that restart.Limits documents.
	Limits restart.Limits
	// Interval is the time between two polls of the cluster. Scripts should report their progress about once in each
	// Interval. 0 means 10 s.
	Interval time.Duration
	// Lag is the usual time from the submission of an attempt to its start, if the cluster has idle CPUs. As soon as
	// attempts have shown this time, their times are used in place of Lag. 0 means not known.
	Lag time.Duration
	// Slots is how many attempts may run at once. 0 means that Run finds the number at each poll: the attempts that run
	// now, plus the number of further attempts that fit on the idle CPUs of the partition.
	Slots int
	// Work contains the size of each task, in a unit of your choice, such as bytes. The sizes are in the order of the
	// tasks' indices in the array. Nil means that sizes are not known.
	Work []float64
	// ExpectBytes is how many bytes a task of the mean size writes until its end: to its output file and to
	// $STRAGGLER_OUT. With it, Run computes the progress of a task that reports no progress, from the bytes that the
	// task has written so far. 0 means not known.
	ExpectBytes int64

	// Dir is a directory on a file system that all nodes share. Run makes a directory in it, for its own files. ""
	// means the working directory.
	Dir string
	// Results is the directory to which Run moves the result files of the tasks. "" means the directory in which the
	// job runs.
	Results string
	// Patience is how long squeue and sinfo may fail before Run gives up and returns an error. 0 means 10 minutes.
	Patience time.Duration
	// NoCopy says that two attempts of a task must never run at the same time. Then no running attempt is copied or
	// restarted, and Run submits a task again only after its attempt was lost.
	NoCopy bool
	// Shadow makes Run decide about slow attempts without acting: Run submits only the user's array, and cancels
	// nothing, unless ctx ends. It writes each decision to Log. Once a minute it writes the time that the decisions would
	// have saved so far. The bill is in Result.Bill. The user's array runs to its end as without Run.
	Shadow bool
	// OnAction is called with each submission and each cancellation before it is carried out. task is the index of
	// the task in the user's array. Nil means that no function is called.
	OnAction func(task int, a engine.Action)
	// Configure is called with the configuration of the phase before the phase begins. It may set the fields that
	// Options does not have, such as Budget or Kind. Nil changes nothing.
	Configure func(c *engine.Config)
	// Keep makes Run leave its own directory in Dir. Without Keep, Run removes this directory at the end.
	Keep bool
	// Journal makes Run record all events in Result.Journal.
	Journal bool
	// Log receives messages about actions and errors, one message in each line. Nil means that no messages are
	// written.
	Log io.Writer
	// Submitted is called with the job ID of the user's array as soon as the array is in Slurm's queue. Nil means
	// that no function is called.
	Submitted func(array string)
}

// Check returns an error if an option is out of range. The error is about the first such option.
func (o *Options) Check() error {
	bad := func(field string, value any, want string) error {
		return fmt.Errorf("array: Options.%s is %v, want %s", field, value, want)
	}
	switch {
	case o.Interval < 0:
		return bad("Interval", o.Interval, "a positive duration, or 0 for 10s")
	case o.Lag < 0:
		return bad("Lag", o.Lag, "0 or more")
	case o.Slots < 0:
		return bad("Slots", o.Slots, "0 or more")
	case o.ExpectBytes < 0:
		return bad("ExpectBytes", o.ExpectBytes, "0 or more")
	case o.Patience < 0:
		return bad("Patience", o.Patience, "a positive duration, or 0 for 10m")
	}
	if err := checkOptions(o.Sbatch); err != nil {
		return err
	}
	if err := o.Limits.Validate(); err != nil {
		return fmt.Errorf("array: Options.Limits: %w", err)
	}
	if err := restart.Validate(o.Policy); err != nil {
		return fmt.Errorf("array: Options.Policy: %w", err)
	}
	for i, w := range o.Work {
		if !(w > 0) || math.IsInf(w, 1) {
			return bad(fmt.Sprintf("Work[%d]", i), w, "a positive number")
		}
	}
	return nil
}

// run is the state of one call of Run.
type run struct {
	slurm         Slurm
	options       Options
	started       time.Time
	dir           *runDir
	header        string              // the #SBATCH lines of the user's script
	arrays        []string            // the job IDs of all submitted arrays, the user's array first
	submitFailed  time.Time           // when sbatch failed last; the job may be in the queue all the same
	failedSubmits map[string]*attempt // by the field files: the attempts that sbatch failed to submit
	strayArrays   []string            // job IDs of arrays that belong to no attempt; they will be cancelled
	facts         Facts
	tasks         []*task
	meanWork      float64
	phase         *engine.Phase
	machines      *engine.Machines
	polled        time.Time // when the last poll was
	seen          []engine.Attempt
	unsettled     error           // the error if the last poll could not move a result to its place
	badProgress   int             // value of Result.BadProgress so far
	reported      bool            // at least one attempt has shown its progress
	logged        map[string]bool // by subject: there was a message about this subject, which is not repeated
	config        engine.Config   // of the phase
	mostSlots     int             // the largest number of attempts that could run at once
	submitted     time.Time       // when the user's array was submitted
	billed        time.Time       // when the bill was written to the log last
}

// Run submits the script as a job array and returns when each task has a result or has failed. If tasks fail, Run
// returns no error, and Result.Failed lists these tasks. If ctx ends, Run returns the cause of ctx.
//
// Before Run returns, it cancels its jobs that have not ended. If Slurm does not answer then, Run returns an error
// with the IDs of the jobs that may still run.
func Run(ctx context.Context, slurm Slurm, options Options) (Result, error) {
	if err := options.Check(); err != nil {
		return Result{}, err
	}
	if options.Interval == 0 {
		options.Interval = 10 * time.Second
	}
	if options.Patience == 0 {
		options.Patience = 10 * time.Minute
	}
	if options.Log == nil {
		options.Log = io.Discard
	}
	r := &run{
		slurm: slurm, options: options, started: time.Now(), logged: map[string]bool{}, failedSubmits: map[string]*attempt{},
		billed: time.Now(),
	}
	err := r.begin(ctx)
	if err == nil {
		err = r.loop(ctx)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // the cause says more than the error of an interrupted command
	}
	err = errors.Join(err, r.end())
	return r.result(), err
}

// loop polls the cluster until all tasks are done. It returns an error if polls fail for longer than
// Options.Patience, or if ctx ends.
func (r *run) loop(ctx context.Context) error {
	failing := time.Time{}
	for {
		err := r.poll(ctx)
		switch now := time.Now(); {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			failing = time.Time{}
		case failing.IsZero():
			failing = now
			r.logf("%v; Slurm is asked again", err)
		case now.Sub(failing) > r.options.Patience:
			return fmt.Errorf("given up after %v: %w", r.options.Patience, err)
		}
		if err == nil && r.done() {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(r.options.Interval):
		}
	}
}

// poll asks Slurm once for the state of all jobs, lets the engine.Phase decide, and carries out the actions. An error
// means that Slurm did not answer, or that the run directory can't be read, or that a result can't be moved while no
// attempt runs.
func (r *run) poll(ctx context.Context) error {
	jobs, err := r.slurm.Jobs(ctx, r.openArrays())
	if err != nil {
		return err
	}
	attempts, err := r.observe(time.Now(), jobs)
	if err != nil {
		return err
	}
	if err := r.count(ctx); err != nil {
		return err
	}
	r.act(ctx, r.report(attempts))
	r.logBill(r.polled)
	if !r.reported && r.phase.Facts().Finished > 0 {
		r.once("progress", "tasks have ended, and no task has written its progress: slow tasks are found by their run times alone")
	}
	// a result that could not be moved is moved again at the next poll; it is no error while attempts run
	if r.anyRuns() {
		return nil
	}
	return r.unsettled
}

// anyRuns reports whether at least one attempt waits in the queue or runs.
func (r *run) anyRuns() bool {
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			if !a.ended() {
				return true
			}
		}
	}
	return false
}

// report passes the attempts to the engine.Phase, and returns the actions that the phase wants.
func (r *run) report(attempts []engine.Attempt) []engine.Action {
	actions := r.phase.Poll(r.polled, attempts).Actions
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			a.endReported = a.ended()
		}
	}
	return actions
}

// openArrays lists the job IDs of all arrays that contain an attempt that has not ended.
func (r *run) openArrays() (arrays []string) {
	found := map[string]bool{}
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			array, _, _ := strings.Cut(a.job, "_")
			if a.job != "" && !a.ended() && !found[array] {
				found[array] = true
				arrays = append(arrays, array)
			}
		}
	}
	return arrays
}

// done reports whether all tasks are done: each has its result in place, or has failed. In shadow mode the tasks are
// done when the user's array has ended.
func (r *run) done() bool {
	switch {
	case r.unsettled != nil:
		return false
	case !r.options.Shadow:
		return r.phase.Done()
	}
	return !slices.ContainsFunc(r.tasks, func(t *task) bool { return !t.original().ended() })
}

// logf writes a message to Options.Log, with the seconds since the start of Run in front.
func (r *run) logf(format string, args ...any) {
	fmt.Fprintf(r.options.Log, "%7.1fs  %s\n", time.Since(r.started).Seconds(), fmt.Sprintf(format, args...))
}

// once writes a message to Options.Log, unless there was an earlier message about the same subject.
func (r *run) once(subject, format string, args ...any) {
	if !r.logged[subject] {
		r.logged[subject] = true
		r.logf(format, args...)
	}
}
