// Package array runs a Slurm job array and mitigates its stragglers: it watches the array's tasks by squeue and by small
// files, asks package restart/engine what to do, and submits copies and cancels attempts by sbatch and scancel. It needs
// nothing of Slurm but its commands.
package array

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
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

	Policy   restart.Policy // nil: LeastCost
	Limits   restart.Limits // around every policy; the zero value protects
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
	// Submitted, if not nil, is called once the array is in the queue, with its job ID.
	Submitted func(array string)
}

// Check reports the first option that is out of range.
func (o *Options) Check() error {
	switch {
	case o.Interval < 0:
		return fmt.Errorf("the interval is %v, want more than 0, or 0 for 10s", o.Interval)
	case o.Lag < 0:
		return fmt.Errorf("the lag is %v, want 0 or more", o.Lag)
	case o.Slots < 0:
		return fmt.Errorf("there are %d slots, want 0 or more", o.Slots)
	case o.ExpectBytes < 0:
		return fmt.Errorf("%d bytes are expected, want 0 or more", o.ExpectBytes)
	case o.Patience < 0:
		return fmt.Errorf("the patience is %v, want more than 0, or 0 for 10m", o.Patience)
	}
	if err := checkOptions(o.Sbatch); err != nil {
		return err
	}
	for i, w := range o.Work {
		if !(w > 0) || math.IsInf(w, 1) {
			return fmt.Errorf("size %d is %v, want a positive number", i+1, w)
		}
	}
	return nil
}

// run is a run in progress.
type run struct {
	slurm     Slurm
	options   Options
	started   time.Time
	dir       *runDir
	header    string
	arrays    []string            // the job IDs of all that was submitted, the original first
	doubted   time.Time           // when sbatch failed last: the job may be in the queue all the same
	refused   map[string]*attempt // what it failed to submit, by the names of the files
	strays    []string            // arrays that are not wanted any more, to be cancelled
	facts     Facts
	tasks     []*task
	meanWork  float64
	phase     *engine.Phase
	hosts     *engine.Machines
	polled    time.Time // the last poll
	seen      []engine.Attempt
	unsettled error // why a result could not be put into its place at the last poll
	rubbish   int
	reported  bool            // some attempt has shown its progress
	said      map[string]bool // messages, so that none is repeated at each poll
	dry       string
}

// Run submits the script as a job array and returns once each of its tasks has a result or has failed. Whatever ends it,
// nothing that it has submitted goes on, except where Slurm does not answer: then the error says what may still run.
func Run(ctx context.Context, slurm Slurm, options Options) (Result, error) {
	if err := options.Check(); err != nil {
		return Result{}, err
	}
	if options.Interval == 0 {
		options.Interval = 10 * time.Second
	}
	if options.Patience == 0 {
		options.Patience = 10 * time.Minute
	}
	if options.Log == nil {
		options.Log = io.Discard
	}
	r := &run{slurm: slurm, options: options, started: time.Now(), said: map[string]bool{}, refused: map[string]*attempt{}}
	if options.DryRun {
		r.dry = " (not done)"
	}
	err := r.begin(ctx)
	if err == nil {
		err = r.loop(ctx)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx) // and not that a command was interrupted
	}
	err = errors.Join(err, r.end())
	return r.result(), err
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
	jobs, err := r.slurm.Jobs(ctx, r.open())
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
	r.act(ctx, r.tell(attempts))
	if !r.reported && r.phase.Facts().Finished > 0 {
		r.once("progress", "tasks have ended, and none has ever written its progress: there are only run times to judge by")
	}
	if r.works() { // what cannot be moved now does not end what goes on
		return nil
	}
	return r.unsettled
}

// works reports whether an attempt waits or runs.
func (r *run) works() bool {
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			if !a.ended() && (a.job != "" || !r.options.DryRun) {
				return true
			}
		}
	}
	return false
}

// tell tells package engine what was observed, and returns what to do.
func (r *run) tell(attempts []engine.Attempt) []engine.Action {
	actions := r.phase.Poll(r.polled, attempts)
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			a.closed = a.ended()
		}
	}
	return actions
}

// open lists the job IDs of the arrays of which something has not ended.
func (r *run) open() (arrays []string) {
	found := map[string]bool{}
	for _, t := range r.tasks {
		for _, a := range t.attempts {
			array, _, _ := strings.Cut(a.job, "_")
			if a.job != "" && !a.ended() && !found[array] {
				found[array] = true
				arrays = append(arrays, array)
			}
		}
	}
	return arrays
}

// done reports whether there is nothing left to wait for.
func (r *run) done() bool {
	switch {
	case r.unsettled != nil:
		return false
	case !r.options.DryRun:
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
