package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/straggler-go/straggler/restart"

	"straggler-examples/internal/calibrate"
	"straggler-examples/internal/compare"
	"straggler-examples/internal/sim"
)

// reading keeps the policies that read t_rem as a distribution: only of these there is something to calibrate.
func reading(entries []compare.Entry) ([]compare.Entry, error) {
	entries = slices.DeleteFunc(entries, func(e compare.Entry) bool { return !restart.Describe(e.Policy).ReadsLeft })
	if len(entries) == 0 {
		return nil, errors.New("-calibration wants a policy that reads t_rem as a distribution, such as mantri")
	}
	return entries, nil
}

// calibration writes the two tables of one log for each policy.
func (o options) calibration(w io.Writer, name string, entries []compare.Entry, phases func(seed uint64) []*sim.Phase) error {
	models := strings.Split(o.models, ",")
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
			if tallies[i], err = o.tally(e, phases); err != nil {
				return err
			}
		}
		fmt.Fprintf(w, "\n### %s\n", title)
		writeLeft(w, models, tallies)
		writeBets(w, models, tallies)
		for i, t := range tallies {
			if t.Unmatched > 0 {
				fmt.Fprintf(w, "\n%s: what %d actions rested on was not seen.\n", models[i], t.Unmatched)
			}
		}
	}
	return nil
}

// tally replays under a policy with all seeds, on all processors.
func (o options) tally(e compare.Entry, phases func(seed uint64) []*sim.Phase) (all calibrate.Tally, err error) {
	tallies := make([]calibrate.Tally, o.seeds)
	errs := make([]error, o.seeds)
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for k := range o.seeds {
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

// writeLeft writes where in its distribution the remaining time was.
func writeLeft(w io.Writer, models []string, tallies []calibrate.Tally) {
	fmt.Fprint(w, "\n| progress | t_rem from | looks | of them in each tenth of t_rem, % | off | mean, predicted/true |")
	fmt.Fprint(w, " tasks | at their first look, % | off | mean |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for i, t := range tallies {
		for basis, name := range calibrate.Bases {
			if r := &t.Left[basis]; r.All.N > 0 {
				fmt.Fprintf(w, "| %s | %s | %d |%s %d |%s\n", models[i], name, r.All.N, ranks(&r.All), r.First.N, ranks(&r.First))
			}
		}
	}
}

func ranks(r *calibrate.Ranks) string {
	var tenths []string
	for _, n := range r.Decile {
		tenths = append(tenths, fmt.Sprintf("%.0f", 100*n/float64(r.N)))
	}
	return fmt.Sprintf(" %s | %+.0f | %.2f |", strings.Join(tenths, " "), 100*r.Off(), r.Predicted/r.True)
}

// writeBets writes how often what was launched won, and how often that was predicted.
func writeBets(w io.Writer, models []string, tallies []calibrate.Tally) {
	launched := func(t calibrate.Tally) bool {
		return slices.ContainsFunc(t.Bets[:], func(b calibrate.Bets) bool { return b.N > 0 })
	}
	if !slices.ContainsFunc(tallies, launched) {
		fmt.Fprint(w, "\nNothing was restarted or copied.\n")
		return
	}
	fmt.Fprint(w, "\n| progress | launch | times | won, predicted→so, % | as the rule asks, % | below the median, t_rem/t_new, % | saved, s each |")
	fmt.Fprint(w, " by tenth of the prediction |\n|---|---|---|---|---|---|---|---|\n")
	for i, t := range tallies {
		for kind, b := range t.Bets {
			if b.N == 0 {
				continue
			}
			n := float64(b.N)
			fmt.Fprintf(w, "| %s | %s | %d | %.0f→%.0f | %.0f→%.0f | %.0f/%.0f | %.1f→%.1f | %s |\n", models[i], calibrate.Kinds[kind], b.N,
				100*b.Win/n, 100*b.Won/n, 100*b.Value/n, 100*b.Met/n, 100*b.Sooner/n, 100*b.Quicker/n, b.Expected/n, b.Saved/n, tenths(b))
		}
	}
}

// tenths lists the deciles of the prediction in which there is something: predicted, so, and how many.
func tenths(b calibrate.Bets) string {
	var list []string
	for _, bin := range b.Decile {
		if bin.N > 0 {
			n := float64(bin.N)
			list = append(list, fmt.Sprintf("%.0f→%.0f (%d)", 100*bin.Win/n, 100*bin.Won/n, bin.N))
		}
	}
	return strings.Join(list, ", ")
}
