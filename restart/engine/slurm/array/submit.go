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

// submit hands the copies to Slurm that it has not taken yet. Where it refuses one, as at the limit of a user's jobs, it is
// not bothered with more of them before the next poll.
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
			if err != nil && r.recall(ctx) == nil && a.job == "" && len(a.avoid) > 0 {
				_ = r.submitCopy(ctx, a, nil) // the user's own options leave no other node
			}
			if err != nil && a.job == "" {
				r.once("sbatch", "%v; it is tried again", err)
				return
			}
		}
	}
}

// submitCopy submits a copy of a task: an array of one element, of the same index. If it is not the first time, it is under
// another name: sbatch fails too if only its answer is late, and the job of the first time may begin any time.
func (r *run) submitCopy(ctx context.Context, a *attempt, avoid []string) error {
	if a.tries++; a.tries > 1 {
		a.files = fmt.Sprintf("%s-%d", a.id, a.tries)
	}
	content, err := batchScript(unheld(r.header), r.dir.path, a.files, r.copyEnv())
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
		r.doubted, r.refused[a.files] = time.Now(), a
		return errors.Join(err, os.RemoveAll(filepath.Dir(script))) // sbatch has read it, or it is of no use
	}
	r.arrays = append(r.arrays, array)
	a.taken(array)
	return nil
}

// taken takes note of the array that an attempt has become.
func (a *attempt) taken(array string) { a.job = fmt.Sprintf("%s_%d", array, a.task.index) }

// doubtful is how long after an error of sbatch its job may still turn up: slurmctld works on what it has received.
const doubtful = 10 * time.Minute

// recall looks in the queue for what sbatch has failed to submit. The first that is found of a copy is that copy; any
// other is to be cancelled. An error means that nothing is known.
func (r *run) recall(ctx context.Context) error {
	if r.doubted.IsZero() || time.Since(r.doubted) > doubtful {
		return nil
	}
	found, err := r.slurm.Find(ctx, r.dir.path)
	if err != nil {
		r.once("recall", "%v; nothing is submitted until it is known what was", err)
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		array := found[name]
		if slices.Contains(r.arrays, array) {
			continue
		}
		r.arrays = append(r.arrays, array)
		files := strings.TrimSuffix(name, jobSuffix)
		if a := r.refused[files]; a != nil && a.job == "" && !a.cancelled {
			a.files = files
			a.taken(array)
			continue
		}
		r.strays = append(r.strays, array)
	}
	return nil
}
