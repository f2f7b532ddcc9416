package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/calibrate"
	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/sim"
)

// calibration compares the predictions that the policies received with the truth, log by log.
type calibration struct {
	options
	together []calibrate.Tally // the sums over all logs, by the index of the model in options
	tables   int
	verdict  verdict
}

// reading keeps the policies that read the remaining time (t_rem) as a distribution. Other policies have no
// prediction to compare with the truth.
func reading(entries []compare.Entry) ([]compare.Entry, error) {
	entries = slices.DeleteFunc(entries, func(e compare.Entry) bool { return !rules.Describe(e.Policy).Has(rules.Left) })
	if len(entries) == 0 {
		return nil, errors.New("-calibration needs a policy that reads the remaining time (t_rem) as a distribution, such " +
			"as mantri")
	}
	return entries, nil
}

// rows replays one log and writes two tables for each policy.
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

// end writes the tables of all logs together, and the verdict.
func (c *calibration) end(w io.Writer) {
	if c.tables > 1 {
		writeCalibration(w, "All logs together", strings.Split(c.models, ","), c.together)
	}
	fmt.Fprintf(w, "\n%v\n", c.verdict)
}

// tally replays the phases under a policy with all seeds, on all processors, and returns the comparison with the truth.
func (c *calibration) tally(e compare.Entry, phases func(seed uint64) []*sim.Phase) (all calibrate.Tally, err error) {
	tallies := make([]calibrate.Tally, c.seeds)
	err = inParallel(c.seeds, func(k int) (err error) {
		watch, e := calibrate.NewWatch(e.Policy), e
		e.Policy, e.Witness = watch, watch
		_, err = replay(phases(uint64(k+1)), e, uint64(k+1))
		tallies[k] = watch.Tally()
		return err
	})
	for _, t := range tallies {
		all.Add(t)
	}
	return all, err
}

// verdict counts the rows with enough cases, and among them the rows with an error of at most five points.
type verdict struct{ looks, looksRight, launches, launchesRight int }

const (
	fivePoints = 0.05
	enough     = 400 // cases; with so many, chance alone gives an error of five points in one of twenty rows
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
	return fmt.Sprintf("Of %d rows with at least %d tasks, %d are right to 5 points at each tenth of t_rem. "+
		"Of %d rows with at least %d\ncopies or restarts, %d won as often as predicted, to 5 points.",
		v.looks, enough, v.looksRight, v.launches, enough, v.launchesRight)
}
