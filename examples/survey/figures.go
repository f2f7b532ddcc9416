package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/straggler-go/straggler/restart"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// comparison contains the figures of each policy on each log, under each model of progress.
type comparison struct {
	options
	entries []compare.Entry
	logs    []logRow
}

// logRow has the figures of one log.
type logRow struct {
	name string
	of   map[string][]figures // by the name of the model, then by the index of the policy
}

// replay replays a log under each model of progress that differs on this log.
func (c *comparison) replay(_ io.Writer, name string, entries []compare.Entry, phases func(seed uint64) []*sim.Phase) error {
	l := logRow{name, map[string][]figures{}}
	for _, text := range c.modelsFor(phases(1)) {
		model, err := sim.ParseProgress(text)
		if err != nil {
			return err
		}
		if l.of[text], err = c.row(entries, model, phases); err != nil {
			return err
		}
	}
	c.entries, c.logs = entries, append(c.logs, l)
	return nil
}

// write writes a table for each policy, with a row for each log and a column for each model of progress. Below the
// table is the number of cells in which the policy does harm.
func (c *comparison) write(w io.Writer) {
	models := strings.Split(c.models, ",")
	for i, e := range c.entries {
		fmt.Fprintf(w, "\n### %s\n\n| log | %s |\n|---|%s\n", e.Name, strings.Join(models, " | "),
			strings.Repeat("---|", len(models)))
		means, counts := make([]figures, len(models)), make([]float64, len(models))
		all, worse := 0, 0
		for _, l := range c.logs {
			fmt.Fprintf(w, "| %s |", l.name)
			for k, m := range models {
				if l.of[m] == nil {
					fmt.Fprint(w, " |")
					continue
				}
				f := l.of[m][i]
				fmt.Fprintf(w, " %v |", f)
				means[k].time += f.time
				means[k].slots += f.slots
				counts[k]++
				if all++; f.worse() {
					worse++
				}
			}
			fmt.Fprintln(w)
		}
		fmt.Fprint(w, "| *mean* |")
		for k, f := range means {
			fmt.Fprintf(w, " %v |", figures{f.time / max(counts[k], 1), f.slots / max(counts[k], 1)})
		}
		fmt.Fprintf(w, "\n\nOf %d cells (change of time, change of slot time, in %% of no action), %d have more than +%v "+
			"%% time or more than +%v %% slot time.\n",
			all, worse, moreTime, moreSlots)
	}
}

// row replays a log under all policies with all seeds, on all processors, and returns the mean figures of each policy.
func (o options) row(entries []compare.Entry, model sim.Progress, phases func(seed uint64) []*sim.Phase) ([]figures, error) {
	row := make([]figures, len(entries))
	all := make([][]figures, o.seeds)
	err := inParallel(o.seeds, func(k int) (err error) {
		all[k], err = o.seed(entries, model, phases(uint64(k+1)), uint64(k+1))
		return err
	})
	n := float64(o.seeds)
	for k := range o.seeds {
		for i, f := range all[k] {
			r := &row[i]
			r.time += f.time / n
			r.slots += f.slots / n
		}
	}
	return row, err
}

// inParallel calls f with the numbers from 0 to n-1, on all processors, and returns the first error.
func inParallel(n int, f func(i int) error) error {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() error { return f(i) })
	}
	return g.Wait()
}

func (o options) seed(entries []compare.Entry, model sim.Progress, phases []*sim.Phase, seed uint64) ([]figures, error) {
	none, err := replay(phases, compare.Entry{Policy: restart.Never{}, Progress: model}, seed)
	if err != nil {
		return nil, err
	}
	row := make([]figures, len(entries))
	for i, e := range entries {
		e.Progress = model
		results, err := replay(phases, e, seed)
		if err != nil {
			return nil, err
		}
		row[i] = figuresOf(none, results)
	}
	return row, nil
}

func replay(phases []*sim.Phase, e compare.Entry, seed uint64) ([]sim.Result, error) {
	results, _, err := compare.Replay(phases, e, seed, func() {})
	return results, err
}

func figuresOf(none, results []sim.Result) figures {
	var before, after, usedBefore, usedAfter float64
	for i, r := range results {
		before += none[i].Time.Seconds()
		after += r.Time.Seconds()
		usedBefore += none[i].Used.Seconds()
		usedAfter += r.Used.Seconds()
	}
	return figures{100 * (after - before) / max(before, 1e-9), 100 * (usedAfter - usedBefore) / max(usedBefore, 1e-9)}
}

// figures are the changes of the phases' time and of the slot time against no action, in percent; -20 is a fifth less.
type figures struct{ time, slots float64 }

// worse reports whether the policy does harm: whether the time or the slot time grows by more than a threshold.
func (f figures) worse() bool { return f.time > moreTime || f.slots > moreSlots }

const (
	moreTime  = 0.5 // % of the phases' time; a policy that adds more does harm
	moreSlots = 1   // % of the slot time; a policy that adds more does harm
)

func (f figures) String() string { return change(f.time, 1) + " " + change(f.slots, 1) }

// change writes a change with its sign; 0 if no digit is left.
func change(percent float64, digits int) string {
	text := fmt.Sprintf("%+.*f", digits, percent)
	if strings.Trim(text, "+-0.") == "" {
		return "0"
	}
	return text
}
