// Package kit is what the demonstrations of the adapters share: the rule that one writes first, the choice of scenarios
// and policies by name, medians, and tables in Markdown.
package kit

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// Naive is the rule that one writes first, to compare with: once half of the tasks are done, copy each that has run for
// more than twice the median, once.
var Naive = rules.Spark{Quantile: 0.5, Multiplier: 2, MinRuntime: restart.Off, SlowRate: restart.Off}

// Policy reads a policy as rules.Parse does. Besides there are "none", which takes no action, "naive", and "default",
// which is nil: that of the adapter.
func Policy(text string) (restart.Policy, error) {
	switch text {
	case "default":
		return nil, nil
	case "none":
		return restart.Never{}, nil
	case "naive":
		return Naive, nil
	}
	return rules.Parse(text)
}

// Choice is what to run.
type Choice struct {
	Runs      int
	Scenarios string // names with commas between them; empty: all
	Policies  string // with spaces between them, since they have commas within; empty: those of the demonstration
}

// Flags defines the flags of a choice.
func (c *Choice) Flags(f *flag.FlagSet) {
	f.IntVar(&c.Runs, "runs", 1, "how often to run each policy; the tables show medians")
	f.StringVar(&c.Scenarios, "scenarios", "", "`names` with commas between them (default all)")
	f.StringVar(&c.Policies, "policies", "", "`policies` with spaces between them: default, none, naive, late,min-age=2s, ...")
}

// Pick returns those of all that are named, in their order; all if none is.
func Pick[T any](names string, all []T, name func(T) string) ([]T, error) {
	wanted := strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
	if len(wanted) == 0 {
		return all, nil
	}
	var known []string
	for _, t := range all {
		known = append(known, name(t))
	}
	for _, w := range wanted {
		if !slices.Contains(known, w) {
			return nil, fmt.Errorf("there is no %q; there are %s", w, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(t T) bool { return !slices.Contains(wanted, name(t)) }), nil
}

// Median returns the median of what is read of each; 0 if there is nothing.
func Median[T any](all []T, of func(T) float64) float64 {
	if len(all) == 0 {
		return 0
	}
	values := make([]float64, len(all))
	for i, t := range all {
		values[i] = of(t)
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// Table prints rows below their heads in Markdown, the first column to the left and the others to the right.
func Table(w io.Writer, heads []string, rows [][]string) {
	widths := make([]int, len(heads))
	for _, row := range append([][]string{heads}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	rule := make([]string, len(heads))
	for i, width := range widths {
		rule[i] = strings.Repeat("-", width-1) + ":"
	}
	rule[0] = strings.Repeat("-", widths[0])
	for _, row := range append([][]string{heads, rule}, rows...) {
		for i, cell := range row {
			width := widths[i]
			if i == 0 {
				width = -width
			}
			fmt.Fprintf(w, "| %*s ", width, cell)
		}
		fmt.Fprintln(w, "|")
	}
}
