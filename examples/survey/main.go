// Command survey compares the policies under every model of what copies report of their progress: on the generated workload,
// and on each log that it is given. It writes a table in Markdown for each policy, with a row for each log.
//
//	go run ./examples/survey [flags] [log ...]
//	go run ./examples/survey -calibration [flags] [log ...]
//	go run ./examples/survey -worlds [-seeds 30] [-cells expression] [-policies ...] [-set proof] [-noise 2]
//	go run ./examples/survey -queue [-seeds 30] [-cells expression] [-policies ...]
//
// The second holds what is said of the remaining time, and of what new copies are worth, against the truth. The third
// plays small worlds under the default and the other policies, and counts where it does harm: docs/worlds.md. The fourth
// plays a batch on a small job queue under the engine and under a naive rule. It prints by player the time and the slot
// time as shares of those of the plain queue, and the share of the slot time that is wasted; then each player's time as a
// share of naive's, of the sums and of the median seed, and in which share of the seeds the player is faster than naive.
//
// A log is a file, or a directory whose logs make one table.
//
// What a phase shows of how progress runs is known to the next ones of its kind, as to a host that has run for a while.
package main

import (
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

type options struct {
	models, policies string
	phases, seeds    int
	worlds, queue    bool
	small            small
	calibrates       bool
	logs             []string
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "survey:", err)
		os.Exit(1)
	}
}

func run(args []string, w io.Writer) error {
	var o options
	flags := flag.NewFlagSet("survey", flag.ContinueOnError)
	flags.StringVar(&o.models, "progress", "linear,noisy=0.1,noisy=0.3,typical,late,recorded,none", "models of progress")
	flags.StringVar(&o.policies, "policy", "least-cost,mantri,largest-first,late,hadoop,mapreduce,dryad,spark,flink",
		"policies")
	flags.IntVar(&o.phases, "phases", 60, "phases to generate; 0: none")
	flags.IntVar(&o.seeds, "seeds", 3, "seeds; a figure is the mean")
	flags.BoolVar(&o.worlds, "worlds", false, "instead, small worlds, and how often a policy does harm there")
	flags.BoolVar(&o.queue, "queue", false, "instead, a batch on a job queue, under the engine and under a naive rule")
	flags.StringVar(&o.small.cells, "cells", "", "with -worlds, an expression that world and model match; with -queue, one "+
		"that the scenario matches; none: all")
	flags.StringVar(&o.small.policies, "policies", "mantri,late,hadoop,mapreduce,dryad,spark,flink",
		"with -worlds, beside the default, and with -queue, if given, too; default itself, if it shall stand among them; reference, a host that knows the "+
			"distributions of a world; by-hand, a host of 80 lines that keeps the facts itself")
	flags.StringVar(&o.small.set, "set", "work", "with -worlds, the seeds: work to develop with, or proof to judge by; or a "+
		"list of cells as in -list; or both, as in own,proof")
	flags.StringVar(&o.small.list, "list", "first", "with -worlds, which: first; later or latest, twenty each that were "+
		"invented afterwards; all of these; reference or own, the cells by which the default is compared with the "+
		"reference; fresh, twenty worlds that were invented last; streams of small phases, as time/one in a hundred/slots")
	flags.Float64Var(&o.small.noise, "noise", 1, "with -worlds, a factor for the noise of noisy progress: 1 is a σ of .15 "+
		"between attempts and of .05 between the reports of one")
	flags.BoolVar(&o.calibrates, "calibration", false, "instead, how far what is predicted of tasks comes true, under "+
		"those of the policies that predict it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.seeds < 1 {
		return fmt.Errorf("-seeds is %d, want at least 1", o.seeds)
	}
	for _, pair := range []struct {
		one, other   bool
		name, second string
	}{
		{o.worlds, o.calibrates, "-worlds", "-calibration"}, {o.queue, o.calibrates, "-queue", "-calibration"},
		{o.queue, o.worlds, "-queue", "-worlds"},
	} {
		if pair.one && pair.other {
			return fmt.Errorf("%s and %s are two surveys, choose one", pair.name, pair.second)
		}
	}
	for name, chosen := range map[string]bool{"-worlds": o.worlds, "-queue": o.queue} {
		if chosen && flags.NArg() > 0 {
			return fmt.Errorf("%s reads no log, but %q is given", name, flags.Arg(0))
		}
	}
	if o.worlds {
		o.small.seeds = o.seeds
		return o.small.write(w)
	}
	if o.queue {
		return o.batch(flags).write(w)
	}
	o.logs = flags.Args()
	entries, err := compare.Choose(o.policies)
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

// batch returns the flags of the survey of a job queue: no policies beside the default, except those that are asked for.
func (o options) batch(flags *flag.FlagSet) queues {
	q := queues{scenarios: o.small.cells, seeds: o.seeds}
	flags.Visit(func(f *flag.Flag) {
		if f.Name == "policies" {
			q.policies = o.small.policies
		}
	})
	return q
}

// modelsFor returns the models of progress that differ: where no attempt's progress was recorded, recorded is typical.
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
