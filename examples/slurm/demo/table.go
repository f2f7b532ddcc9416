package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/slurm/array"
)

// table prints the medians of the runs of a scenario, in Markdown.
func table(w io.Writer, s scenario, runs map[string][]outcome) {
	fmt.Fprintf(w, "\n%s:\n\n", s.title)
	fmt.Fprintf(w, "| %-15s | %8s | %8s | %6s | %8s | %10s | %9s | %7s |\n", "policy", "time", "relative", "copies", "restarts",
		"after loss", "cancelled", "correct")
	fmt.Fprintf(w, "|%s|%s:|%s:|%s:|%s:|%s:|%s:|%s:|\n", dashes(17), dashes(9), dashes(9), dashes(7), dashes(9), dashes(11), dashes(10), dashes(8))
	seconds := func(r array.Result) float64 { return r.Elapsed.Seconds() }
	none := median(runs[s.policies[0]], seconds)
	for _, policy := range s.policies {
		o := runs[policy]
		correct := 0
		for _, run := range o {
			if run.problem == nil {
				correct++
			}
		}
		fmt.Fprintf(w, "| %-15s | %6.1f s | %8.2f | %6.0f | %8.0f | %10.0f | %9.0f | %3d/%-3d |\n", policy, median(o, seconds), median(o, seconds)/none,
			median(o, func(r array.Result) float64 { return float64(r.Copies) }),
			median(o, func(r array.Result) float64 { return float64(r.Restarts) }),
			median(o, func(r array.Result) float64 { return float64(r.Again) }),
			median(o, func(r array.Result) float64 { return float64(r.Cancelled) }), correct, len(o))
	}
}

func dashes(n int) string { return strings.Repeat("-", n) }

func median(runs []outcome, of func(array.Result) float64) float64 {
	values := make([]float64, len(runs))
	for i, run := range runs {
		values[i] = of(run.result)
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
