package placement

import (
	"bufio"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var writeLP = flag.String("lp", "", "write the problems of testdata/milp.csv as LP files into this directory, for a solver")

// generated names a problem of instance.
type generated struct {
	family       string
	tasks, racks int
	seed         uint64
}

func (m generated) String() string   { return instanceName(m.family, m.tasks, m.racks, m.seed) }
func (m generated) problem() Problem { return instance(m.family, m.tasks, m.racks, m.seed) }

// milpProblems lists the problems of testdata/milp.csv: one problem of each family and size, and three more of each small
// size. The additional problems were generated and solved after the search had its present form.
func milpProblems() (list []generated) {
	for _, size := range [][2]int{{20, 5}, {20, 10}, {20, 20}, {40, 5}, {60, 10}, {100, 10}, {100, 20}, {200, 20}} {
		for _, family := range families {
			list = append(list, generated{family, size[0], size[1], 1})
		}
	}
	for _, size := range [][2]int{{20, 5}, {20, 10}, {20, 20}, {40, 5}, {30, 15}, {60, 10}} {
		for _, family := range families {
			for seed := range uint64(3) {
				list = append(list, generated{family, size[0], size[1], seed + 2})
			}
		}
	}
	return list
}

func TestWriteLP(t *testing.T) {
	if *writeLP == "" {
		t.Skip("writes files for a solver; run with -lp directory")
	}
	for _, m := range milpProblems() {
		f, err := os.Create(filepath.Join(*writeLP, m.String()+".lp"))
		require.NoError(t, err)
		require.NoError(t, formatLP(f, m.problem()))
		require.NoError(t, f.Close())
	}
}

// formatLP writes the problem as a mixed-integer program, in which x_k_j is 1 if task k runs in rack j.
func formatLP(to io.Writer, p Problem) error {
	w := bufio.NewWriter(to)
	fmt.Fprint(w, "Minimize\n time: T\nSubject To\n")
	for j := range p.Up {
		column := 0.0
		fmt.Fprintf(w, " up_%d: %v T", j, p.Up[j])
		for k, row := range p.Input {
			column += row[j]
			fmt.Fprintf(w, "\n + %v x_%d_%d", row[j], k, j)
		}
		fmt.Fprintf(w, " >= %v\n down_%d: %v T", column, j, p.Down[j])
		for k, row := range p.Input {
			fmt.Fprintf(w, "\n - %v x_%d_%d", sum(row)-row[j], k, j)
		}
		fmt.Fprint(w, " >= 0\n")
		if p.Slots != nil {
			fmt.Fprintf(w, " slots_%d:", j)
			for k := range p.Input {
				fmt.Fprintf(w, "\n + x_%d_%d", k, j)
			}
			fmt.Fprintf(w, " <= %d\n", p.Slots[j])
		}
	}
	for k := range p.Input {
		fmt.Fprintf(w, " task_%d:", k)
		for j := range p.Up {
			fmt.Fprintf(w, "\n + x_%d_%d", k, j)
		}
		fmt.Fprint(w, " = 1\n")
	}
	fmt.Fprint(w, "Binary\n")
	for k := range p.Input {
		for j := range p.Up {
			fmt.Fprintf(w, " x_%d_%d\n", k, j)
		}
	}
	fmt.Fprint(w, "End\n")
	return w.Flush()
}

// The solver's bounds are proven. So the ratio of an answer to its bound limits the distance to the best placement.
func TestWithinOnePercentOfSolver(t *testing.T) {
	t.Parallel()
	rows := solverRows(t)
	problems := milpProblems()
	require.Len(t, rows, len(problems))
	if sampled {
		problems = problems[:len(problems)/8]
	}
	within, worst := 0, 0.0
	for _, m := range problems {
		row, ok := rows[m.String()]
		require.True(t, ok, m)
		p := m.problem()
		a, err := Assign(p, DefaultEffort)
		require.NoError(t, err)
		checked(t, p, a)
		// The factors allow for the solver's own tolerance and for the digits of its output.
		assert.GreaterOrEqual(t, a.Seconds, row.bound*(1-2e-6), "%v: the answer is shorter than the solver's bound", m)
		assert.LessOrEqual(t, a.Bound, row.best*(1+2e-6), "%v: the bound exceeds the solver's placement", m)
		assert.GreaterOrEqual(t, a.Bound, .9*row.bound, "%v: the own bound is weak", m)
		gap := a.Seconds/row.bound - 1
		if gap <= 0.01 {
			within++
		}
		worst = max(worst, gap)
		t.Logf("%-17v %10.4fs, solver %10.4fs (%s), %+.3f%% of its bound, own bound %+.3f%%", m, a.Seconds, row.best, row.status, 100*gap, 100*(a.Seconds/a.Bound-1))
	}
	assert.GreaterOrEqual(t, within, len(problems)*9/10, "too few answers are within 1 %% of the proven bound")
	assert.LessOrEqual(t, worst, 0.05)
	t.Logf("within 1 %% of the proven bound: %d of %d, worst %.3f%%", within, len(problems), 100*worst)
}

type solverRow struct {
	bound, best float64
	status      string
}

func solverRows(t *testing.T) map[string]solverRow {
	f, err := os.Open("testdata/milp.csv")
	require.NoError(t, err)
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	rows := map[string]solverRow{}
	for _, record := range records[1:] {
		bound, err := strconv.ParseFloat(record[1], 64)
		require.NoError(t, err)
		best, err := strconv.ParseFloat(record[2], 64)
		require.NoError(t, err)
		rows[record[0]] = solverRow{bound, best, record[3]}
	}
	return rows
}
