package array

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// This file is the adapter. The adapter turns Slurm's jobs and the files of the run directory into a list of attempts,
// and the actions of package engine into calls of sbatch and scancel.

// observe returns the current state of all attempts whose end package engine does not know yet.
func (r *run) observe(now time.Time, jobs []Job) ([]engine.Attempt, error) {
	if err := r.dir.list(); err != nil {
		return nil, err
	}
	shown := make(map[string]Job, len(jobs))
	for _, j := range jobs {
		shown[j.ID] = j
	}
	r.seen = r.seen[:0]
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			if a.endReported {
				continue
			}
			if a.ended() { // the poll that saw the end has failed before package engine was told
				r.seen = append(r.seen, a.report(r.workOf(t)))
				continue
			}
			if a.job == "" {
				if a.cancelled { // before sbatch has accepted it
					a.state = engine.Cancelled
				}
			} else {
				j, ok := shown[a.job]
				a.observe(now, j, ok, r.dir.fileState(a.files))
				r.measure(now, a)
			}
			if a.state == engine.Succeeded && t.winner == nil {
				t.winner = a
			}
			r.seen = append(r.seen, a.report(r.workOf(t)))
		}
	}
	r.polled = now
	r.settleAll()
	return r.seen, nil
}

// measure brings a running attempt's progress up to date: from its progress file, or from the size of its output.
func (r *run) measure(now time.Time, a *attempt) {
	if a.state != engine.Running {
		return
	}
	share, at, err := r.dir.progress(a.files)
	if err != nil {
		r.badProgress++
		r.once(a.files, "%s: %v; it is ignored", a.job, err)
	}
	if at.IsZero() && err == nil && r.options.ExpectBytes > 0 {
		bytes := float64(r.dir.size(a.files, r.stdout(a)))
		share = min(1, bytes/(float64(r.options.ExpectBytes)*r.workOf(a.task)/r.meanWork))
		if at = a.asOf; at.IsZero() || share != a.share {
			at = now
		}
	}
	if at.After(a.asOf) {
		a.share, a.asOf, r.reported = share, at, true
	}
}

// workOf returns the work of a task, in the units of Options.Work, and 1 if sizes are not known.
func (r *run) workOf(t *task) float64 {
	if r.options.Work == nil {
		return 1
	}
	return r.options.Work[t.number]
}

// act carries out the actions. If an action fails, the next poll tries it again. A dry run logs the actions and carries
// out none. Nothing is submitted while it is not known which jobs are in the queue.
func (r *run) act(ctx context.Context, actions []engine.Action) {
	for _, action := range actions {
		t := r.tasks[action.Task]
		if action.Op == engine.Publish { // settleAll has put the result into its place
			r.phase.Published(action.ID)
			continue
		}
		known := slices.ContainsFunc(t.attempts, func(a *attempt) bool { return a.id == action.ID })
		if action.Op == engine.Submit && known {
			continue // submit tries again at each poll
		}
		if action.Op == engine.Submit {
			a := &attempt{id: action.ID, files: action.ID, task: t, avoid: action.Avoid, why: action.Decision.Action}
			t.attempts = append(t.attempts, a)
			lost := ""
			if a.why == restart.Keep {
				lost = ": again after a loss"
			}
			r.logf("%s %s%s%s", r.name(t), action, lost, r.drySuffix)
			continue
		}
		for _, a := range t.attempts {
			if a.id != action.ID {
				continue
			}
			// The attempt that replaces this attempt may wait in the queue, behind other users' jobs: see replace.
			a.replaced = action.Decision.Action == restart.Restart
			a.toCancel = !a.replaced
			if action.Decision.Action == restart.Kill && action.Decision.Reason != restart.Overtaken {
				r.logf("%s %s%s", r.name(t), action, r.drySuffix)
			}
		}
	}
	if !r.options.DryRun {
		r.replace()
		err := r.findSubmitted(ctx)
		r.cancel(ctx)
		if err == nil {
			r.submit(ctx)
		}
	}
}

// name returns a task's name in messages.
func (r *run) name(t *task) string {
	return fmt.Sprintf("%s on %s:", t.original().job, cmp.Or(t.original().last.Node, "no node"))
}

// replace ends an attempt that was to be restarted, once another attempt of the task has begun. The policy restarts, and
// does not copy, because slots are scarce. If slots are idle by now, both attempts go on, and the first result counts.
func (r *run) replace() {
	facts := r.phase.Facts()
	scarce := facts.Waiting > 0 || facts.FreeSlots <= 0
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			if a.replaced && t.anotherRuns(a) {
				a.replaced, a.toCancel = false, scarce
			}
		}
	}
}

// cancel ends the attempts that are not needed any more, with one call of scancel.
func (r *run) cancel(ctx context.Context) {
	var useless []*attempt
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			if a.ended() || a.cancelled {
				continue
			}
			if a.toCancel || t.winner != nil || t.ending {
				useless = append(useless, a)
			}
		}
	}
	ids := slices.Clone(r.strayArrays)
	for _, a := range useless {
		if a.job != "" {
			ids = append(ids, a.job)
		}
	}
	if len(ids) > 0 {
		if err := r.slurm.Cancel(ctx, ids); err != nil {
			r.once("scancel", "%v; it is tried again", err)
			return
		}
	}
	r.strayArrays = nil
	for _, a := range useless {
		a.cancelled = true
	}
}

// copyEnv returns the array variables of the user's array. For a copy, Slurm itself sets them for an array of one
// element.
func (r *run) copyEnv() []string {
	n := len(r.tasks)
	first, last := r.tasks[0].index, r.tasks[n-1].index
	step := 1
	if n > 1 {
		step = r.tasks[1].index - first
	}
	for i, t := range r.tasks {
		if t.index != first+i*step {
			step = 1 // Slurm's step for indices at uneven distances
		}
	}
	return []string{
		"SLURM_ARRAY_JOB_ID=" + r.arrays[0],
		fmt.Sprintf("SLURM_ARRAY_TASK_COUNT=%d", n),
		fmt.Sprintf("SLURM_ARRAY_TASK_MIN=%d", first),
		fmt.Sprintf("SLURM_ARRAY_TASK_MAX=%d", last),
		fmt.Sprintf("SLURM_ARRAY_TASK_STEP=%d", step),
	}
}
