package array

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// stdout returns the path of the file to which Slurm writes the standard output of an attempt. A later attempt has an
// output file of its own. If the task's first attempt prints to /dev/null, all attempts do.
func (r *run) stdout(a *attempt) string { return r.output(a, "stdout", a.task.original().last.Stdout) }

// stderr returns the path of the file to which Slurm writes the standard error of an attempt. If the task's first
// attempt has one file for standard output and standard error, so has the attempt: stderr then returns the same path
// as stdout.
func (r *run) stderr(a *attempt) string {
	original := a.task.original().last
	if original.Stderr == original.Stdout {
		return r.stdout(a)
	}
	return r.output(a, "stderr", original.Stderr)
}

// output returns the path of an output file of an attempt. For the task's first attempt it is the path original. For
// a later attempt it is a file in the run directory, unless original is /dev/null.
func (r *run) output(a *attempt, kind, original string) string {
	if a == a.task.original() || original == os.DevNull {
		return original
	}
	return r.dir.file(a.files, kind)
}

// settleAll moves the result of each task whose winner is known to the place where the user expects it. It sets
// r.unsettled to an error if a result can't be moved, and else to nil.
func (r *run) settleAll() {
	r.unsettled = nil
	for _, t := range r.tasks {
		if t.winner == nil || t.settled {
			continue
		}
		if err := r.settle(t.winner); err != nil { // the next poll tries again
			r.unsettled = fmt.Errorf("%s: %w", t.winner.job, err)
			if !errors.Is(err, errWaits) {
				r.once(t.winner.files+" settles", "%v; it is tried again", r.unsettled)
			}
			continue
		}
		t.settled = true
	}
}

// errWaits is the error of settle if the task's first attempt waits in the queue again, and is not cancelled yet. If
// this attempt began, Slurm would empty the output file of the task. So the output of a later attempt stays in the
// run directory until the first attempt has ended.
var errWaits = errors.New("the original is in the queue again, and is not cancelled yet")

// settle moves the output and the result files of an attempt to the places where the user expects the output and the
// files of the task.
func (r *run) settle(a *attempt) error {
	if o := a.task.original(); a != o && o.last.waits() && !o.ended() {
		return errWaits
	}
	if err := r.settleOutput(a); err != nil {
		return err
	}
	results := r.options.Results
	if results == "" {
		results = a.task.original().last.WorkDir
	}
	if results == "" {
		return errors.New("squeue does not show the directory in which the job runs: set -results")
	}
	left, err := r.dir.moveResults(a.files, results)
	for _, path := range left {
		r.once(path, "%s is neither a file nor a link, and is not moved", path)
	}
	return err
}

// settleOutput moves the output files of a later attempt to the places of the output files of the task's first
// attempt. For the first attempt itself it does nothing.
func (r *run) settleOutput(a *attempt) error {
	original := a.task.original()
	if a == original {
		return nil
	}
	var errs []error
	for _, f := range [][2]string{{r.stdout(a), original.last.Stdout}, {r.stderr(a), original.last.Stderr}} {
		if _, err := os.Lstat(f[0]); f[0] == f[1] || errors.Is(err, os.ErrNotExist) {
			continue // both are /dev/null, or an earlier poll has moved the file
		}
		errs = append(errs, move(f[0], f[1]))
	}
	return errors.Join(errs...)
}

// end cancels all jobs that have not ended, and removes the run directory. If results could not be moved out of the
// run directory, end keeps the directory and returns an error with its path.
func (r *run) end() error {
	kept := r.unmoved()
	errs := []error{r.cancelAll()}
	for _, t := range r.tasks {
		if t.winner == nil && t.ending && t.failed != nil {
			if err := r.settleOutput(t.failed); err != nil {
				// the output is kept because it says why the task has failed
				kept, errs = append(kept, t.failed.files), append(errs, err)
			}
		}
	}
	switch {
	case r.dir == nil || r.options.Keep:
	case len(kept) > 0:
		errs = append(errs, fmt.Errorf("the results of %d tasks are not in their places: %s holds them, as %s.out and the like",
			len(kept), r.dir.path, kept[0]))
	default:
		if err := r.dir.remove(); err != nil {
			r.logf("%v: remove the directory by hand", err) // this is no error, because the results are in their places
		}
	}
	return errors.Join(errs...)
}

// unmoved lists the attempts whose results are complete and were not moved to their places. For each such attempt it
// returns the beginning of the names of its files in the run directory. unmoved lists this directory once more, so it
// also finds results that came after the last poll.
func (r *run) unmoved() (files []string) {
	if r.dir == nil {
		return nil
	}
	if err := r.dir.list(); err != nil {
		r.logf("%v", err) // the names of the last list are used
	}
	for _, t := range r.tasks {
		whole := slices.IndexFunc(t.attempts, func(a *attempt) bool {
			return a == t.winner || t.winner == nil && !a.cancelled && r.dir.fileState(a.files).whole()
		})
		if !t.settled && whole >= 0 {
			files = append(files, t.attempts[whole].files)
		}
	}
	return files
}

// cancelAll cancels all jobs of this run that have not ended. This includes jobs that are in the queue although
// sbatch returned an error for them.
func (r *run) cancelAll() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.findSubmitted(ctx); err != nil {
		return errors.Join(fmt.Errorf("a job that sbatch failed to submit may be in the queue, with scripts in %s: %w",
			r.dir.path, err), r.cancelArrays(ctx))
	}
	return r.cancelArrays(ctx)
}

// cancelArrays cancels all arrays that this run has submitted. If all attempts have ended or were cancelled, it does
// nothing.
func (r *run) cancelArrays(ctx context.Context) error {
	live := len(r.tasks) == 0 || len(r.strayArrays) > 0
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			live = live || a.job != "" && !a.ended() && !a.cancelled
		}
	}
	if !live || len(r.arrays) == 0 {
		return nil
	}
	if err := r.slurm.Cancel(ctx, r.arrays); err != nil {
		return fmt.Errorf("these jobs may go on: %s: %w", strings.Join(r.arrays, " "), err)
	}
	return nil
}
