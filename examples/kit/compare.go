package kit

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Repeat runs each policy so many times, in turn: what slows the machine meets all policies alike. It returns the runs of
// each.
func Repeat[T any](times int, policies []string, run func(policy string, n int) (T, error)) (map[string][]T, error) {
	runs := map[string][]T{}
	for n := range times {
		for _, policy := range policies {
			one, err := run(policy, n+1)
			if err != nil {
				return nil, fmt.Errorf("%s, run %d: %w", policy, n+1, err)
			}
			runs[policy] = append(runs[policy], one)
		}
	}
	return runs, nil
}

// Measure is what a table shows of a run beside its time.
type Measure[T any] struct {
	Head, Format string // of the median, for fmt.Sprintf
	Of           func(T) float64
}

// Count is a measure that is a number of things.
func Count[T any](head string, of func(T) int) Measure[T] {
	return Measure[T]{head, "%.0f", func(t T) float64 { return float64(of(t)) }}
}

// Comparison says what is compared.
type Comparison[T any] struct {
	Seconds  func(T) float64
	Right    func(T) bool // whether all that came out is what had to
	Measures []Measure[T]
}

// Print prints a table of the runs of each policy: medians, each of one number for itself; the time relative to that of the
// first policy, and to that of naive if it was run; and in how many runs all was right.
func (c Comparison[T]) Print(w io.Writer, title string, policies []string, runs map[string][]T) {
	heads, bases := []string{"policy", "time", "of " + policies[0]}, policies[:1]
	if _, ran := runs[naive]; ran && policies[0] != naive {
		heads, bases = append(heads, "of "+naive), []string{policies[0], naive}
	}
	for _, m := range c.Measures {
		heads = append(heads, m.Head)
	}
	var rows [][]string
	for _, policy := range policies {
		all := runs[policy]
		seconds, right := Median(all, c.Seconds), 0
		row := []string{policy, fmt.Sprintf("%.1f s", seconds)}
		for _, base := range bases {
			row = append(row, fmt.Sprintf("%.2f", seconds/Median(runs[base], c.Seconds)))
		}
		for _, m := range c.Measures {
			row = append(row, fmt.Sprintf(m.Format, Median(all, m.Of)))
		}
		for _, one := range all {
			if c.Right(one) {
				right++
			}
		}
		rows = append(rows, append(row, fmt.Sprintf("%d/%d", right, len(all))))
	}
	fmt.Fprintf(w, "\n%s:\n\n", title)
	Table(w, append(heads, "correct"), rows)
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
