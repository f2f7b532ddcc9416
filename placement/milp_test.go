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

// milpSizes are the tasks and racks of the problems that a MILP solver was given; see testdata/README.md.
var milpSizes = [][2]int{{20, 5}, {20, 10}, {20, 20}, {40, 5}, {60, 10}, {100, 10}, {100, 20}, {200, 20}}

func TestWriteLP(t *testing.T) {
	if *writeLP == "" {
		t.Skip("writes files for a solver; run with -lp directory")
	}
	for _, size := range milpSizes {
		for _, family := range families {
			f, err := os.Create(filepath.Join(*writeLP, instanceName(family, size[0], size[1], 1)+".lp"))
			require.NoError(t, err)
			require.NoError(t, formatLP(f, instance(family, size[0], size[1], 1)))
			require.NoError(t, f.Close())
		}
	}
}

// formatLP writes the problem as a mixed-integer program: x_k_j is 1 if task k runs in rack j.
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

// The solver's bounds are proven, so the ratio to them is how far from the best possible placement ours is at most.
func TestWithinOnePercentOfSolver(t *testing.T) {
	rows := solverRows(t)
	within, worst := 0, 0.0
	for _, size := range milpSizes {
		for _, family := range families {
			name := instanceName(family, size[0], size[1], 1)
			row, ok := rows[name]
			require.True(t, ok, name)
			p := instance(family, size[0], size[1], 1)
			a, err := Assign(p, DefaultLimit)
			require.NoError(t, err)
			check(t, p, a)
			// The solver's own tolerance and the six digits of its output.
			assert.GreaterOrEqual(t, a.Seconds, row.bound*(1-2e-6), "%s: shorter than what is possible", name)
			assert.LessOrEqual(t, a.Bound, row.best*(1+2e-6), "%s: our bound exceeds the solver's placement", name)
			gap := a.Seconds/row.bound - 1
			if gap <= 0.01 {
				within++
			}
			worst = max(worst, gap)
			t.Logf("%-17s %10.4fs, solver %10.4fs (%s), %+.3f%% of its bound, own bound %+.3f%%", name, a.Seconds, row.best, row.status, 100*gap, 100*a.Gap())
		}
	}
	assert.GreaterOrEqual(t, within, len(rows)*9/10, "within 1 %% of the proven bound")
	assert.LessOrEqual(t, worst, 0.05)
	t.Logf("within 1 %% of the proven bound: %d of %d, worst %.3f%%", within, len(rows), 100*worst)
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
	require.Len(t, rows, len(milpSizes)*len(families))
	return rows
}
