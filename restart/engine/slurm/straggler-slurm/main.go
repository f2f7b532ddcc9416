// Command straggler-slurm runs a batch script as a Slurm job array and waits for its end, as sbatch --wait does.
// Meanwhile it finds slow tasks of the array, and copies or restarts them:
//
//	straggler-slurm run -array 0-63 script.sh
//
// The page examples/slurm/README.md in the repository of this library contains the rules for a script and the
// guarantees of the command.
//
// The exit code of the command is the highest exit code of a task that failed, and 0 if no task failed. There are
// three exceptions: 2 if the command line is wrong, 128 plus the number of the signal if a signal ended the command,
// and at least 1 if the command had to give up.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/straggler-go/straggler/restart/engine/slurm/array"
)

// These exit codes do not come from a task.
const (
	exitTrouble = 1 // an error ended the run
	exitUsage   = 2
	exitSignal  = 128 // the exit code after a signal is this plus the number of the signal
)

func main() {
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup makes a process ignore SIGHUP, and this stays so
			signal.Notify(signals, s)
		}
	}
	go func() { stop(interrupted{(<-signals).(syscall.Signal)}) }()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// interrupted is the error of a run that was ended by a signal.
type interrupted struct{ signal syscall.Signal }

func (i interrupted) Error() string {
	return i.signal.String() + ": all submitted jobs are cancelled"
}

// command parses the command line args, runs the job array, and returns the exit code.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || args[0] != "run" {
		fmt.Fprintln(stderr, "usage: straggler-slurm run [flags] script [arguments]; straggler-slurm run -help lists the flags")
		return exitUsage
	}
	c, err := parse(args[1:], stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "straggler-slurm:", err)
		return exitUsage
	}
	if c.journal != "" { // if the file can't be written, the user sees the error at once, and not at the end
		if err := os.WriteFile(c.journal, nil, 0o666); err != nil {
			fmt.Fprintln(stderr, "straggler-slurm:", err)
			return exitTrouble
		}
	}
	c.Submitted = func(id string) { fmt.Fprintln(stdout, "Submitted batch job", id) } // sbatch prints the same words
	result, err := array.Run(ctx, array.Commands{}, c.Options)
	return c.conclude(result, err, stderr)
}

// conclude writes the journal to its file, prints the result to stderr, and returns the exit code.
func (c *call) conclude(result array.Result, err error, stderr io.Writer) int {
	if c.journal != "" && result.Journal != nil {
		err = errors.Join(err, os.WriteFile(c.journal, result.Journal, 0o666))
	}
	if result.Tasks > 0 {
		fmt.Fprintln(stderr, "straggler-slurm:", result)
	}
	if err == nil {
		return result.Code
	}
	fmt.Fprintln(stderr, "straggler-slurm:", err)
	var by interrupted
	if errors.As(err, &by) {
		return exitSignal + int(by.signal)
	}
	return max(exitTrouble, result.Code)
}

// call contains the options of a valid command line.
type call struct {
	array.Options
	journal string // the path of the file for the journal; "": no journal is written
}

// parse parses the arguments of the command line: the flags, the path of the script, and the arguments of the script.
func parse(args []string, stderr io.Writer) (*call, error) {
	c := &call{}
	flags := flag.NewFlagSet("straggler-slurm run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, "usage: straggler-slurm run [flags] script [arguments]\n\n"+
			"Runs script as a job array, as sbatch --wait does, and mitigates its stragglers.\n\n")
		flags.PrintDefaults()
	}
	tasks := flags.String("array", "", "the array's `tasks`, as for sbatch (default the script's line #SBATCH --array=...)")
	output := flags.String("output", "", "the `pattern` of the output files' names, as for sbatch")
	policy := flags.String("policy", "least-cost", "none, or a `policy` of package restart: least-cost, late,min-age=5s, ...")
	work := flags.String("work", "", "a `file` with the size of each task, one line for a task, in any unit")
	flags.DurationVar(&c.Interval, "interval", 10*time.Second, "the `time` between two polls; scripts should report as often")
	flags.DurationVar(&c.Lag, "lag", 3*time.Second, "the usual `time` from a submission to the start, if there is room")
	flags.IntVar(&c.Slots, "slots", 0, "how many attempts may run at once (default the running ones, plus the idle CPUs)")
	flags.Int64Var(&c.ExpectBytes, "expect-bytes", 0, "how many `bytes` a task prints and writes to $STRAGGLER_OUT")
	flags.StringVar(&c.Results, "results", "", "the `directory` for result files (default the job's directory)")
	flags.StringVar(&c.Dir, "dir", "", "a `directory` on all nodes for the run's own files (default the working directory)")
	flags.StringVar(&c.journal, "journal", "", "a `file` for a journal of the run, which package restarttest replays")
	flags.BoolVar(&c.Shadow, "shadow", false,
		"let the array run as it is; print each decision, and the time that all would have saved")
	flags.BoolVar(&c.NoCopy, "no-copy", false, "never run two attempts of a task at once: only lost tasks run again")
	flags.BoolVar(&c.Keep, "keep", false, "keep the run's own files")
	flags.DurationVar(&c.Patience, "patience", 10*time.Minute, "how `long` squeue may fail before the run ends")
	addOption := func(option string) error { c.Sbatch = append(c.Sbatch, option); return nil }
	flags.Func("sbatch", "one more `option` for sbatch, as in -sbatch --time=10; may be repeated", addOption)
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() == 0 {
		return nil, errors.New("no script is given")
	}
	c.Script, c.Args, c.Log, c.Journal = flags.Arg(0), flags.Args()[1:], stderr, c.journal != ""
	for option, value := range map[string]string{"--array=": *tasks, "--output=": *output} {
		if value != "" {
			c.Sbatch = append(c.Sbatch, option+value)
		}
	}
	var err error
	if c.Policy, err = array.ParsePolicy(*policy); err != nil {
		return nil, err
	}
	if *work != "" {
		if c.Work, err = readWork(*work); err != nil {
			return nil, err
		}
	}
	return c, c.Check()
}

// readWork reads the sizes of the tasks from a file: one positive number in each line.
func readWork(name string) (works []float64, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		w, err := strconv.ParseFloat(strings.TrimSpace(lines.Text()), 64)
		if err != nil || !(w > 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("%s:%d: the size is %.20q, want a positive number", name, len(works)+1, lines.Text())
		}
		works = append(works, w)
	}
	switch err := lines.Err(); {
	case err != nil:
		return nil, fmt.Errorf("%s:%d: %w", name, len(works)+1, err)
	case len(works) == 0:
		return nil, fmt.Errorf("%s has no sizes, want a line for each task", name)
	}
	return works, nil
}
