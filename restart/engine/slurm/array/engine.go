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

// This file connects Slurm to package engine. It turns Slurm's jobs and the files of the run directory into a list of
// attempts for an engine.Phase. It carries out the actions of the engine.Phase by sbatch and scancel.

// observe brings all attempts up to date from jobs, which is the list that squeue shows, and from the files of the
// run directory. It returns reports for the engine.Phase about all attempts whose end was not reported before.
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
			if a.ended() { // an earlier poll saw the end, and failed before it reported the end
				r.seen = append(r.seen, a.report(r.workOf(t)))
				continue
			}
			if a.job == "" {
				if a.cancelled { // it was cancelled before sbatch accepted it
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

// measure brings the progress of a running attempt up to date. The progress is read from the attempt's progress file.
// If there is none and Options.ExpectBytes is set, the progress is computed from the number of bytes that the attempt
// has written.
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

// workOf returns the size of a task, in the unit of Options.Work. It returns 1 if sizes are not known.
func (r *run) workOf(t *task) float64 {
	if r.options.Work == nil {
		return 1
	}
	return r.options.Work[t.number]
}

// act carries out the actions of the engine.Phase. If an action fails, the next poll tries it again. In shadow mode act
// carries out none: Slurm itself runs lost tasks again. act submits nothing as long as this process does not know which
// jobs are in the queue.
func (r *run) act(ctx context.Context, actions []engine.Action) {
	for _, action := range actions {
		t := r.tasks[action.Task]
		if action.Op == engine.Publish { // settleAll has already moved the result to its place
			r.phase.Published(action.ID)
			continue
		}
		if r.options.Shadow {
			continue
		}
		known := slices.ContainsFunc(t.attempts, func(a *attempt) bool { return a.id == action.ID })
		if action.Op == engine.Submit && known {
			continue // the function submit tries again at each poll
		}
		if action.Op == engine.Submit {
			a := &attempt{id: action.ID, files: action.ID, task: t, avoid: action.Avoid, why: action.Decision.Action}
			t.attempts = append(t.attempts, a)
			lost := ""
			if a.why == restart.Keep {
				lost = ": again after a loss"
			}
			r.logf("%s %s%s", r.name(t), action, lost)
			r.tell(t, action)
			continue
		}
		for _, a := range t.attempts {
			if a.id != action.ID {
				continue
			}
			if !a.replaced && !a.toCancel && !a.cancelled {
				r.tell(t, action)
			}
			// In a restart the new attempt may wait in the queue behind the jobs of other users. So the old attempt
			// is not cancelled yet: the function replace cancels it when the new attempt has begun.
			a.replaced = action.Decision.Action == restart.Restart
			a.toCancel = !a.replaced
			if action.Decision.Action == restart.Kill && action.Decision.Reason != restart.Overtaken {
				r.logf("%s %s", r.name(t), action)
			}
		}
	}
	r.replace()
	err := r.findSubmitted(ctx)
	r.cancel(ctx)
	if err == nil {
		r.submit(ctx)
	}
}

// tell calls Options.OnAction.
func (r *run) tell(t *task, a engine.Action) {
	if r.options.OnAction != nil {
		r.options.OnAction(t.index, a)
	}
}

// name returns the text by which messages refer to a task: the job ID and the node of its first attempt.
func (r *run) name(t *task) string {
	return fmt.Sprintf("%s on %s:", t.original().job, cmp.Or(t.original().last.Node, "no node"))
}

// replace handles the old attempts of restarted tasks. As soon as the new attempt of the task has begun, replace
// decides about the old attempt. If tasks wait or no slot is free, the old attempt will be cancelled. Otherwise both
// attempts run on, and the first result is used. The reason: a policy restarts a task, in place of copying it,
// because slots are scarce.
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

// cancel cancels all attempts that are no longer needed, with one call of scancel.
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

// copyEnv returns the environment variables SLURM_ARRAY_... of the user's array, as shell assignments for the script
// of a later attempt. Such an attempt is a job array of one element, and without copyEnv its script would see the
// variables of this small array.
func (r *run) copyEnv() []string {
	n := len(r.tasks)
	first, last := r.tasks[0].index, r.tasks[n-1].index
	step := 1
	if n > 1 {
		step = r.tasks[1].index - first
	}
	for i, t := range r.tasks {
		if t.index != first+i*step {
			step = 1 // as in Slurm, if the distances between the indices differ
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
