package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/calibrate"
)

func writeCalibration(w io.Writer, title string, models []string, tallies []calibrate.Tally) {
	fmt.Fprintf(w, "\n### %s\n", title)
	writeLeft(w, models, tallies)
	writeBets(w, models, tallies)
	for i, t := range tallies {
		if t.Unmatched > 0 {
			fmt.Fprintf(w, "\n%s: %d actions are left out, because the prediction behind them was not recorded.\n", models[i],
				t.Unmatched)
		}
	}
}

// writeLeft writes the table of remaining times: how often the truth was in each tenth of the predicted distribution.
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
	return fmt.Sprintf(" %s | %s | %.2f |", strings.Join(tenths, " "), change(100*r.Off(), 0), r.Predicted/r.True)
}

// writeBets writes the table of copies and restarts: how often they won, and how often that was predicted.
func writeBets(w io.Writer, models []string, tallies []calibrate.Tally) {
	launched := func(t calibrate.Tally) bool {
		return slices.ContainsFunc(t.Bets[:], func(b calibrate.Bets) bool { return b.N > 0 })
	}
	if !slices.ContainsFunc(tallies, launched) {
		fmt.Fprint(w, "\nNo task was restarted or copied.\n")
		return
	}
	fmt.Fprint(w, "\n| progress | launch | times | won, predicted→so, % | as the rule asks, % |")
	fmt.Fprint(w, " below the median, t_rem/t_new, % | saved, s each | won, by tenth of the prediction |\n"+
		"|---|---|---|---|---|---|---|---|\n")
	for i, t := range tallies {
		for kind, b := range t.Bets {
			if b.N == 0 {
				continue
			}
			n := float64(b.N)
			asked := "–"
			if b.Value <= n { // otherwise the rule compared seconds, not probabilities
				asked = fmt.Sprintf("%.0f→%.0f", 100*b.Value/n, 100*b.Met/n)
			}
			fmt.Fprintf(w, "| %s | %s | %d | %.0f→%.0f | %s | %.0f/%.0f | %.3g→%.3g | %s |\n",
				models[i], calibrate.Kinds[kind], b.N, 100*b.Win/n, 100*b.Won/n, asked,
				100*b.Sooner/n, 100*b.Quicker/n, b.Expected/n, b.Saved/n, tenths(b))
		}
	}
}

// tenths lists the tenths of the predicted probability that have cases: predicted→true, in percent (number of cases).
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
