package array

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// begin submits the user's array, lists the tasks of the array and the nodes of the partition, and makes the
// engine.Phase that decides about the attempts.
func (r *run) begin(ctx context.Context) error {
	script, err := os.ReadFile(r.options.Script)
	if err != nil {
		return err
	}
	if r.header, err = header(script); err != nil {
		return fmt.Errorf("%s: %w", r.options.Script, err)
	}
	if r.dir, err = newRunDir(r.options.Dir, script); err != nil {
		return err
	}
	content, err := batchScript(r.header, r.dir.path, "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID", nil)
	if err != nil {
		return err
	}
	batch, err := r.dir.writeScript(arrayName, r.options.Script, content)
	if err != nil {
		return err
	}
	options := slices.Clone(r.options.Sbatch)
	if !r.options.Shadow {
		// if an attempt is lost, this package itself submits the task again, on another node
		options = append(options, "--no-requeue")
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	array, err := r.submitArray(ctx, options, batch)
	if err != nil {
		return err
	}
	r.arrays, r.submitted = []string{array}, time.Now()
	r.polled = r.submitted
	if r.options.Submitted != nil {
		r.options.Submitted(array)
	}
	var jobs []Job
	var nodes []Node
	err = r.askUntil(ctx, func() (err error) {
		if r.facts, err = r.slurm.Describe(ctx, array); err != nil {
			return err
		}
		if jobs, err = r.slurm.Jobs(ctx, r.arrays); err != nil {
			return err
		}
		nodes, err = r.slurm.Nodes(ctx, r.facts.Partition)
		return err
	})
	if err != nil {
		return err
	}
	if err := r.adopt(jobs); err != nil {
		return err
	}
	return r.plan(nodes)
}

// arrayName, followed by jobSuffix, is the name of the directory that contains the batch script of the user's array.
const arrayName = "array"

// submitArray submits the user's array and returns its job ID. If sbatch fails, Slurm may have accepted the array all
// the same. So submitArray then looks for the array in the queue.
func (r *run) submitArray(ctx context.Context, options []string, batch string) (string, error) {
	array, err := r.slurm.Submit(ctx, options, batch, r.options.Args)
	if err == nil {
		return array, nil
	}
	r.submitFailed = time.Now()
	found, findErr := r.slurm.Find(ctx, r.dir.path)
	if array = found[arrayName+jobSuffix]; array != "" {
		return array, nil
	}
	return "", errors.Join(err, findErr)
}

// askUntil calls ask until ask returns no error. It gives up after Options.Patience, or if ctx ends. The calls of ask
// are Options.Interval apart. One error is normal: Slurm's controller may not answer at once when it has just
// accepted a large array.
func (r *run) askUntil(ctx context.Context, ask func() error) error {
	since := time.Now()
	for {
		err := ask()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case time.Since(since) > r.options.Patience:
			return fmt.Errorf("given up after %v: %w", r.options.Patience, err)
		}
		r.once("ask", "%v; Slurm is asked again", err)
		select {
		case <-ctx.Done():
		case <-time.After(r.options.Interval):
		}
	}
}

// adopt makes a task for each element of the user's array. jobs lists the elements.
func (r *run) adopt(jobs []Job) error {
	for _, j := range jobs {
		_, index, _ := strings.Cut(j.ID, "_")
		i, err := strconv.Atoi(index)
		if err != nil {
			return fmt.Errorf("job %s is not a job array: set -array, or write a line #SBATCH --array=... in the script", j.ID)
		}
		same := j.ID != jobs[0].ID && (j.Stdout == jobs[0].Stdout || j.Stderr == jobs[0].Stderr)
		if j.Shared && same && !r.options.Shadow {
			return fmt.Errorf("the tasks of job %s would all print to %s or %s: put %%a into the names of output files",
				r.arrays[0], j.Stdout, j.Stderr)
		}
		t := &task{index: i}
		t.attempts = []*attempt{{id: j.ID, files: j.ID, job: j.ID, task: t, last: j}}
		r.tasks = append(r.tasks, t)
	}
	slices.SortFunc(r.tasks, func(a, b *task) int { return a.index - b.index })
	for i, t := range r.tasks {
		t.number = i
	}
	if len(r.tasks) == 0 {
		return fmt.Errorf("squeue shows no task of job %s", r.arrays[0])
	}
	if n := len(r.options.Work); r.options.Work != nil && n != len(r.tasks) {
		return fmt.Errorf("array: Options.Work has %d sizes, want %d, one for each task of the array", n, len(r.tasks))
	}
	return nil
}

// plan makes r.machines from the nodes of the partition, and makes r.phase, the engine.Phase that decides about the
// attempts.
func (r *run) plan(nodes []Node) (err error) {
	known := make([]engine.Machine, len(nodes))
	for i, n := range nodes {
		known[i].Name = n.Name
	}
	if r.machines, err = engine.NewMachines(engine.MachinesConfig{Machines: known, Rest: 6 * r.options.Interval}); err != nil {
		return err
	}
	r.meanWork = 1
	if r.options.Work != nil {
		sum := 0.0
		for _, w := range r.options.Work {
			sum += w
		}
		r.meanWork = sum / float64(len(r.options.Work))
	}
	r.config = engine.Config{
		Tasks: len(r.tasks), Work: r.options.Work, Slots: r.options.Slots,
		Interval: r.options.Interval, Lag: r.options.Lag, Policy: r.options.Policy, Limits: r.options.Limits,
		Machines: r.machines, Preloaded: true, MaxFailures: 1, Journal: r.options.Journal,
	}
	if r.options.Shadow {
		r.config.Shadow = func(task int, d restart.Decision) {
			d.Avoid = restart.MachineSet{} // without the nodes by their numbers, which mean nothing to a reader
			r.logf("%s %s (not done)", r.name(r.tasks[task]), d)
		}
	}
	if r.options.Configure != nil {
		r.options.Configure(&r.config)
	}
	if r.phase, err = engine.New(r.config); err != nil {
		return fmt.Errorf("array: Options: %w", err)
	}
	for i := range r.tasks {
		r.phase.SetEligible(i, !r.options.NoCopy, !r.options.NoCopy)
	}
	return nil
}

// count tells the engine.Phase how many attempts may run at once, and which nodes are down. The number is
// Options.Slots, or else the number of running attempts plus the attempts for which idle CPUs are left. It is never
// more than the limit N of --array=...%N.
func (r *run) count(ctx context.Context) error {
	nodes, err := r.slurm.Nodes(ctx, r.facts.Partition)
	if err != nil {
		return err
	}
	slots := 0
	for _, n := range nodes {
		r.machines.SetDown(n.Name, n.Down)
		if !n.Down {
			slots += n.Idle / r.facts.CPUs
		}
	}
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			if !a.ended() && a.last.live() && !a.last.waits() {
				slots++
			}
		}
	}
	if r.options.Slots > 0 {
		slots = r.options.Slots
	}
	if r.facts.Throttle > 0 {
		slots = min(slots, r.facts.Throttle)
	}
	r.phase.SetSlots(slots)
	r.mostSlots = max(r.mostSlots, slots)
	return nil
}
