// Command replay shows what straggler mitigation would have saved. It replays the phases of execution logs, or of a
// generated workload, under several policies and without any, and prints a table.
//
//	go run ./examples/replay [flags] [log ...]
//
// A log is a Spark event log (a file or a rolling directory), a Hadoop Rumen trace, or lines of attempts, plain or
// compressed by gzip or zstd, or a directory of such logs. Without a log it generates phases whose stragglers are like
// those of the cluster that Mantri was built for.
//
// It exits with 1 if something went wrong, and with 2 if it was called wrongly or a log can't be used.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"straggler-examples/internal/workload"
)

// options are the flags.
type options struct {
	policies string
	seed     uint64
	json     bool
	explain  string
	phases   int
	list     bool
	logs     []string
}

// mostPhases are as many as fit into the memory of a small machine: a generated phase takes about 26 kB.
const mostPhases = 50_000

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// errUsage marks what the caller can mend; the program exits with 2.
var errUsage = errors.New("usage")

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		err = o.run(stdout, stderr)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(stderr, "replay:", strings.TrimPrefix(err.Error(), errUsage.Error()+": "))
		return 2
	}
	fmt.Fprintln(stderr, "replay:", err)
	return 1
}

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error is one line, without the usage
	help := func() {
		flags.SetOutput(stderr)
		fmt.Fprintln(stderr, "usage: replay [flags] [log ...]\n\nReplays execution logs, or a generated workload, under straggler-mitigation policies.")
		flags.PrintDefaults()
	}
	flags.StringVar(&o.policies, "policy", "all", "policies to compare, separated by commas: all, "+strings.Join(names(), ", "))
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the generated workload and of the times of copies that never ran")
	flags.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	flags.StringVar(&o.explain, "explain", "", "print the decisions about one `task`, named PHASE/TASK by their numbers in -list, under the first policy")
	flags.IntVar(&o.phases, "phases", 1000, "how many phases to generate if no log is given")
	flags.BoolVar(&o.list, "list", false, "list the phases with their numbers and what mantri would save in each, most first")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			help()
			return o, err
		}
		return o, usage("%v; -h lists the flags", err)
	}
	o.logs = flags.Args()
	for _, path := range o.logs {
		if strings.HasPrefix(path, "-") {
			return o, usage("%s comes after a log; flags go first", path)
		}
	}
	if o.phases < 1 || o.phases > mostPhases {
		return o, usage("-phases is %d, want 1 to %d", o.phases, mostPhases)
	}
	modes := 0
	for _, set := range []bool{o.json, o.list, o.explain != ""} {
		if set {
			modes++
		}
	}
	if modes > 1 {
		return o, usage("-json, -list and -explain exclude one another")
	}
	return o, nil
}

func (o options) run(stdout, stderr io.Writer) error {
	chosen, err := choose(o.policies)
	if err != nil {
		return usage("%v", err)
	}
	phases, notes, err := o.load()
	if err != nil {
		return err
	}
	switch {
	case o.explain != "":
		return explain(stdout, phases, o.explain, chosen[0], o.seed)
	case o.list:
		return list(stdout, phases, o.seed)
	}
	progress := newProgress(stderr, len(phases)*(len(chosen)+1))
	c, err := compare(phases, chosen, o.capacity(), o.seed, progress.step)
	progress.done()
	if err != nil {
		return err
	}
	c.Input = o.input()
	c.Assumptions = assumptions(len(o.logs) > 0)
	c.Notes = notes
	if o.json {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(c)
	}
	return print(stdout, c, phases)
}

// capacity is that of the cluster that generated phases share; 0 if it is to be found from the log.
func (o options) capacity() int {
	if len(o.logs) == 0 {
		return workload.Capacity
	}
	return 0
}

func (o options) input() string {
	if len(o.logs) == 0 {
		return fmt.Sprintf("generated workload, seed %d", o.seed)
	}
	return strings.Join(o.logs, ", ")
}
