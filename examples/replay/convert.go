package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// convertCommand returns the command convert, which writes a log as attempt lines or as a table.
func convertCommand(stdout io.Writer) *cli.Command {
	var table bool
	return &cli.Command{
		Name: "convert", Usage: "write a log as attempt lines, which \"replay help format\" describes", ArgsUsage: "log",
		HideHelpCommand: true,
		Flags: []cli.Flag{&cli.BoolFlag{Name: "csv", Destination: &table,
			Usage: "write a table instead, with one row for each attempt"}},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.NArg() != 1 {
				return usage("convert takes one log, but the command line has %d; jobs of two logs may have the same name", c.NArg())
			}
			log, err := openOne(c.Args().First())
			if err != nil {
				return usage("%v", err)
			}
			if !hasAttempts(log) {
				return usage("%s: a log of the format %q has no attempts, so there is nothing to convert", c.Args().First(), log.Format)
			}
			write := trace.Write
			if table {
				write = trace.WriteTable
			}
			out := bufio.NewWriter(stdout)
			if err := write(out, log); err != nil {
				return err
			}
			return out.Flush()
		},
	}
}

func hasAttempts(log *trace.Log) bool {
	return slices.ContainsFunc(log.Phases, func(p trace.Phase) bool { return len(p.Attempts) > 0 })
}

func openOne(path string) (*trace.Log, error) {
	if path == standardInput {
		return trace.Read(os.Stdin, "standard input")
	}
	return trace.Open(path)
}
