package array

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// submit submits the attempts that Slurm has not accepted yet. If Slurm refuses one, as at the limit of a user's jobs,
// the next poll goes on.
func (r *run) submit(ctx context.Context) {
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			if a.job != "" || a.cancelled {
				continue
			}
			if ctx.Err() != nil {
				return
			}
			err := r.submitCopy(ctx, a, a.avoid)
			if err != nil && r.findSubmitted(ctx) == nil && a.job == "" && len(a.avoid) > 0 {
				_ = r.submitCopy(ctx, a, nil) // the user's own options may leave no other node
			}
			if err != nil && a.job == "" {
				r.once("sbatch", "%v; sbatch is tried again", err)
				return
			}
		}
	}
}

// submitCopy submits another attempt of a task: an array of one element with the task's index. A second try has files
// under another name, because the job of the first try may be in the queue and begin at any time: sbatch also fails if
// only its answer is late.
func (r *run) submitCopy(ctx context.Context, a *attempt, avoid []string) error {
	if a.tries++; a.tries > 1 {
		a.files = fmt.Sprintf("%s-%d", a.id, a.tries)
	}
	content, err := batchScript(withoutHold(r.header), r.dir.path, a.files, r.copyEnv())
	if err != nil {
		return err
	}
	script, err := r.dir.writeScript(a.files, r.options.Script, content)
	if err != nil {
		return err
	}
	options := append(copied(r.options.Sbatch), "--no-requeue", "--begin=now", "--dependency=", "--mail-type=NONE",
		fmt.Sprintf("--array=%d", a.task.index), "--output="+literal(r.stdout(a)), "--error="+literal(r.stderr(a)))
	if r.facts.Exclude != "" {
		avoid = append(slices.Clone(avoid), r.facts.Exclude)
	}
	if len(avoid) > 0 {
		options = append(options, "--exclude="+strings.Join(avoid, ","))
	}
	array, err := r.slurm.Submit(ctx, options, script, r.options.Args)
	if err != nil {
		r.submitFailed, r.failedSubmits[a.files] = time.Now(), a
		return errors.Join(err, os.RemoveAll(filepath.Dir(script))) // sbatch has read the script, or there is no job
	}
	r.arrays = append(r.arrays, array)
	a.taken(array)
	return nil
}

// taken records the array of an attempt.
func (a *attempt) taken(array string) { a.job = fmt.Sprintf("%s_%d", array, a.task.index) }

// mayTurnUp is how long after an error of sbatch the job may still turn up in the queue, because slurmctld may work on
// a request after its answer was lost.
const mayTurnUp = 10 * time.Minute

// findSubmitted looks in the queue for jobs that sbatch has failed to submit. The first job that it finds of an attempt
// becomes that attempt's job. Any other job is cancelled. After an error nothing must be submitted again.
func (r *run) findSubmitted(ctx context.Context) error {
	if r.submitFailed.IsZero() || time.Since(r.submitFailed) > mayTurnUp {
		return nil
	}
	found, err := r.slurm.Find(ctx, r.dir.path)
	if err != nil {
		r.once("find", "%v; nothing is submitted until squeue shows which jobs are in the queue", err)
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		array := found[name]
		if slices.Contains(r.arrays, array) {
			continue
		}
		r.arrays = append(r.arrays, array)
		files := strings.TrimSuffix(name, jobSuffix)
		if a := r.failedSubmits[files]; a != nil && a.job == "" && !a.cancelled {
			a.files = files
			a.taken(array)
			continue
		}
		r.strayArrays = append(r.strayArrays, array)
	}
	return nil
}
