package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/straggler-go/straggler/examples/slurm/internal/cluster"
	"github.com/straggler-go/straggler/restart/engine/slurm/array"
)

// The demonstration's scale: a task of ten slices takes 4 s. Policies whose times are meant for tasks of minutes are
// scaled to it where they are named below.
const (
	fastPace = 400 * time.Millisecond // of a slice
	slowPace = 10 * fastPace
	interval = time.Second
	lag      = time.Second
)

// scenario is a cluster and a job, and the policies to compare.
type scenario struct {
	name, title string
	slow        string             // the slow node
	dies        string             // the node that dies once all tasks have run for a while
	slices      func(task int) int // how much data a task has
	policies    []string
}

func even(int) int { return 10 }

// A quarter of the tasks has five times the data of the others.
func skewed(task int) int {
	if task%4 == 1 {
		return 50
	}
	return 10
}

var scenarios = []scenario{
	{
		name: "slow", title: "One node of four is 10 times slower", slow: "n3", slices: even,
		policies: []string{"none", "naive", "late,min-age=2s", "mantri", "guarded"},
	},
	{
		name: "skew", title: "No slow node; 16 tasks have 5 times the data", slices: skewed,
		policies: []string{"none", "naive", "mantri", "guarded"},
	},
	{
		name: "death", title: "A node dies in the middle of its tasks", dies: "n2", slices: even,
		policies: []string{"none", "naive", "mantri", "guarded"},
	},
}

// outcome is one run.
type outcome struct {
	result  array.Result
	problem error // nil if the counts are right and the queue is empty
}

// run runs the word count once on the cluster under a policy.
func (s scenario) run(ctx context.Context, c *cluster.Cluster, dir, policy string, log io.Writer) (o outcome, err error) {
	right, err := s.prepare(c, dir)
	if err != nil {
		return o, err
	}
	options := array.Options{
		Script: filepath.Join(dir, "wordcount.sh"), Args: []string{dir}, Interval: interval, Lag: lag,
		Sbatch: []string{fmt.Sprintf("--array=0-%d", tasks-1), "--chdir=" + dir}, Dir: dir, Log: log,
	}
	if options.Policy, err = array.ParsePolicy(policy); err != nil {
		return o, err
	}
	for task := range tasks {
		options.Work = append(options.Work, float64(s.slices(task)))
	}
	commands := array.Commands{Env: c.Command(ctx, "sbatch").Env}
	if s.dies == "" {
		o.result, err = array.Run(ctx, commands, options)
	} else {
		o.result, err = s.runToDeath(ctx, c, commands, options)
	}
	if err != nil {
		return o, err
	}
	o.problem = check(dir, right)
	idle, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := c.Idle(idle); err != nil {
		return o, fmt.Errorf("after the run: %w", err)
	}
	left, err := c.Command(ctx, "squeue", "--noheader").Output()
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("after the run the queue holds %q", left)
	}
	return o, err
}

// runToDeath kills the node in the run, and starts it again afterwards.
func (s scenario) runToDeath(
	ctx context.Context, c *cluster.Cluster, slurm array.Slurm, options array.Options,
) (array.Result, error) {
	var begun time.Time // all tasks
	death := c.KillNodeWhen(ctx, s.dies, func() bool {
		outputs, _ := filepath.Glob(filepath.Join(options.Dir, "wordcount-*.out"))
		if len(outputs) == tasks && begun.IsZero() {
			begun = time.Now()
		}
		return !begun.IsZero() && time.Since(begun) > 5*fastPace
	})
	result, err := array.Run(ctx, slurm, options)
	return result, errors.Join(err, <-death, c.StartNode(s.dies))
}

// prepare writes the script, the text and the pace of each node to a directory that it empties.
func (s scenario) prepare(c *cluster.Cluster, dir string) (words, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "wordcount.sh"), script, 0o755); err != nil {
		return nil, err
	}
	for _, node := range c.Nodes() {
		pace := fastPace
		if node == s.slow {
			pace = slowPace
		}
		text := fmt.Sprintf("%.3f\n", pace.Seconds())
		if err := os.WriteFile(filepath.Join(dir, "pace-"+node), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	sizes := make([]int, tasks)
	for task := range sizes {
		sizes[task] = s.slices(task)
	}
	return writeText(dir, sizes)
}

// pick returns the scenarios of these names; all if there is none.
func pick(names []string) ([]scenario, error) {
	picked := slices.Clone(scenarios)
	if len(names) > 0 {
		picked = slices.DeleteFunc(picked, func(s scenario) bool { return !slices.Contains(names, s.name) })
	}
	if len(picked) < len(names) {
		return nil, fmt.Errorf("no such scenario among %q: want slow, skew, death", names)
	}
	return picked, nil
}
