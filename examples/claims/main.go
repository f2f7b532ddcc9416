// Command claims shows the results of the papers again that this library follows, as far as a simulation can: one row a
// claim, with the paper's figure, the band around it, what came out, and a verdict. Experiments run in
// examples/internal/cluster, which asks the library for every decision; the parameters have the papers' names.
//
//	go run ./claims                 every row, 20 seeds
//	go run ./claims -quick          all exact rows and a sample of the others, in under a minute
//	go run ./claims -row L6,M5      some rows
//	go run ./claims -page ../docs/claims.md -seed 1 -again 1001
//
// # Seeds
//
// A seed is one repetition of an experiment, and all luck in it comes from the seed: the workload from a generator that
// is seeded with it, and what befalls each copy of a task from a draw that belongs to the seed, the task and the copy, so
// that policies are compared on the same luck. Seeds are independent of each other, however small and close. The table is
// that of the seeds N to N+M-1 for -seed N -seeds M; a row is judged by its mean over them and that mean's standard error.
// -again runs the rows on a second set, which the page shows beside the first. Rows without luck run once.
// The same seeds make the same table, on any number of cores.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "claims:", err)
		os.Exit(1)
	}
}

const defaultSeeds = 20

// options are the command line's.
type options struct {
	ids         string
	quick, json bool
	seeds       int
	seed        uint64
	again       uint64
	page        string
}

func run(args []string, out, progress io.Writer) error {
	var o options
	flags := flag.NewFlagSet("claims", flag.ContinueOnError)
	flags.SetOutput(progress)
	flags.StringVar(&o.ids, "row", "", "run these rows only, separated by commas")
	flags.BoolVar(&o.quick, "quick", false, "run the exact rows and a sample of the others, with 5 seeds")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	flags.IntVar(&o.seeds, "seeds", 0, "how many seeds (default 20, or 5 with -quick)")
	flags.Uint64Var(&o.seed, "seed", 1, "the first seed")
	flags.Uint64Var(&o.again, "again", 0, "the first seed of a second set for -page; 0: there is none")
	flags.StringVar(&o.page, "page", "", "write the table to this file, as Markdown")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if o.seeds < 0 {
		return fmt.Errorf("-seeds %d: must be 1 or more", o.seeds)
	}
	if o.seeds == 0 {
		o.seeds = defaultSeeds
		if o.quick {
			o.seeds = 5
		}
	}
	rows, err := choose(allRows(), o)
	if err != nil {
		return err
	}
	outcomes := runAll(rows, o, progress)
	if o.page != "" {
		var again []outcome
		if o.again > 0 {
			second := o
			second.seed = o.again
			again = runAll(rows, second, progress)
		}
		if err := writePage(o.page, outcomes, again, o); err != nil {
			return err
		}
	}
	if o.json {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(outcomes)
	}
	return writeTable(out, outcomes)
}

func allRows() []row {
	return slices.Concat(lateRows(), mantriRows(), dollyRows(), fairRows(), shareRows())
}

// choose keeps the rows that are asked for.
func choose(rows []row, o options) ([]row, error) {
	if o.ids == "" {
		if o.quick {
			rows = slices.DeleteFunc(rows, func(r row) bool { return r.tier != exact && !r.quick })
		}
		return rows, nil
	}
	var chosen []row
	for id := range strings.SplitSeq(o.ids, ",") {
		i := slices.IndexFunc(rows, func(r row) bool { return strings.EqualFold(r.id, strings.TrimSpace(id)) })
		if i < 0 {
			return nil, fmt.Errorf("-row %s: there is no such row", id)
		}
		chosen = append(chosen, rows[i])
	}
	return chosen, nil
}

// runAll runs each row under each seed, on all cores. What comes out does not depend on their number: each run has its
// own place.
func runAll(rows []row, o options, progress io.Writer) []outcome {
	type job struct{ row, seed int }
	var jobs []job
	values := make([][][]float64, len(rows))
	spent := make([]time.Duration, len(rows))
	for i, r := range rows {
		n := o.seeds
		if r.seeds > 0 {
			n = min(n, r.seeds)
		}
		if r.run == nil {
			n = 0
		}
		values[i] = make([][]float64, n)
		for s := range n {
			jobs = append(jobs, job{i, s})
		}
	}
	bar := progressbar.NewOptions(len(jobs), progressbar.OptionSetWriter(progress), progressbar.OptionSetDescription("claims"),
		progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetVisibility(isTerminal(progress)))
	var next, lock sync.Mutex
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				next.Lock()
				if len(jobs) == 0 {
					next.Unlock()
					return
				}
				j := jobs[0]
				jobs = jobs[1:]
				next.Unlock()
				began := time.Now()
				v := rows[j.row].run(o.seed + uint64(j.seed))
				lock.Lock()
				values[j.row][j.seed] = v
				spent[j.row] += time.Since(began)
				_ = bar.Add(1)
				lock.Unlock()
			}
		})
	}
	workers.Wait()
	outcomes := make([]outcome, len(rows))
	for i, r := range rows {
		outcomes[i] = r.judge(values[i])
		outcomes[i].Seconds = spent[i].Seconds()
	}
	return outcomes
}

// isTerminal reports whether a writer is a terminal, where a progress bar is of use.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
