package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/calibrate"
	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// calibration holds what the policies were told of tasks against what became of them, log by log.
type calibration struct {
	options
	together []calibrate.Tally // of all logs, by model as in options
	tables   int
	verdict  verdict
}

// reading keeps the policies that read t_rem as a distribution: only of these there is something to calibrate.
func reading(entries []compare.Entry) ([]compare.Entry, error) {
	entries = slices.DeleteFunc(entries, func(e compare.Entry) bool { return !rules.Describe(e.Policy).Has(rules.Left) })
	if len(entries) == 0 {
		return nil, errors.New("-calibration wants a policy that reads t_rem as a distribution, such as mantri")
	}
	return entries, nil
}

// rows writes the two tables of one log for each policy.
func (c *calibration) rows(
	w io.Writer, name string, entries []compare.Entry, phases func(seed uint64) []*sim.Phase,
) error {
	models, all := c.modelsFor(phases(1)), strings.Split(c.models, ",")
	if c.together == nil {
		c.together = make([]calibrate.Tally, len(all))
	}
	for _, e := range entries {
		title := name
		if len(entries) > 1 {
			title += ", " + e.Name
		}
		tallies := make([]calibrate.Tally, len(models))
		for i, text := range models {
			model, err := sim.ParseProgress(text)
			if err != nil {
				return err
			}
			e.Progress = model
			if tallies[i], err = c.tally(e, phases); err != nil {
				return err
			}
			c.together[slices.Index(all, text)].Add(tallies[i])
			c.verdict.count(&tallies[i])
		}
		c.tables++
		writeCalibration(w, title, models, tallies)
	}
	return nil
}

// end writes what all tables come to.
func (c *calibration) end(w io.Writer) {
	if c.tables > 1 {
		writeCalibration(w, "All of them", strings.Split(c.models, ","), c.together)
	}
	fmt.Fprintf(w, "\n%v\n", c.verdict)
}

// tally replays under a policy with all seeds, on all processors.
func (c *calibration) tally(e compare.Entry, phases func(seed uint64) []*sim.Phase) (all calibrate.Tally, err error) {
	tallies := make([]calibrate.Tally, c.seeds)
	errs := make([]error, c.seeds)
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for k := range c.seeds {
		wait.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			watch, e := calibrate.NewWatch(e.Policy), e
			e.Policy, e.Witness = watch, watch
			_, errs[k] = replay(phases(uint64(k+1)), e, uint64(k+1))
			tallies[k] = watch.Tally()
		})
	}
	wait.Wait()
	for _, t := range tallies {
		all.Add(t)
	}
	return all, errors.Join(errs...)
}

// verdict counts how many of the rows that have enough cases are right to five points.
type verdict struct{ looks, looksRight, launches, launchesRight int }

const (
	fivePoints = 0.05
	enough     = 400 // cases: by chance alone, one even bet in twenty is off by five points then
)

func (v *verdict) count(t *calibrate.Tally) {
	for _, r := range t.Left {
		if r.First.N < enough {
			continue
		}
		v.looks++
		if off := r.First.Off(); max(off, -off) <= fivePoints {
			v.looksRight++
		}
	}
	for _, b := range t.Bets {
		if b.N < enough {
			continue
		}
		v.launches++
		if off := (b.Win - b.Won) / float64(b.N); max(off, -off) <= fivePoints {
			v.launchesRight++
		}
	}
}

func (v verdict) String() string {
	return fmt.Sprintf("Of %d rows with %d first looks at least, %d are right to 5 points at each tenth of t_rem. "+
		"Of %d rows with %d\nlaunches at least, %d won as often as was predicted, to 5 points.",
		v.looks, enough, v.looksRight, v.launches, enough, v.launchesRight)
}
