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

// helpCommand prints what does not fit a screen of options.
func helpCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name: "help", Usage: "how to use replay; \"help format\" says which logs it reads, and how to write one",
		ArgsUsage: "[format]", HideHelpCommand: true,
		Action: func(_ context.Context, c *cli.Command) error {
			switch topic := c.Args().First(); topic {
			case "":
				return cli.ShowRootCommandHelp(c)
			case "format", "formats":
				_, err := fmt.Fprint(stdout, formats)
				return err
			default:
				return usage("there is no help about %q; there is help about format", topic)
			}
		},
	}
}
