package main

import (
	"bufio"
	"context"
	"io"
	"os"

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

func openOne(path string) (*trace.Log, error) {
	if path == standardInput {
		return trace.Read(os.Stdin, "standard input")
	}
	return trace.Open(path)
}
