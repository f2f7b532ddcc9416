// Command replay shows what straggler mitigation would have saved. It replays the phases of execution logs, or of a
// generated workload, under several policies and without any, and prints a table, JSON or a page.
//
//	go run ./examples/replay [options] [log ...]
//
// A log is a file or a directory in any of the formats that "replay help format" lists; its format is recognised. Without
// a log it generates phases whose stragglers are like those of the cluster that Mantri was built for.
//
// It exits with 1 if something went wrong, and with 2 if it was called wrongly or a log can't be used.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/trace"
)

// mostPhases are as many as fit into the memory of a small machine: a generated phase takes about 26 kB.
const mostPhases = 50_000

const mostSeeds = 100

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// errUsage marks what the caller can mend; the program exits with 2.
var errUsage = errors.New("usage")

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

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

// command describes the command line. It is made anew for each run: the library keeps the values in it.
func command(stdout, stderr io.Writer) *cli.Command {
	var o options
	return &cli.Command{
		Name:      "replay",
		Usage:     "what do stragglers cost, and what would each policy have saved?",
		ArgsUsage: "[log ...]",
		Description: "Replays execution logs, or without one a generated workload, under straggler-mitigation policies.\n" +
			"Logs are files or directories; \"replay help format\" lists the formats, and how to write one's own.",
		Writer: stdout, ErrWriter: stderr,
		EnableShellCompletion:           true,
		ConfigureShellCompletionCommand: func(c *cli.Command) { c.Hidden = false },
		HideHelpCommand:                 true,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "policy", Value: "all", Destination: &o.policies, Usage: "`NAMES` to compare, separated by commas: all, " + strings.Join(compare.Names(), ", ") +
				"; with fields, as in mantri,idle-gain=2"},
			&cli.StringFlag{Name: "html", Destination: &o.html, Usage: "write a page to send round to `FILE`; -: to standard output, instead of the table"},
			&cli.StringFlag{Name: "svg", Destination: &o.svg, Usage: "draw the phase in which stragglers cost most, without a policy and with the first one, to `FILE`"},
			&cli.BoolFlag{Name: "json", Destination: &o.json, Usage: "print JSON instead of a table"},
			&cli.BoolFlag{Name: "list", Destination: &o.list, Usage: "list the phases, those in which stragglers cost most first"},
			&cli.StringFlag{Name: "explain", Destination: &o.explain, Usage: "print the decisions about one task, `PHASE/TASK` by their numbers in -list"},
			&cli.StringFlag{Name: "progress", Value: "recorded", Destination: &o.progress, Usage: "what copies report of their progress, `MODEL`: recorded (where the log tells, else typical), typical, linear, noisy=SIGMA, late, none"},
			&cli.BoolFlag{Name: "alike", Destination: &o.alike, Usage: "take the tasks of a phase for alike, though the log does not promise it"},
			&cli.IntFlag{Name: "sample", Destination: &o.sample, Usage: "replay only a `NUMBER` of the phases, drawn at random, and say how far off that may be"},
			&cli.FloatFlag{Name: "cost", Destination: &o.cost, Usage: "say the bill, too, at `PRICE` for a slot and an hour"},
			&cli.StringFlag{Name: "against", Destination: &o.against, Usage: "compare with another run, a `LOG`: last week's, say"},
			&cli.FloatFlag{Name: "copies", Destination: &o.copies, Usage: "`SHARE` of a phase's slots that copies may hold at once, up to 1; 0: any"},
			&cli.IntFlag{Name: "seeds", Value: 1, Destination: &o.seeds, Usage: "`NUMBER` of draws of the times of copies that never ran"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Destination: &o.seed, Usage: "first seed of these, and of the generated workload"},
			&cli.IntFlag{Name: "phases", Value: 1000, Destination: &o.phases, Usage: "how many phases to generate, or to list"},
		},
		Commands: []*cli.Command{convertCommand(stdout), helpCommand(stdout)},
		OnUsageError: func(_ context.Context, _ *cli.Command, err error, _ bool) error {
			return usage("%v; -h lists the options", err)
		},
		Action: func(_ context.Context, c *cli.Command) error {
			o.logs, o.phasesSet, o.generate = c.Args().Slice(), c.IsSet("phases"), c.NArg() == 0
			return o.run(stdout, stderr)
		},
		ExitErrHandler: func(context.Context, *cli.Command, error) {}, // run decides
	}
}
