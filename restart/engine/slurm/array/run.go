// Package array is for users and tools that run Slurm job arrays and lose time to a few slow tasks. [Run] submits the
// array, as sbatch --wait does, and watches its tasks by squeue and by small files. Run asks package restart/engine
// what to do about slow tasks, and submits copies and cancels attempts by sbatch and scancel. Run needs only Slurm's
// commands, and a directory that all nodes share:
//
//	result, err := array.Run(ctx, array.Commands{}, array.Options{Script: "count.sh", Sbatch: []string{"--array=0-63"}})
//
// Command straggler-slurm is Run with flags. The page examples/slurm has the rules for a script, and the guarantees.
//
// # What a script should do
//
//   - Report its progress about once an Interval, as a share or a quotient: echo 40/100 > "$STRAGGLER_PROGRESS". Or set
//     Options.ExpectBytes, and the bytes that a task has written are its progress. Without either, the age of an attempt
//     is compared with the run times of the tasks that have ended.
//   - Write result files to the directory $STRAGGLER_OUT, which belongs to one attempt. The files of the winner are moved to
//     Options.Results. A script that writes elsewhere must allow that two attempts of a task run at once.
//
// # Rules
//
//   - A result counts if the script has ended by itself with 0, and Slurm agrees.
//   - The first result of a task is moved to its place. Other attempts of the task are cancelled.
//   - A task has failed if its script fails. A task that somebody else cancels does not run again.
//   - A task that is lost with its node, or preempted, runs again on another node.
//   - A restart does not end the old attempt before the new attempt has begun.
//   - While Slurm does not answer, nothing is decided, and Slurm is asked again for Options.Patience.
//
// Each poll runs squeue and sinfo once, and reads the run directory once. A poll takes O(attempts).
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

// Options are the settings of [Run]. Only Script is required. The array's indices come from Sbatch or from the script.
type Options struct {
	// Script is the path of the user's batch script. Its #SBATCH lines count.
	Script string
	// Args are the script's arguments.
	Args []string
	// Sbatch are options for sbatch, such as --array=0-63.
	Sbatch []string

	// Policy decides about slow attempts. Nil means restart.LeastCost{}.
	Policy restart.Policy
	// Limits bound every policy. The zero value is the protective default of each limit; see restart.Limits.
	Limits restart.Limits
	// Interval is the time between two polls. Scripts should report their progress about as often. 0 means 10 s.
	Interval time.Duration
	// Lag is the usual time from the submission of an attempt to its start, if the cluster has room, until attempts have
	// shown it. 0 means not known.
	Lag time.Duration
	// Slots is how many attempts may run at once. 0 means the number of running attempts, plus the attempts for which the
	// partition has idle CPUs.
	Slots int
	// Work is the size of each task, in units of your choice, such as bytes, in the order of the indices. Nil means that
	// sizes are not known.
	Work []float64
	// ExpectBytes is how many bytes a task of the mean size prints and writes to $STRAGGLER_OUT in all. With it, the bytes
	// written so far are the progress of a task that reports none. 0 means not known.
	ExpectBytes int64

	// Dir is where the run directory is made, on a file system that all nodes share. "" means the working directory.
	Dir string
	// Results is the directory to which result files are moved. "" means the directory in which the job runs.
	Results string
	// Patience is how long squeue may fail before Run gives up. 0 means 10 minutes.
	Patience time.Duration
	// DryRun logs the actions and carries out none of them: the array runs as it is.
	DryRun bool
	// Keep keeps the run directory.
	Keep bool
	// Journal keeps a journal of all events, for Result.Journal.
	Journal bool
	// Log receives messages, one for each line. Nil means none.
	Log io.Writer
	// Submitted is called with the array's job ID once the array is in the queue. Nil means no call.
	Submitted func(array string)
}

// Check returns an error for the first option that is out of range.
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
	for i, w := range o.Work {
		if !(w > 0) || math.IsInf(w, 1) {
			return bad(fmt.Sprintf("Work[%d]", i), w, "a positive number")
		}
	}
	return nil
}

// run is a call of Run that has not returned.
type run struct {
	slurm         Slurm
	options       Options
	started       time.Time
	dir           *runDir
	header        string              // the user's #SBATCH lines
	arrays        []string            // the job IDs of all submitted arrays, the user's array first
	submitFailed  time.Time           // when sbatch failed last: the job may be in the queue all the same
	failedSubmits map[string]*attempt // the attempts that sbatch failed to submit, by the names of their files
	strayArrays   []string            // arrays of no attempt, to be cancelled
	facts         Facts
	tasks         []*task
	meanWork      float64
	phase         *engine.Phase
	hosts         *engine.Machines
	polled        time.Time // the last poll
	seen          []engine.Attempt
	unsettled     error           // why a result could not be put into its place at the last poll
	badProgress   int             // see Result
	reported      bool            // some attempt has shown its progress
	logged        map[string]bool // subjects of messages, so that a message is not repeated at each poll
	drySuffix     string          // the end of messages in a dry run
}

// Run submits the script as a job array and returns when each task has a result or has failed. Failed tasks are not an
// error: they are in Result.Failed. If ctx ends, Run returns its cause.
//
// Before Run returns, it cancels its submitted jobs, as far as they have not ended. If Slurm does not answer, the error
// names the jobs that may still run.
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
	}
	if options.DryRun {
		r.drySuffix = " (not done)"
	}
	err := r.begin(ctx)
	if err == nil {
		err = r.loop(ctx)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // not the error of an interrupted command
	}
	err = errors.Join(err, r.end())
	return r.result(), err
}

// loop polls until all tasks are done. loop returns an error if squeue fails for longer than Patience, or if ctx ends.
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

// poll asks Slurm for all jobs once, and carries out the actions that follow. An error means that Slurm did not answer,
// or that a result can't be moved and no attempt runs.
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
	if !r.reported && r.phase.Facts().Finished > 0 {
		r.once("progress", "tasks have ended, and no task has written its progress: slow tasks are found by their run times alone")
	}
	if r.anyRuns() { // an unsettled result is tried again, and does not end the run, while attempts run
		return nil
	}
	return r.unsettled
}

// anyRuns reports whether an attempt waits or runs.
func (r *run) anyRuns() bool {
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			if !a.ended() && (a.job != "" || !r.options.DryRun) {
				return true
			}
		}
	}
	return false
}

// report reports the attempts to package engine, and returns the actions.
func (r *run) report(attempts []engine.Attempt) []engine.Action {
	actions := r.phase.Poll(r.polled, attempts)
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			a.endReported = a.ended()
		}
	}
	return actions
}

// openArrays lists the job IDs of the arrays with an attempt that has not ended.
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

// done reports whether all tasks are done. In a dry run they are done when the array has ended.
func (r *run) done() bool {
	switch {
	case r.unsettled != nil:
		return false
	case !r.options.DryRun:
		return r.phase.Done()
	}
	return !slices.ContainsFunc(r.tasks, func(t *task) bool { return !t.original().ended() })
}

// logf writes a message with the seconds since the start.
func (r *run) logf(format string, args ...any) {
	fmt.Fprintf(r.options.Log, "%7.1fs  %s\n", time.Since(r.started).Seconds(), fmt.Sprintf(format, args...))
}

// once writes a message unless there was a message about the same subject.
func (r *run) once(subject, format string, args ...any) {
	if !r.logged[subject] {
		r.logged[subject] = true
		r.logf(format, args...)
	}
}
