package main

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExactRowsMatch(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and without goroutines; TestSameSeedsSameTable runs the workers")
	}
	for _, r := range allRows() {
		if r.Tier == exact {
			t.Run(r.ID, func(t *testing.T) {
				o := r.judge([][]float64{r.run(1)})
				assert.Equal(t, shown, o.Verdict, "%+v", o.Figures)
			})
		}
	}
}

func TestRowsAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range allRows() {
		assert.False(t, seen[r.ID], "%s is there twice", r.ID)
		seen[r.ID] = true
		assert.NotEmpty(t, r.Where, r.ID)
		assert.NotEmpty(t, r.Claim, r.ID)
		assert.NotEmpty(t, r.Name, r.ID)
		assert.LessOrEqual(t, len(r.Name), 35, "%s has room in the picture", r.ID)
		if r.run == nil {
			assert.NotEmpty(t, notes[r.ID], "%s says why it cannot be run", r.ID)
			continue
		}
		assert.NotEmpty(t, r.Measures, r.ID)
		if r.Tier == experiment {
			assert.Contains(t, notes[r.ID], "Inputs:", r.ID)
		}
		assert.True(t, slices.ContainsFunc(r.Measures, func(m measure) bool { return m.role == judged }),
			"%s judges nothing", r.ID)
		for _, m := range r.Measures {
			assert.LessOrEqual(t, m.lo, m.hi, "%s: %s", r.ID, m.name)
		}
	}
	for _, p := range papers {
		for id := range p.runs {
			assert.True(t, seen[id], "%s is in no paper", id)
		}
	}
	_, err := newMeasure("like", "", "", 0, 0)
	assert.ErrorContains(t, err, "no way to judge")
}

// by returns a measure that is judged in a way.
func by(how string, band ...float64) measure {
	m, err := newMeasure(how, "", "", append(band, 0, 0)[0], append(band, 0, 0)[1])
	check(err)
	return m
}

// around are values of which the mean is x and the standard error err.
func around(x, err float64) [][]float64 {
	return [][]float64{{x - err}, {x + err}} // a standard deviation of err*sqrt(2), of two values
}

func TestJudgeHoldsTheMeanAndItsErrorAgainstTheBand(t *testing.T) {
	ran := func(uint64) []float64 { return nil }
	for _, c := range []struct {
		mean, err float64
		want      string
	}{
		{0.40, 0, shown}, {0.33, 0.004, shown}, {0.33, 0.006, edge}, {0.31, 0.006, edge}, {0.31, 0.004, outside},
		{0.47, 0.004, shown}, {0.49, 0.006, edge}, {0.49, 0.004, outside}, {math.NaN(), 0, outside},
	} {
		r := row{run: ran, Measures: []measure{by("share", 0.40)}}
		o := r.judge(around(c.mean, c.err))
		assert.Equal(t, c.want, o.Verdict, "%v", c)
		if c.mean == c.mean {
			assert.InDelta(t, c.err, o.Figures[0].Error, 1e-12)
		}
	}
	assert.Equal(t, notRepeated, row{}.judge(nil).Verdict)
}

func TestBandsAreOnBothSidesOfThePapersFigure(t *testing.T) {
	for _, m := range []measure{by("share", 0.5), by("times", 2), by("flat", 0), by("gain", 0.5), by("faster", 2)} {
		assert.False(t, math.IsInf(m.lo, 0) || math.IsInf(m.hi, 0))
	}
	assert.Equal(t, 0.025, by("gain", 0.05).lo, "a loss is no gain of 5 %")
	assert.Equal(t, 1.0, by("faster", 1.05).lo)
	assert.Equal(t, outside, by("faster", 1.085).verdict(0.98, 0), "a sign that is wrong is outside")
	assert.Equal(t, shown, by("share", 0).verdict(-0.07, 0), "no difference is not half of itself")
}

// A band of 8 points around a share of 7 % would hold one of 0.
func TestASmallShareIsJudgedByHalfOfTheFigure(t *testing.T) {
	for _, c := range []struct{ want, lo, hi float64 }{
		{0.4, 0.32, 0.48}, {0.16, 0.08, 0.24}, {0.14, 0.07, 0.21}, {0.069, 0.0345, 0.1035}, {0.01, 0.005, 0.015},
		{-0.1, -0.15, -0.05},
	} {
		m := by("share", c.want)
		assert.InDeltaSlice(t, []float64{c.lo, c.hi}, []float64{m.lo, m.hi}, 1e-12, "%v", c.want)
	}
	assert.Equal(t, outside, by("share", 0.069).verdict(0.004, 0.0017))
	both := by("either", 0.07, 0.09)
	assert.InDeltaSlice(t, []float64{0.035, 0.135}, []float64{both.lo, both.hi}, 1e-12)
}

// A row is as bad as the worst figure that is judged; what it was calibrated to, and what the paper has not, is none
// of them.
func TestARowIsAsBadAsItsWorstJudgedFigure(t *testing.T) {
	r := row{
		run:      func(uint64) []float64 { return nil },
		Measures: []measure{by("times", 1), by("times", 1), by("input"), by("besides")},
	}
	verdict := func(a, b float64) string { return r.judge([][]float64{{a, b, 99, 99}}).Verdict }
	assert.Equal(t, shown, verdict(1, 1))
	assert.Equal(t, outside, verdict(1, 2))
	assert.Equal(t, edge, worse(edge, shown))
	assert.Equal(t, outside, worse(edge, outside))
	o := r.judge([][]float64{{1, 1, 99, 99}})
	assert.Empty(t, o.Figures[2].Verdict)
	assert.Equal(t, "calibrated", o.Figures[2].standing())
	assert.Equal(t, edge, both(shown, outside), "what two sets of seeds do not agree on")
	assert.Equal(t, outside, both(outside, outside))
}

func TestSameSeedsSameTable(t *testing.T) {
	table := func(args ...string) string {
		var out bytes.Buffer
		require.NoError(t, run(args, &out, io.Discard))
		return out.String()
	}
	one := table("-row", "L5,l6", "-seeds", "2", "-seed", "7")
	assert.Equal(t, one, table("-row", "L5,L6", "-seeds", "2", "-seed", "7"))
	assert.NotEqual(t, one, table("-row", "L5,L6", "-seeds", "2", "-seed", "8"))
}

func TestPrintsThePage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "claims.md")
	var out bytes.Buffer
	require.NoError(t, run([]string{"-row", "L1,M14", "-page", page}, &out, io.Discard))
	assert.Contains(t, out.String(), "| L1 waiting for a fast node (A) **shown** | §5.4.3 |")
	assert.Contains(t, out.String(), "(B) **not reproducible** |")
	assert.Contains(t, out.String(), "- **M14** ")
	assert.NotContains(t, out.String(), "## FAIR", "a table without rows")
	assert.True(t, strings.HasSuffix(out.String(), "A (exact): 1 of 1 shown; B (experiments): 0 of 1 shown, 1 not reproducible.\n"))
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "| L1 waiting for a fast node (A) **shown** | §5.4.3 |")
	assert.Contains(t, string(text), "| Mantri | abstract | jobs of a production cluster end 32 % sooner | M14 **not reproducible** |  | Bing's")
	assert.Contains(t, string(text), "The seeds begin at 1. A row has 20 seeds.")
}

func TestPageHoldsTwoSetsOfSeedsAgainstEachOther(t *testing.T) {
	page := filepath.Join(t.TempDir(), "claims.md")
	require.NoError(t, run([]string{"-row", "L1,L5", "-seeds", "3", "-again", "9", "-page", page}, io.Discard, io.Discard))
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "-seed 1 -again 9 -seeds 3`")
	assert.Contains(t, string(text), "from 1 on, and, in the column **Again**, from 9 on.")
	a := []outcome{{about: about{ID: "X"}, Verdict: shown}, {about: about{ID: "Y"}, Verdict: outside}}
	b := []outcome{{about: about{ID: "X"}, Verdict: edge}, {about: about{ID: "Y"}, Verdict: outside}}
	assert.Contains(t, twice(a, b, options{}), "X (shown, at the edge).")
	assert.Contains(t, twice(a, a, options{}), "there is none")
}

func TestUnknownRow(t *testing.T) {
	assert.ErrorContains(t, run([]string{"-row", "Z9"}, io.Discard, io.Discard), "Z9")
	assert.ErrorContains(t, run([]string{"-seeds", "-1"}, io.Discard, io.Discard), "-seeds")
}

// LATE's Table 2 is 62 MB/s for a machine that is alone, and less the more machines write on a physical machine.
func TestMachinesWriteAsFastAsInTable2(t *testing.T) {
	for i, want := range []float64{61.8, 56.5, 53.6, 46.4, 34.2, 25.4, 24.8} {
		assert.InEpsilon(t, want, writeRate(i+1), 0.15, "%d machines", i+1)
	}
}

// A headline names figures of a row, and says why it is not shown. It is as bad as the worst of its figures.
func TestHeadlines(t *testing.T) {
	rows := allRows()
	var outcomes, again []outcome
	for _, r := range rows {
		o := outcome{about: r.about, Verdict: shown}
		for range r.Measures {
			o.Figures = append(o.Figures, figure{Verdict: shown})
		}
		outcomes, again = append(outcomes, o), append(again, o)
	}
	for _, h := range allHeadlines() {
		i := slices.IndexFunc(rows, func(r row) bool { return r.ID == h.Row })
		require.GreaterOrEqual(t, i, 0, h.Sentence)
		for _, k := range h.Figures {
			assert.Less(t, k, len(rows[i].Measures), h.Sentence)
		}
		assert.LessOrEqual(t, len(strings.Fields(h.Why)), 10, h.Sentence)
	}
	var b strings.Builder
	writeHeadlines(&b, outcomes, again)
	assert.Equal(t, len(allHeadlines()), strings.Count(b.String(), "shown"))
	i := slices.IndexFunc(rows, func(r row) bool { return r.ID == "M5" })
	again[i].Figures = slices.Clone(again[i].Figures)
	again[i].Figures[1].Verdict = outside
	b.Reset()
	writeHeadlines(&b, outcomes, again)
	assert.Contains(t, b.String(), "M5 **at the edge**", "one of two sets of seeds has it outside")
	b.Reset()
	writeHeadlines(&b, outcomes[:1], nil)
	assert.Equal(t, 2, strings.Count(b.String(), "\n"), "a page of some rows has the headlines of these rows")
}
