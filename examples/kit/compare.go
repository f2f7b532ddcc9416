package kit

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Repeat runs each policy a number of times and returns the results of each policy. The policies run in turn, so that
// other load on the machine slows all policies alike.
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

// Measure is a column of a table: a number of each run, beside its time.
type Measure[T any] struct {
	Head, Format string // the head of the column, and the format of the median for fmt.Sprintf
	Of           func(T) float64
}

// Count returns a measure that counts, so that it is printed without decimals.
func Count[T any](head string, of func(T) int) Measure[T] {
	return Measure[T]{head, "%.0f", func(t T) float64 { return float64(of(t)) }}
}

// Comparison describes the columns of the table that Print writes.
type Comparison[T any] struct {
	Seconds  func(T) float64 // the time of a run
	Right    func(T) bool    // whether all results of a run are right
	Measures []Measure[T]
}

// Print prints a table with a row for each policy. The row has medians over the runs, each median taken by itself. It
// has the time divided by the time of the first policy, and by the time of naive if naive ran. The last column is the
// number of runs in which all results were right.
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

// Median returns the median of a number of each element; 0 if there are no elements.
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

// Table prints a table in Markdown. The first column is aligned to the left, all others to the right.
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
