// Package array runs a Slurm job array and mitigates its stragglers: it watches the array's tasks by squeue and by small
// files, asks package restart/engine what to do, and submits copies and cancels attempts by sbatch and scancel. It needs
// nothing of Slurm but its commands.
package array

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// Options say what to run, and how.
type Options struct {
	Script string   // the user's batch script; its #SBATCH lines count
	Args   []string // the script's arguments
	Sbatch []string // options for sbatch, such as --array=0-63

	Policy   restart.Policy // nil: Mantri
	Interval time.Duration  // the period of polls, and of the scripts' reports; 0 means 10 s
	Lag      time.Duration  // how long a new job usually waits in the queue of a cluster that has room for it
	Slots    int            // how many tasks may run at once; 0: those that do, and as many as there are idle CPUs for
	// ExpectBytes is how much a task of the mean size prints and writes to $STRAGGLER_OUT, in all: its progress, if it does
	// not report any. 0: not known.
	ExpectBytes int64
	Work        []float64 // the tasks' sizes, in units of your choice, in the order of their indices; nil: all are alike

	Dir      string        // where the run directory is made; "": the working directory
	Results  string        // where result files go; "": the directory in which the job runs
	Patience time.Duration // for how long squeue may fail; 0 means 10 minutes
	DryRun   bool          // act on nothing, and only say what would be done
	Keep     bool          // keep the run directory
	Journal  bool          // keep a journal
	Log      io.Writer     // for messages; nil: none
}

// Result is what has become of a run.
type Result struct {
	Array     string // the array's job ID
	Tasks     int
	Failed    []string // the tasks that did not succeed, as Slurm calls them
	Code      int      // the highest exit code of a task; at least 1 if one has failed
	Elapsed   time.Duration
	Copies    int // attempts that were submitted beside the array
	Won       int // of these, how many had their task's result
	Restarts  int // attempts that were cancelled because another was to take their place
	Cancelled int // attempts that were cancelled, in all
	Rubbish   int // progress files that could not be read, counted at each poll
	Ledger    restart.Ledger
	Journal   []byte
}

// run is a run in progress.
type run struct {
	slurm    Slurm
	options  Options
	started  time.Time
	dir      *runDir
	header   string
	arrays   []string // the job IDs of all that was submitted, the original first
	facts    Facts
	tasks    []*task
	meanWork float64
	phase    *engine.Phase
	hosts    *engine.Hosts
	polled   time.Time // the last poll
	seen     []engine.Attempt
	rubbish  int
	reported bool            // some attempt has shown its progress
	said     map[string]bool // messages, so that none is repeated at each poll
	dry      string
}

// Run submits the script as a job array and returns once each of its tasks has a result or has failed. Whatever ends it,
// nothing that it has submitted goes on, except where Slurm does not answer: then the error says what may still run.
func Run(ctx context.Context, slurm Slurm, options Options) (Result, error) {
	if options.Interval == 0 {
		options.Interval = 10 * time.Second
	}
	if options.Patience == 0 {
		options.Patience = 10 * time.Minute
	}
	if options.Log == nil {
		options.Log = io.Discard
	}
	r := &run{slurm: slurm, options: options, started: time.Now(), said: map[string]bool{}}
	if options.DryRun {
		r.dry = " (not done)"
	}
	err := r.begin(ctx)
	if err == nil {
		err = r.loop(ctx)
	}
	err = errors.Join(err, r.end())
	return r.result(), err
}

// begin submits the array and learns what it consists of.
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
	batch, err := r.dir.writeScript("array", r.options.Script, content)
	if err != nil {
		return err
	}
	options := slices.Clone(r.options.Sbatch)
	if !r.options.DryRun {
		options = append(options, "--no-requeue") // what is lost is submitted again here, elsewhere
	}
	array, err := r.slurm.Submit(ctx, options, batch, r.options.Args)
	if err != nil {
		return err
	}
	r.arrays, r.polled = []string{array}, time.Now()
	if r.facts, err = r.slurm.Describe(ctx, array); err != nil {
		return err
	}
	jobs, err := r.slurm.Jobs(ctx, r.arrays)
	if err != nil {
		return err
	}
	if err := r.adopt(jobs); err != nil {
		return err
	}
	return r.plan(ctx)
}

// adopt makes a task of each element of the array.
func (r *run) adopt(jobs []Job) error {
	files := map[string]string{}
	for _, j := range jobs {
		_, index, _ := strings.Cut(j.ID, "_")
		i, err := strconv.Atoi(index)
		if err != nil {
			return fmt.Errorf("job %s is not of a job array: give -array, or a line #SBATCH --array=... in the script", j.ID)
		}
		if other, taken := files[j.Stdout]; taken && j.Stdout != os.DevNull && !r.options.DryRun {
			return fmt.Errorf("%s and %s would both print to %s: put %%a into the file's name", other, j.ID, j.Stdout)
		}
		files[j.Stdout] = j.ID
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
		return fmt.Errorf("there are %d sizes, and %d tasks in the array", n, len(r.tasks))
	}
	return nil
}

// plan makes the phase.
func (r *run) plan(ctx context.Context) error {
	nodes, err := r.slurm.Nodes(ctx, r.facts.Partition)
	if err != nil {
		return err
	}
	known := make([]engine.Host, len(nodes))
	for i, n := range nodes {
		known[i].Name = n.Name
	}
	if r.hosts, err = engine.NewHosts(engine.HostsConfig{Hosts: known, Rest: 6 * r.options.Interval}); err != nil {
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
	r.phase, err = engine.New(engine.Config{
		Config: restart.Config{
			Tasks: len(r.tasks), Work: r.options.Work, Slots: r.options.Slots,
			Interval: r.options.Interval, Lag: r.options.Lag, Policy: r.options.Policy,
		},
		Hosts: r.hosts, Queued: true, MaxFailures: 1, Journal: r.options.Journal,
	})
	return err
}

// loop polls until all is done.
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
			r.logf("%v; it is tried again", err)
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

// poll looks once and does what is to be done.
func (r *run) poll(ctx context.Context) error {
	jobs, err := r.slurm.Jobs(ctx, r.arrays)
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
	r.act(ctx, r.phase.Observe(r.polled, attempts))
	if !r.reported && r.phase.Facts().Finished > 0 {
		switch r.options.Policy.(type) {
		case nil, restart.Mantri, restart.LATE, restart.Hadoop:
			r.once("progress", "tasks have ended, and none has ever written its progress: the policy cannot judge those that run")
		}
	}
	return nil
}

// count tells the phase how many tasks may run at once, and which nodes take none.
func (r *run) count(ctx context.Context) error {
	nodes, err := r.slurm.Nodes(ctx, r.facts.Partition)
	if err != nil {
		return err
	}
	slots := 0
	for _, n := range nodes {
		r.hosts.SetDown(n.Name, n.Down)
		if !n.Down {
			slots += n.Idle / r.facts.CPUs
		}
	}
	for _, a := range r.seen {
		if a.State == engine.Running {
			slots++
		}
	}
	if r.options.Slots > 0 {
		slots = r.options.Slots
	}
	if r.facts.Throttle > 0 {
		slots = min(slots, r.facts.Throttle)
	}
	r.phase.SetSlots(slots)
	return nil
}

// done reports whether there is nothing left to wait for.
func (r *run) done() bool {
	if !r.options.DryRun {
		return r.phase.Done()
	}
	return !slices.ContainsFunc(r.tasks, func(t *task) bool { return !t.original().ended() })
}

func (r *run) logf(format string, args ...any) {
	fmt.Fprintf(r.options.Log, "%7.1fs  %s\n", time.Since(r.started).Seconds(), fmt.Sprintf(format, args...))
}

// once says something of a subject of which nothing was said before.
func (r *run) once(subject, format string, args ...any) {
	if !r.said[subject] {
		r.said[subject] = true
		r.logf(format, args...)
	}
}
