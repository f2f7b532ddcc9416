// Command claims repeats the experiments of the papers that this library follows, as far as a simulation can. It
// prints a row for each claim of a paper, with the paper's figure, the band around it, the measured figure, and a
// verdict, as Markdown. The experiments run in examples/internal/cluster, which asks the library for every decision. The
// parameters have the names of the papers.
//
//	go run ./claims                 run every row
//	go run ./claims -row L6,M5      run some rows
//	go run ./claims -page ../docs/claims.md -seed 1 -again 1001
//	go run ./claims -svg ../docs/claims.svg -from ../docs/claims.md
//
// # Seeds
//
// A seed is one repetition of an experiment, and all its random numbers come from the seed. The workload comes from a
// generator with this seed. The luck of an attempt depends on the seed, the task and the number of the attempt, so
// all policies meet the same luck. Different seeds are independent, also if they are small or neighbours. With -seed
// N -seeds M, the table has the seeds N to N+M-1. A row is judged by its mean over the seeds and by the standard
// error of this mean. -again runs the rows with a second set of seeds, which the page shows beside the first set.
// Rows without random numbers run once. The same seeds give the same table, on any number of cores.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "claims:", err)
		os.Exit(1)
	}
}

// defaultSeeds is the number of seeds of a row without -seeds, if the row itself does not say.
const defaultSeeds = 20

// options are the values of the command line.
type options struct {
	ids       string
	seeds     int
	seed      uint64
	again     uint64
	page      string
	svg, from string
}

func run(args []string, out, usage io.Writer) error {
	var o options
	flags := flag.NewFlagSet("claims", flag.ContinueOnError)
	flags.SetOutput(usage)
	flags.StringVar(&o.ids, "row", "", "run only these `rows`, separated by commas")
	flags.IntVar(&o.seeds, "seeds", 0, "largest number of seeds of a row (default: 20, 200 for short rows, fewer for long rows)")
	flags.Uint64Var(&o.seed, "seed", 1, "the first seed")
	flags.Uint64Var(&o.again, "again", 0, "the first seed of a second set for -page; 0: no second set")
	flags.StringVar(&o.page, "page", "", "write the table to this `file`, as Markdown")
	flags.StringVar(&o.svg, "svg", "", "run no row, and draw the page of -from to this `file`")
	flags.StringVar(&o.from, "from", "", "the `page` that -page wrote before, for -svg")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.svg != "" || o.from != "" {
		return o.picture()
	}
	if o.seeds < 0 {
		return fmt.Errorf("-seeds is %d, want 1 or more", o.seeds)
	}
	rows, err := choose(allRows(), o)
	if err != nil {
		return err
	}
	outcomes := runAll(rows, o)
	if o.page != "" {
		var again []outcome
		if o.again > 0 {
			second := o
			second.seed = o.again
			again = runAll(rows, second)
		}
		if err := writePage(o.page, outcomes, again, o); err != nil {
			return err
		}
	}
	var b strings.Builder
	writeRows(&b, outcomes, nil)
	_, err = fmt.Fprintf(out, "%s\n%s\n", b.String(), summary(outcomes))
	return err
}

// choose returns the rows that the options select.
func choose(rows []row, o options) ([]row, error) {
	if o.ids == "" {
		return rows, nil
	}
	var chosen []row
	for id := range strings.SplitSeq(o.ids, ",") {
		i := slices.IndexFunc(rows, func(r row) bool { return strings.EqualFold(r.ID, strings.TrimSpace(id)) })
		if i < 0 {
			return nil, fmt.Errorf("-row has %q, which is not a row", id)
		}
		chosen = append(chosen, rows[i])
	}
	return chosen, nil
}

// runAll runs each row with each seed, on all cores. The result does not depend on the number of cores.
func runAll(rows []row, o options) []outcome {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	values := make([][][]float64, len(rows))
	for i, r := range rows {
		values[i] = make([][]float64, r.count(o.seeds))
		for seed := range values[i] {
			g.Go(func() error {
				values[i][seed] = r.run(o.seed + uint64(seed))
				return nil
			})
		}
	}
	_ = g.Wait() // a row has no error
	outcomes := make([]outcome, len(rows))
	for i, r := range rows {
		outcomes[i] = r.judge(values[i])
	}
	return outcomes
}
