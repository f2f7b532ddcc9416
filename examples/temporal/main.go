// Command temporal counts words in a small Temporal cluster under several straggler-mitigation policies, and prints
// the time and the wasted slot time under each policy.
//
//	go run . [flags]
//
// It starts a Temporal server in this process and a few worker processes, on the loopback interface, and needs nothing
// but Go. The exit code is 1 after an error or a wrong answer, and 2 if the command line is wrong.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/straggler-go/straggler/examples/kit"
	"github.com/straggler-go/straggler/examples/temporal/internal/cluster"
)

type options struct {
	kit.Choice
	tasks, machines int
}

const defaultTasks, defaultMachines = 64, 4

// errUsage marks an error of the command line.
var errUsage = errors.New("usage")

func main() {
	cluster.RunHost(serve)
	signal.Ignore(syscall.SIGPIPE) // if the reader of the output ends, a write returns an error, and the program cleans up
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "temporal:", err)
	if errors.Is(err, errUsage) {
		fmt.Fprintln(os.Stderr, "-h lists flags, scenarios and policies")
		os.Exit(2)
	}
	os.Exit(1)
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("temporal", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main prints the error
	o.Flags(flags)
	flags.IntVar(&o.tasks, "tasks", defaultTasks, "`number` of maps of a job; the scenario small always has 6")
	flags.IntVar(&o.machines, "machines", defaultMachines,
		"`number` of worker processes; together they have a slot for each map")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(flags, stderr)
			return o, err
		}
		return o, fmt.Errorf("%w: %w", errUsage, err)
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%w: unknown argument %q", errUsage, flags.Arg(0))
	case o.machines < 2 || o.machines > 16:
		return o, fmt.Errorf("%w: -machines is %d, want 2 to 16", errUsage, o.machines)
	case o.tasks < o.machines || o.tasks > 256:
		return o, fmt.Errorf("%w: -tasks is %d, want %d (the number of machines) to 256", errUsage, o.tasks, o.machines)
	}
	return o, nil
}

func usage(flags *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w, `Counts words in a small Temporal cluster under several straggler-mitigation
policies, and prints the time and the wasted slot time under each policy. This
takes about four minutes.

go run . [flags]
`)
	flags.SetOutput(w)
	flags.PrintDefaults()
	fmt.Fprintln(w, "\nscenarios and their policies:")
	for _, s := range scenarios(defaultTasks, defaultMachines) {
		fmt.Fprintf(w, "  %-8s %s: %s\n", s.name, s.title, strings.Join(s.policies, " "))
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	chosen, err := o.chosen()
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	dir, err := os.MkdirTemp("", "straggler-temporal-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	if _, err := fmt.Fprintln(stdout, legend); err != nil {
		return err
	}
	total := 0
	for _, s := range chosen {
		total += len(s.policies) * o.Runs
	}
	progress := newProgress(stderr, total)
	defer progress.clear()
	for _, s := range chosen {
		if err := o.compare(ctx, filepath.Join(dir, s.name), s, stdout, progress); err != nil {
			return fmt.Errorf("%s, %w", s.name, err)
		}
	}
	_, err = io.WriteString(stdout, heads)
	return err
}

// chosen returns the scenarios to run, each with its policies.
func (o options) chosen() ([]scenario, error) {
	chosen, err := kit.Pick(o.Scenarios, scenarios(o.tasks, o.machines), func(s scenario) string { return s.name })
	for i := range chosen {
		if chosen[i].policies, err = kit.Policies(o.Policies, chosen[i].policies, optionsOf); err != nil {
			return nil, err
		}
	}
	return chosen, err
}

// compare runs one scenario under each of its policies, and prints a table.
func (o options) compare(ctx context.Context, dir string, s scenario, stdout io.Writer, p *progress) (err error) {
	p.begin(s.name + ": " + s.title)
	st, err := newStage(dir, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.cluster.Close()) }()
	out := bufio.NewWriter(stdout)
	var wrong error
	runs, err := kit.Repeat(o.Runs, s.policies, func(policy string, n int) (*outcome, error) {
		p.begin(fmt.Sprintf("%s, %s, run %d of %d", s.name, policy, n, o.Runs))
		one, err := st.run(ctx, policy, n)
		if err != nil {
			return nil, err
		}
		p.end(one.Seconds)
		if len(one.Wrong) > 0 {
			wrong = errors.Join(wrong, fmt.Errorf("%s, run %d: wrong answer: %s", policy, n, strings.Join(one.Wrong, "; ")))
		}
		switch {
		case o.Verbose:
			one.timeline(out, s.slots)
			one.decisions(out)
		case n == 1:
			one.timeline(out, 3)
		}
		return one, out.Flush()
	})
	if err != nil {
		return err
	}
	comparison.Print(out, s.title, s.policies, runs)
	return errors.Join(out.Flush(), wrong)
}
