// Command shard splits a suite of Go tests over machines by measured time.
//
//	shard record [options] [log ...]       take the times of a run into the history
//	shard plan [options] [package ...]     say which machine runs what, and when it will be through
//	shard run [options] [package ...]      run a suite, or one machine's shard of it, here
//	shard compare [options] [package ...]  hold plans against what else people do
//
// A log is what go test -json or gotestsum prints, or a report in JUnit's XML; a history is read as well, and
// merged. The history is one file of text, by default .shard. "shard COMMAND -h" lists the options of a command.
//
// It exits with 1 if a test failed or something went wrong, and with 2 if it was called wrongly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := command(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errUsage marks what the caller can mend, errFailed that a test failed, which has been said.
var (
	errUsage  = errors.New("usage")
	errFailed = errors.New("failed")
)

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

const help = `usage: shard record [options] [log ...]
       shard plan [options] [package ...]
       shard run [options] [package ...]
       shard compare [options] [package ...]
shard COMMAND -h lists the options of a command.
`

func command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	commands := map[string]func(context.Context, []string, streams) error{
		"record": record, "plan": planned, "run": execute, "compare": compare,
	}
	if len(args) == 0 || commands[args[0]] == nil {
		fmt.Fprint(stderr, help)
		return 2
	}
	err := commands[args[0]](ctx, args[1:], streams{stdin, stdout, stderr})
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		fmt.Fprintln(stderr, "shard:", strings.TrimPrefix(err.Error(), errUsage.Error()+": "))
		return 2
	case !errors.Is(err, errFailed):
		fmt.Fprintln(stderr, "shard:", err)
	}
	return 1
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// flags makes the options of a command, with the history that all have.
func (s streams) flags(command, what string) (f *flag.FlagSet, history *string) {
	f = flag.NewFlagSet("shard "+command, flag.ContinueOnError)
	f.SetOutput(s.err)
	f.Usage = func() {
		fmt.Fprintf(s.err, "usage: shard %s [options] %s\n", command, what)
		f.PrintDefaults()
	}
	return f, f.String("history", ".shard", "the `file` that holds what former runs took")
}

func parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil && !errors.Is(err, flag.ErrHelp) {
		return fmt.Errorf("%w: %v", errUsage, err)
	} else {
		return err
	}
}
