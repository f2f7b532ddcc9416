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

// submit submits the attempts that Slurm has not accepted yet. If Slurm refuses an attempt, for example because the
// user has too many jobs, submit stops. The next poll tries again.
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
				_ = r.submitCopy(ctx, a, nil) // with the user's own options, all other nodes may be excluded
			}
			if err != nil && a.job == "" {
				r.once("sbatch", "%v; sbatch is tried again", err)
				return
			}
		}
	}
}

// submitCopy submits a later attempt of a task: a job array with one element, which has the task's index. avoid lists
// the nodes where it shall not run. If an earlier call of sbatch failed for this attempt, submitCopy gives the
// attempt's files another name. The reason: sbatch also fails if Slurm's answer is late, so the earlier job may be in
// the queue, and may begin at any time.
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
		// the script is no longer needed: sbatch has read it, or there is no job
		return errors.Join(err, os.RemoveAll(filepath.Dir(script)))
	}
	r.arrays = append(r.arrays, array)
	a.taken(array)
	return nil
}

// taken records that Slurm has accepted the attempt, as the job array with this ID.
func (a *attempt) taken(array string) { a.job = fmt.Sprintf("%s_%d", array, a.task.index) }

// mayTurnUp is how long after an error of sbatch its job may still appear in the queue. The controller slurmctld may
// still be working on the request when sbatch has given up.
const mayTurnUp = 10 * time.Minute

// findSubmitted looks in Slurm's queue for jobs that are there although sbatch returned an error for them. If an
// attempt has no job yet, such a job becomes the attempt's job. All other such jobs are put into r.strayArrays, to be
// cancelled. If findSubmitted returns an error, nothing may be submitted, because an attempt that is already in the
// queue could then run twice.
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
