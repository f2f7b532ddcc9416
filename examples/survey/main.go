// Command survey compares the policies on the generated workload and on logs, under several models of the progress that
// attempts report. It writes a table in Markdown for each policy, with a row for each log.
//
//	go run ./examples/survey [flags] [log ...]
//	go run ./examples/survey -calibration [flags] [log ...]
//	go run ./examples/survey -worlds [-seeds 30] [-cells expression] [-policies ...] [-set proof] [-noise 2]
//	go run ./examples/survey -worlds -csv new.csv && go run ./examples/survey -compare old.csv new.csv
//	go run ./examples/survey -without all [-worlds] [flags] [log ...]
//	go run ./examples/survey -worlds -table worlds.csv -svg worlds.svg
//	go run ./examples/survey -worlds -svg worlds.svg -from docs/worlds.csv
//
// Each line above is one survey:
//
//   - Without a further flag, survey replays the logs and prints the change of time and of slot time under each policy.
//   - With -calibration, survey compares the predicted remaining times and the predicted gains of copies with the truth.
//   - With -worlds, survey simulates small worlds under the default and other policies, and counts the worlds in which a
//     policy does harm; see docs/worlds.md. With -svg, survey also draws the worlds; with -from, it draws a table
//     of -table in place of playing the worlds.
//   - With -compare, survey compares two files that -worlds -csv has written, for example of two commits. It counts both,
//     and names each cell in which the default has become slower by over a point.
//   - With -without, survey compares the default with the default without one of its rules, in worlds or on logs.
//
// A log is a file or a directory. All logs of a directory are one row of the tables.
//
// A phase knows how progress runs in the earlier phases of its kind. It is the same in a
// host that has run for a while.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
	"github.com/straggler-go/straggler/examples/internal/workload"
)

// options are the values of the command line.
type options struct {
	models, policies string
	phases, seeds    int
	worlds           bool
	small            small
	calibrates       bool
	compares         bool
	leaves           string // the rules of -without
	logs             []string
	svg, from        string
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "survey:", err)
		os.Exit(1)
	}
}

// The policies that are compared if the flag -policies does not choose.
const onLogs = "least-cost,mantri,largest-first,late,hadoop,mapreduce,dryad,spark,flink,naive"
const inWorlds = "mantri,late,hadoop,mapreduce,dryad,spark,flink,naive"

func run(args []string, w io.Writer) error {
	var o options
	flags := flag.NewFlagSet("survey", flag.ContinueOnError)
	flags.StringVar(&o.models, "progress", "linear,noisy=0.1,noisy=0.3,typical,late,recorded,none",
		"compare under these models of the progress that attempts report, separated by commas")
	flags.StringVar(&o.policies, "policies", "", "compare these policies, separated by commas; empty: "+onLogs+
		". With -worlds they stand beside the default, and empty is "+inWorlds+"; also: default, to place the default in the "+
		"list; by-hand, a host of 80 lines that keeps the facts itself; with a record, the default in a host that keeps a "+
		"record of its machines")
	flags.IntVar(&o.phases, "phases", 60, "number of phases in the generated workload; 0: no generated workload")
	flags.IntVar(&o.seeds, "seeds", 3, "number of seeds; each figure is the mean over the seeds")
	flags.BoolVar(&o.worlds, "worlds", false,
		"instead of replaying logs, simulate small worlds and count where a policy does harm")
	flags.StringVar(&o.small.cells, "cells", "", "with -worlds, simulate only the cells with names that match this regular "+
		"expression: the world, a space, the model of progress; empty: all")
	flags.StringVar(&o.small.set, "set", "work",
		"with -worlds, the set of seeds: work, for development, or proof, for judging")
	flags.StringVar(&o.small.list, "list", "first", "with -worlds, the lists of worlds, separated by commas:\n"+aboutLists())
	flags.StringVar(&o.small.csv, "csv", "",
		"with -worlds, also write the figures to this `file`, one line for each cell and policy")
	flags.StringVar(&o.small.table, "table", "", "with -worlds, also write the table of cells to this `file`, as CSV")
	flags.BoolVar(&o.compares, "compare", false, "instead of replaying logs, compare the default in two files of -worlds -csv: "+
		"the earlier and the later")
	flags.Float64Var(&o.small.noise, "noise", 1, "with -worlds, multiply the noise of the model noisy by this factor: 1 is a "+
		"standard deviation of .15 between attempts and of .05 between the reports of an attempt")
	flags.StringVar(&o.leaves, "without", "", "survey the default without these `rules`, and compare it with the whole default: a "+
		"row for each rule. Rules joined by + are left out together; all: each rule alone. It compiles the library, so it runs "+
		"in a checkout of it")
	flags.BoolVar(&o.calibrates, "calibration", false,
		"instead of comparing policies, compare predictions with the truth, under the policies "+
			"that predict remaining times")
	flags.StringVar(&o.svg, "svg", "", "with -worlds, draw the table to this `file`")
	flags.StringVar(&o.from, "from", "", "with -svg, draw the table of this `file`, which -table wrote, and play no worlds")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.compares {
		if flags.NArg() != 2 {
			return fmt.Errorf("-compare reads two files, but the command line has %d", flags.NArg())
		}
		return compareFiles(w, flags.Arg(0), flags.Arg(1))
	}
	if (o.small.csv != "" || o.small.table != "") && !o.worlds {
		return errors.New("-csv and -table need -worlds")
	}
	if o.svg != "" && !o.worlds || o.from != "" && o.svg == "" {
		return errors.New("-svg needs -worlds, and -from needs -svg")
	}
	if o.seeds < 1 {
		return fmt.Errorf("-seeds is %d, want at least 1", o.seeds)
	}
	if o.worlds && o.calibrates {
		return errors.New("-worlds and -calibration are two surveys: choose one of them")
	}
	if o.worlds && flags.NArg() > 0 {
		return fmt.Errorf("-worlds reads no log, but the command line has %q", flags.Arg(0))
	}
	if o.leaves != "" {
		if o.calibrates || o.svg != "" {
			return errors.New("-without surveys worlds or logs: leave out -calibration and -svg")
		}
		o.logs = flags.Args()
		return o.without(w)
	}
	if o.worlds {
		o.small.seeds, o.small.policies = o.seeds, cmp.Or(o.policies, inWorlds)
		return o.picture(w)
	}
	o.logs = flags.Args()
	entries, err := compare.Choose(cmp.Or(o.policies, onLogs))
	if err != nil {
		return err
	}
	all := &comparison{options: o}
	table, end := all.replay, all.write
	if o.calibrates {
		c := &calibration{options: o}
		table, end = c.rows, c.end
		if entries, err = reading(entries); err != nil {
			return err
		}
	}
	if o.phases > 0 {
		err := table(w, "generated", entries, func(seed uint64) []*sim.Phase { return workload.Generate(o.phases, seed) })
		if err != nil {
			return err
		}
	}
	for _, path := range o.logs {
		phases, err := load(path)
		if err != nil {
			return err
		}
		if err := table(w, filepath.Base(path), entries, func(uint64) []*sim.Phase { return phases }); err != nil {
			return err
		}
	}
	end(w)
	return nil
}

// modelsFor returns the models of progress that differ on the phases. The model recorded equals the model typical if no
// attempt has recorded progress, and is then left out.
func (o options) modelsFor(phases []*sim.Phase) []string {
	models := strings.Split(o.models, ",")
	for _, p := range phases {
		for _, t := range p.Tasks {
			for _, a := range t.Attempts {
				if a.Splits != nil {
					return models
				}
			}
		}
	}
	if slices.Contains(models, sim.Typical.String()) {
		models = slices.DeleteFunc(models, func(m string) bool { return m == sim.Recorded.String() })
	}
	return models
}
