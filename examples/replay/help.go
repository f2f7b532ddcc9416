package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"
)

//go:embed format.txt
var formats string

// helpCommand returns the command help, which prints the options or the formats of logs.
func helpCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name: "help", Usage: "print the options; \"help format\" lists the logs that replay reads, and shows how to write a log",
		ArgsUsage: "[format]", HideHelpCommand: true,
		Action: func(_ context.Context, c *cli.Command) error {
			switch topic := c.Args().First(); topic {
			case "":
				return cli.ShowRootCommandHelp(c)
			case "format", "formats":
				_, err := fmt.Fprint(stdout, formats)
				return err
			default:
				return usage("there is no help about %q; want help format", topic)
			}
		},
	}
}
