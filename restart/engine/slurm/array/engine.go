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

// This is the adapter: what Slurm and the run directory show becomes a list of attempts, and the actions that package
// engine answers with become sbatch and scancel.

// observe returns all attempts of which package engine has not heard that they ended, as they are now.
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
			if a.closed {
				continue
			}
			if a.ended() { // the poll in which that was seen came to nothing
				r.seen = append(r.seen, a.report(r.workOf(t)))
				continue
			}
			if a.job == "" {
				if a.cancelled { // before sbatch took it
					a.state = engine.Cancelled
				}
			} else {
				j, ok := shown[a.job]
				a.observe(now, j, ok, r.dir.life(a.files))
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

// measure takes note of a running attempt's progress.
func (r *run) measure(now time.Time, a *attempt) {
	if a.state != engine.Running {
		return
	}
	share, at, err := r.dir.progress(a.files)
	if err != nil {
		r.rubbish++
		r.once(a.files, "%s: %v; it is passed over", a.job, err)
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

// workOf returns the work of a task in the units of Config.Work, which are shares if there is none.
func (r *run) workOf(t *task) float64 {
	if r.options.Work == nil {
		return 1
	}
	return r.options.Work[t.number]
}

// act carries the actions out, as far as that can be done now; the rest is tried again at the next poll.
func (r *run) act(ctx context.Context, actions []engine.Action) {
	for _, action := range actions {
		t := r.tasks[action.Task]
		if action.Op == engine.Publish { // its result is in its place by then
			r.phase.Published(action.ID)
			continue
		}
		known := slices.ContainsFunc(t.attempts, func(a *attempt) bool { return a.id == action.ID })
		if action.Op == engine.Submit && known {
			continue // submit tries it again at each poll
		}
		if action.Op == engine.Submit {
			a := &attempt{id: action.ID, files: action.ID, task: t, avoid: action.Avoid, why: action.Decision.Action}
			t.attempts = append(t.attempts, a)
			lost := ""
			if a.why == restart.Keep {
				lost = ": again after a loss"
			}
			r.logf("%s %s%s%s", r.name(t), action, lost, r.dry)
			continue
		}
		for _, a := range t.attempts {
			if a.id != action.ID {
				continue
			}
			// To be started again means to wait in the queue, behind other users' jobs: see replace.
			a.unwanted = action.Decision.Action == restart.Restart
			a.doomed = !a.unwanted
			if action.Decision.Action == restart.Kill && action.Decision.Reason != restart.Overtaken {
				r.logf("%s %s%s", r.name(t), action, r.dry)
			}
		}
	}
	if !r.options.DryRun {
		r.replace()
		err := r.recall(ctx)
		r.cancel(ctx)
		if err == nil {
			r.submit(ctx)
		}
	}
}

// name is what messages call a task.
func (r *run) name(t *task) string {
	return fmt.Sprintf("%s on %s:", t.original().job, cmp.Or(t.original().last.Node, "no node"))
}

// replace ends the attempts whose tasks were to be restarted, not before the new ones have begun. A restart is for want of
// slots; if there are idle ones by now, both go on, and the first result counts.
func (r *run) replace() {
	facts := r.phase.Facts()
	scarce := facts.Waiting > 0 || facts.FreeSlots <= 0
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			if a.unwanted && t.anotherRuns(a) {
				a.unwanted, a.doomed = false, scarce
			}
		}
	}
}

// cancel ends the attempts that are not needed any more, with one scancel.
func (r *run) cancel(ctx context.Context) {
	var doomed []*attempt
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			if a.ended() || a.cancelled {
				continue
			}
			if a.doomed || t.winner != nil || t.ending {
				doomed = append(doomed, a)
			}
		}
	}
	ids := slices.Clone(r.strays)
	for _, a := range doomed {
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
	r.strays = nil
	for _, a := range doomed {
		a.cancelled = true
	}
}

// copyEnv is what Slurm sets otherwise for an array of one element.
func (r *run) copyEnv() []string {
	n := len(r.tasks)
	first, last := r.tasks[0].index, r.tasks[n-1].index
	step := 1
	if n > 1 {
		step = r.tasks[1].index - first
	}
	for i, t := range r.tasks {
		if t.index != first+i*step {
			step = 1 // as Slurm has it for indices at uneven distances
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
