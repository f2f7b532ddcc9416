package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/straggler-go/straggler/examples/kit"
	"github.com/straggler-go/straggler/examples/slurm/internal/cluster"
	"github.com/straggler-go/straggler/restart/engine/slurm/array"
)

// The tasks of the demonstration are short: a task of ten slices takes 4 s. The times of policies for tasks of
// minutes are scaled to such tasks below.
const (
	fastPace = 400 * time.Millisecond // time of a slice on a good node
	slowPace = 10 * fastPace
	interval = time.Second
	lag      = time.Second
)

// scenario describes what goes wrong, and the policies to compare.
type scenario struct {
	name, title string
	slow        string             // the slow node
	hang        []int              // the tasks whose first attempts hang
	dies        string             // the node that dies after all tasks have run for a while
	slices      func(task int) int // number of slices of data of a task
	policies    []string
}

func even(int) int { return 10 }

// skewed gives a quarter of the tasks five times the data of the other tasks.
func skewed(task int) int {
	if task%4 == 1 {
		return 50
	}
	return 10
}

var scenarios = []scenario{
	{
		name: kit.Slow, title: "One node of four is 10 times slower", slow: "n3", slices: even,
		policies: []string{"none", "naive", "late,min-age=2s", "mantri", "default"},
	},
	{
		name: kit.Hang, title: "Three attempts hang", hang: []int{5, 21, 40}, slices: even,
		policies: []string{"naive", "mantri", "default"},
	},
	{
		name: kit.Skew, title: "No slow node; 16 tasks have 5 times the data", slices: skewed,
		policies: []string{"none", "naive", "mantri", "default"},
	},
	{
		name: kit.Death, title: "A node dies in the middle of its tasks", dies: "n2", slices: even,
		policies: []string{"none", "naive", "mantri", "default"},
	},
}

// outcome is the result of one run.
type outcome struct {
	result  array.Result
	problem error // nil if the counts are right and the queue is empty
}

// comparison describes the columns of the tables.
var comparison = kit.Comparison[outcome]{
	Seconds: func(o outcome) float64 { return o.result.Elapsed.Seconds() },
	Right:   func(o outcome) bool { return o.problem == nil },
	Measures: []kit.Measure[outcome]{
		kit.Count("copies", func(o outcome) int { return o.result.Copies }),
		kit.Count("restarts", func(o outcome) int { return o.result.Restarts }),
		kit.Count("after loss", func(o outcome) int { return o.result.Reruns }),
		kit.Count("cancelled", func(o outcome) int { return o.result.Cancelled }),
	},
}

// compare runs the word count under each policy, and prints a table.
func (s scenario) compare(ctx context.Context, c *cluster.Cluster, dir string, choice kit.Choice) error {
	policies, err := kit.Policies(choice.Policies, s.policies, kit.Policy)
	if err != nil {
		return err
	}
	log := io.Discard
	if choice.Verbose {
		log = os.Stdout
	}
	runs, err := kit.Repeat(choice.Runs, policies, func(policy string, n int) (outcome, error) {
		o, err := s.run(ctx, c, dir, policy, log)
		if err == nil {
			fmt.Printf("%s, %s, run %d: %v\n", s.name, policy, n, o.result)
		}
		if o.problem != nil {
			fmt.Println("  WRONG:", o.problem)
		}
		return o, err
	})
	if err == nil {
		comparison.Print(os.Stdout, s.title, policies, runs)
	}
	return err
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
	if options.Policy, err = kit.Policy(policy); err != nil {
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
	o.problem = check(dir, tasks, right)
	idle, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := c.Idle(idle); err != nil {
		return o, fmt.Errorf("after the run: %w", err)
	}
	left, err := c.Command(ctx, "squeue", "--noheader").Output()
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("after the run, the queue still has %q", left)
	}
	return o, err
}

// runToDeath kills the node in the run, and starts it again afterwards.
func (s scenario) runToDeath(
	ctx context.Context, c *cluster.Cluster, slurm array.Slurm, options array.Options,
) (array.Result, error) {
	var begun time.Time // when all tasks had begun
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
	for _, task := range s.hang {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("hang-%d", task)), nil, 0o644); err != nil {
			return nil, err
		}
	}
	sizes := make([]int, tasks)
	for task := range sizes {
		sizes[task] = s.slices(task)
	}
	return writeText(dir, sizes)
}
