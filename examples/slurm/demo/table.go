package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/restart/engine/slurm/array"
)

// columns are the widths and heads of the table.
var columns = []struct {
	width int
	head  string
}{
	{15, "policy"}, {8, "time"}, {8, "relative"}, {6, "copies"}, {8, "restarts"}, {10, "after loss"}, {9, "cancelled"}, {7, "correct"},
}

// table prints the medians of the runs of a scenario, in Markdown.
func table(w io.Writer, s scenario, runs map[string][]outcome) {
	fmt.Fprintf(w, "\n%s:\n\n", s.title)
	heads, rule := make([]string, len(columns)), "|"
	for i, c := range columns {
		heads[i] = c.head
		rule += strings.Repeat("-", c.width+1) + map[bool]string{true: "-|", false: ":|"}[i == 0]
	}
	line(w, heads)
	fmt.Fprintln(w, rule)
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
		whole := func(of func(array.Result) int) string {
			return fmt.Sprintf("%.0f", median(o, func(r array.Result) float64 { return float64(of(r)) }))
		}
		line(w, []string{
			policy, fmt.Sprintf("%.1f s", median(o, seconds)), fmt.Sprintf("%.2f", median(o, seconds)/none),
			whole(func(r array.Result) int { return r.Copies }), whole(func(r array.Result) int { return r.Restarts }),
			whole(func(r array.Result) int { return r.Again }), whole(func(r array.Result) int { return r.Cancelled }),
			fmt.Sprintf("%d/%d", correct, len(o)),
		})
	}
}

func line(w io.Writer, cells []string) {
	for i, cell := range cells {
		width := columns[i].width
		if i == 0 {
			width = -width // to the left
		}
		fmt.Fprintf(w, "| %*s ", width, cell)
	}
	fmt.Fprintln(w, "|")
}

func median(runs []outcome, of func(array.Result) float64) float64 {
	values := make([]float64, len(runs))
	for i, run := range runs {
		values[i] = of(run.result)
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
