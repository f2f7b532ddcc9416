// Command shard splits a suite of Go tests over machines by measured time.
//
//	shard record [options] [log ...]       add the times of a run to the history
//	shard plan [options] [package ...]     print which machine runs which tests, and when each machine ends
//	shard run [options] [package ...]      run a suite of tests, or the shard of one machine, on this machine
//	shard compare [options] [package ...]  compare the plan with the plans of simpler rules
//	shard work [options] [package ...]     draw tests from a queue that machines share, and run them, until none is left
//	shard serve [options]                  keep queues and histories for machines that share no directory
//	shard status [options]                 show the state of a queue; the exit code is 1 until all tests have passed
//	shard simulate [options] history ...   play plans and the queue in virtual time
//
// A log is the output of go test -json or gotestsum, a report in JUnit's XML, or another history, which is merged. The
// history is a text file, by default .shard. "shard COMMAND -h" lists the options of a command.
//
// The exit code is 1 if a test failed or after another error, and 2 if the command line is wrong.
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
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errUsage marks an error of the command line. errFailed means that a test failed; its output is already printed.
var (
	errUsage  = errors.New("usage")
	errFailed = errors.New("failed")
)

// usage returns an error that is marked with errUsage.
func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

// help is printed if the command line has no known command.
const help = `usage: shard record [options] [log ...]
       shard plan [options] [package ...]
       shard run [options] [package ...]
       shard compare [options] [package ...]
       shard work [options] [package ...]
       shard serve [options]
       shard status [options]
       shard simulate [options] history ...
shard COMMAND -h lists the options of a command.
`

// command runs a command and returns the exit code of the program.
func command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	commands := map[string]func(context.Context, []string, streams) error{
		"record": record, "plan": planned, "run": execute, "compare": compare,
		"work": work, "serve": serve, "status": status, "simulate": simulate,
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

// streams are the standard input, output and error of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// flags returns the options of a command.
func (s streams) flags(command, what string) *flag.FlagSet {
	f := flag.NewFlagSet("shard "+command, flag.ContinueOnError)
	f.SetOutput(s.err)
	f.Usage = func() {
		fmt.Fprintf(s.err, "usage: shard %s [options] %s\n", command, what)
		f.PrintDefaults()
	}
	return f
}

// historyOf adds the option -history.
func historyOf(f *flag.FlagSet) *string {
	return f.String("history", ".shard",
		"the `file` with the times of earlier runs, or http://HOST:7077/NAME.shard of shard serve")
}

// parse reads the options of a command. A wrong option is a usage error.
func parse(f *flag.FlagSet, args []string) error {
	if err := f.Parse(args); err != nil && !errors.Is(err, flag.ErrHelp) {
		return fmt.Errorf("%w: %v", errUsage, err)
	} else {
		return err
	}
}
