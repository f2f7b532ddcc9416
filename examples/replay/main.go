// Command replay shows how much time straggler mitigation would have saved. It replays the phases of execution logs, or
// of a generated workload, under several policies and without a policy. It prints a table or JSON, or writes a page.
//
//	go run ./examples/replay [options] [log ...]
//
// A log is a file or a directory in one of the formats that "replay help format" lists; replay recognises the format.
// Without a log, replay generates phases with stragglers as on the cluster that Mantri was built for.
//
// The exit code is 1 after an error, and 2 if the command line is wrong or a log cannot be used.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/trace"
)

// mostPhases is the largest number of phases to generate. A generated phase takes about 26 kB of memory, all of them
// 1.3 GB.
const mostPhases = 50_000

// mostSeeds is the largest value of -seeds.
const mostSeeds = 100

// Without -seeds, the durations of copies are drawn seedsOfFew times for a workload of at most fewTasks tasks, of which the
// replay takes about a second, and otherwise once.
const (
	fewTasks   = 1000
	seedsOfFew = 5
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// errUsage marks an error of the command line or of a log. The program then exits with code 2.
var errUsage = errors.New("usage")

// usage returns an error that is marked with errUsage.
func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

// run executes the command line and returns the exit code of the program.
func run(args []string, stdout, stderr io.Writer) int {
	err := command(stdout, stderr).Run(context.Background(), append([]string{"replay"}, args...))
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(stderr, "replay:", trace.Printable(strings.TrimPrefix(err.Error(), errUsage.Error()+": ")))
		return 2
	}
	fmt.Fprintln(stderr, "replay:", trace.Printable(err.Error()))
	return 1
}

// ofSteps are the options for a table of steps.
var ofSteps = []string{"step", "worker", "seconds", "group", "position", "machine", "size", "html", "json"}

// command returns the description of the command line. Each run needs a new one, because the cli library stores the
// values of the options in it.
func command(stdout, stderr io.Writer) *cli.Command {
	var o options
	return &cli.Command{
		Name:      "replay",
		Usage:     "show the time that stragglers cost, and the time that each policy would have saved",
		ArgsUsage: "[log ...]",
		Description: "replay simulates the tasks of execution logs, or of a generated workload, under " +
			"straggler-mitigation policies.\n" +
			"A log is a file or a directory; \"replay help format\" lists the formats, and shows how to write a log yourself.",
		Writer: stdout, ErrWriter: stderr,
		EnableShellCompletion:           true,
		ConfigureShellCompletionCommand: func(c *cli.Command) { c.Hidden = false },
		HideHelpCommand:                 true,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "policy", Value: "all", Destination: &o.policies,
				Usage: "compare the policies `NAMES`, separated by commas: all, " + strings.Join(compare.Names(), ", ") +
					"; a name may have fields, as in mantri,idle-gain=2"},
			&cli.StringFlag{Name: "html", Destination: &o.html,
				Usage: "write the report as an HTML page to `FILE`; -: to standard output, instead of the table"},
			&cli.StringFlag{Name: "svg", Destination: &o.svg,
				Usage: "draw the phase that the first policy changes most, without a policy and with it, to `FILE`"},
			&cli.BoolFlag{Name: "json", Destination: &o.json, Usage: "print JSON instead of a table"},
			&cli.BoolFlag{Name: "list", Destination: &o.list,
				Usage: "list the phases; the phases for which the first policy saves most time come first"},
			&cli.StringFlag{Name: "explain", Destination: &o.explain,
				Usage: "print every decision about the task `PHASE/TASK`, two numbers that -list prints"},
			&cli.StringFlag{Name: "progress", Value: "recorded", Destination: &o.progress,
				Usage: "`MODEL` of the progress that attempts report: recorded (as in the log; typical if the log has none), " +
					"typical, linear, noisy=SIGMA, late, none"},
			&cli.BoolFlag{Name: "alike", Destination: &o.alike,
				Usage: "assume that the tasks of each phase are alike, also where the log does not promise it"},
			&cli.IntFlag{Name: "sample", Destination: &o.sample,
				Usage: "replay only a `NUMBER` of phases, drawn at random, and print the sampling error"},
			&cli.FloatFlag{Name: "cost", Destination: &o.cost,
				Usage: "print the cost of the slot time, too, at a `PRICE` for one slot and one hour"},
			&cli.StringFlag{Name: "step", Destination: &o.columns.Step,
				Usage: "read a table of the steps of a job with a barrier: `COLUMN` of the step; with -worker and -seconds (A+B adds " +
					"columns), and -group (stage), -position, -machine and -size where the table has them"},
			&cli.StringFlag{Name: "worker", Destination: &o.columns.Worker, Hidden: true},
			&cli.StringFlag{Name: "seconds", Destination: &o.columns.Seconds, Hidden: true},
			&cli.StringFlag{Name: "group", Destination: &o.columns.Group, Hidden: true},
			&cli.StringFlag{Name: "position", Destination: &o.columns.Position, Hidden: true},
			&cli.StringFlag{Name: "machine", Destination: &o.columns.Machine, Hidden: true},
			&cli.StringFlag{Name: "size", Destination: &o.columns.Size, Hidden: true},
			&cli.StringFlag{Name: "against", Destination: &o.against,
				Usage: "compare with another `LOG`, such as last week's run of the same jobs"},
			&cli.FloatFlag{Name: "copies", Destination: &o.copies,
				Usage: "largest `SHARE` of a phase's slots that copies may use at once, up to 1; 0: no bound"},
			&cli.IntFlag{Name: "seeds", Destination: &o.seeds, DefaultText: fmt.Sprintf("%d up to %d tasks, otherwise 1", seedsOfFew, fewTasks),
				Usage: "`NUMBER` of times that the durations of copies that never ran are drawn; figures are means"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Destination: &o.seed,
				Usage: "first seed of these draws, and seed of the generated workload"},
			&cli.IntFlag{Name: "phases", Value: 1000, Destination: &o.phases, Usage: "number of phases to generate, or to list"},
		},
		Commands: []*cli.Command{convertCommand(stdout), helpCommand(stdout)},
		OnUsageError: func(_ context.Context, _ *cli.Command, err error, _ bool) error {
			return usage("%v; -h lists the options", err)
		},
		Action: func(_ context.Context, c *cli.Command) error {
			o.logs, o.generate = c.Args().Slice(), c.NArg() == 0
			o.phasesSet, o.seedsSet = c.IsSet("phases"), c.IsSet("seeds")
			for _, f := range c.Flags {
				if name := f.Names()[0]; f.IsSet() && !slices.Contains(ofSteps, name) {
					o.ofReplay = name
				}
			}
			return o.run(stdout, stderr)
		},
		ExitErrHandler: func(context.Context, *cli.Command, error) {}, // run prints the error and chooses the exit code
	}
}
