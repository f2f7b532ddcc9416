// Command temporal counts words in a small Temporal cluster under several straggler-mitigation policies, and prints
// what each of them saved and cost.
//
//	go run . [flags]
//
// It starts a Temporal server in this process and a few worker processes, on the loopback interface, and needs nothing
// but Go. It exits with 1 if something went wrong, an answer too, and with 2 if it was called wrongly.
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

	"github.com/straggler-go/straggler/examples/temporal/internal/cluster"
)

type options struct {
	runs, tasks, hosts  int
	policies, scenarios string
	json, timeline      bool
}

const defaultTasks, defaultHosts = 64, 4

// errUsage marks what the caller can mend.
var errUsage = errors.New("usage")

func main() {
	cluster.RunHost(serve)
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away is an error of a write, after which all is cleared away
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal does not wait
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
	flags.SetOutput(io.Discard) // main prints errors, once
	flags.IntVar(&o.runs, "runs", 1, "runs of each scenario under each policy; the table has their medians")
	flags.IntVar(&o.tasks, "tasks", defaultTasks, "maps of a job; scenario small has always 6")
	flags.IntVar(&o.hosts, "hosts", defaultHosts, "worker processes, which together have a slot for each of so many maps")
	flags.StringVar(&o.policies, "policy", strings.Join(policyNames(), ","), "policies, separated by commas")
	flags.StringVar(&o.scenarios, "scenario", defaultScenarios, "scenarios, separated by commas")
	flags.BoolVar(&o.json, "json", false, "print JSON instead of timelines and a table")
	flags.BoolVar(&o.timeline, "timeline", false, "draw every slot in every run, and print what was decided")
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
	case o.json && o.timeline:
		return o, fmt.Errorf("%w: -json and -timeline are both set, want one of them", errUsage)
	case o.runs < 1 || o.runs > 100:
		return o, fmt.Errorf("%w: -runs is %d, want 1 to 100", errUsage, o.runs)
	case o.hosts < 2 || o.hosts > 16:
		return o, fmt.Errorf("%w: -hosts is %d, want 2 to 16", errUsage, o.hosts)
	case o.tasks < o.hosts || o.tasks > 256:
		return o, fmt.Errorf("%w: -tasks is %d, want %d, the hosts, to 256", errUsage, o.tasks, o.hosts)
	}
	return o, nil
}

func usage(flags *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w, `Counts words in a small Temporal cluster under several straggler-mitigation
policies, and prints what each of them saved and cost. Takes some three minutes.

go run . [flags]
`)
	flags.SetOutput(w)
	flags.PrintDefaults()
	fmt.Fprintln(w, "\nscenarios:")
	for _, s := range scenarios(defaultTasks, defaultHosts) {
		fmt.Fprintf(w, "  %-10s %s\n", s.name, s.about)
	}
	fmt.Fprintln(w, "\npolicies:")
	for _, p := range policies() {
		fmt.Fprintf(w, "  %-10s %s\n", p.name, p.about)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	chosen, err := chooseScenarios(o.scenarios, o.tasks, o.hosts)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	policies, err := choosePolicies(o.policies)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	dir, err := os.MkdirTemp("", "straggler-temporal-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	out := bufio.NewWriter(stdout)
	if !o.json {
		fmt.Fprintln(out, legend)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	progress := newProgress(stderr, len(chosen)*len(policies)*o.runs)
	defer progress.clear()
	var outcomes []*outcome
	for _, s := range chosen {
		done, err := o.runScenario(ctx, filepath.Join(dir, s.name), s, policies, out, progress)
		if err != nil {
			return err
		}
		outcomes = append(outcomes, done...)
	}
	return errors.Join(o.report(out, outcomes, chosen, policies), out.Flush())
}

// runScenario runs one scenario under each policy in turn, and again: what slows this machine meets all policies alike.
func (o options) runScenario(
	ctx context.Context, dir string, s scenario, policies []policy, out *bufio.Writer, p *progress,
) (outcomes []*outcome, err error) {
	p.begin(s.name + ": " + s.about)
	st, err := newStage(dir, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.cluster.Close()) }()
	for n := range o.runs {
		for _, policy := range policies {
			p.begin(fmt.Sprintf("%s, %s, run %d of %d", s.name, policy.name, n+1, o.runs))
			one, err := st.run(ctx, policy.name, n+1)
			if err != nil {
				return nil, err
			}
			p.end(one.Seconds)
			outcomes = append(outcomes, one)
			switch {
			case o.json:
			case o.timeline:
				one.timeline(out, s.slots)
				one.decisions(out)
			case n == 0:
				one.timeline(out, 3)
			}
			if err := out.Flush(); err != nil {
				return nil, err
			}
		}
	}
	return outcomes, nil
}

func (o options) report(w io.Writer, outcomes []*outcome, chosen []scenario, policies []policy) error {
	sums := summarize(outcomes)
	show := func() error { return printReport(w, sums, o.runs, chosen, policies) }
	if o.json {
		show = func() error { return printJSON(w, sums) }
	}
	if err := show(); err != nil {
		return err
	}
	for _, one := range outcomes {
		if len(one.Wrong) > 0 {
			return fmt.Errorf("%s, %s: wrong answer: %s", one.Scenario, one.Policy, strings.Join(one.Wrong, "; "))
		}
	}
	return nil
}
