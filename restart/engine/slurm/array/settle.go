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

// stdout is the file to which an attempt prints. Copies print aside, but to the same device.
func (r *run) stdout(a *attempt) string { return r.output(a, "stdout", a.task.original().last.Stdout) }

// stderr is the same file where the user has it so: else what a copy says would go into the original's.
func (r *run) stderr(a *attempt) string {
	original := a.task.original().last
	if original.Stderr == original.Stdout {
		return r.stdout(a)
	}
	return r.output(a, "stderr", original.Stderr)
}

func (r *run) output(a *attempt, kind, original string) string {
	if a == a.task.original() || original == os.DevNull {
		return original
	}
	return r.dir.file(a.files, kind)
}

// settleAll puts the results that there are into their places.
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

// errWaits is why the output of a copy stays aside until its original, which is cancelled, has ended: Slurm would empty the
// file if the original began.
var errWaits = errors.New("the original is in the queue again, and is not cancelled yet")

// settle makes what an attempt has printed and written that of its task.
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
		return errors.New("squeue does not say in which directory it runs: -results does")
	}
	left, err := r.dir.moveResults(a.files, results)
	for _, path := range left {
		r.once(path, "%s is neither a file nor a link, and is left out", path)
	}
	return err
}

func (r *run) settleOutput(a *attempt) error {
	original := a.task.original()
	if a == original {
		return nil
	}
	var errs []error
	for _, f := range [][2]string{{r.stdout(a), original.last.Stdout}, {r.stderr(a), original.last.Stderr}} {
		if _, err := os.Lstat(f[0]); f[0] == f[1] || errors.Is(err, os.ErrNotExist) {
			continue // it prints there itself, or has moved at an earlier poll
		}
		errs = append(errs, move(f[0], f[1]))
	}
	return errors.Join(errs...)
}

// end leaves nothing behind: what is still there of the run is cancelled, and its directory is removed, except if it holds
// what is nowhere else.
func (r *run) end() error {
	kept := r.unmoved()
	errs := []error{r.cancelAll()}
	for _, t := range r.tasks {
		if t.winner == nil && t.ending && t.failed != nil {
			if err := r.settleOutput(t.failed); err != nil { // the reason of its failure
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
			r.logf("%v: it may be removed by hand", err) // the results are in their places all the same
		}
	}
	return errors.Join(errs...)
}

// unmoved lists the attempts whose results are whole, but not in their places, those too of which no poll knows.
func (r *run) unmoved() (files []string) {
	if r.dir == nil {
		return nil
	}
	if err := r.dir.list(); err != nil {
		r.logf("%v", err) // then what was seen last must do
	}
	for _, t := range r.tasks {
		whole := slices.IndexFunc(t.attempts, func(a *attempt) bool {
			return a == t.winner || t.winner == nil && !a.cancelled && r.dir.life(a.files).whole()
		})
		if !t.settled && whole >= 0 {
			files = append(files, t.attempts[whole].files)
		}
	}
	return files
}

// cancelAll cancels what has not been seen to end, if anything.
func (r *run) cancelAll() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.recall(ctx); err != nil {
		return errors.Join(fmt.Errorf("what sbatch failed to submit may be in the queue, with scripts in %s: %w", r.dir.path, err),
			r.cancelArrays(ctx))
	}
	return r.cancelArrays(ctx)
}

func (r *run) cancelArrays(ctx context.Context) error {
	live := len(r.tasks) == 0 || len(r.strays) > 0
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
