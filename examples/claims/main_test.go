package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExactRowsMatch(t *testing.T) {
	for _, r := range allRows() {
		if r.tier == exact {
			t.Run(r.id, func(t *testing.T) {
				o := r.judge([][]float64{r.run(1)})
				assert.Equal(t, shown, o.Verdict, "%+v", o.Figures)
			})
		}
	}
}

func TestRowsAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range allRows() {
		assert.False(t, seen[r.id], "%s is there twice", r.id)
		seen[r.id] = true
		assert.NotEmpty(t, r.where, r.id)
		assert.NotEmpty(t, r.claim, r.id)
		if r.run == nil {
			assert.NotEmpty(t, r.note, "%s says why it cannot be run", r.id)
			continue
		}
		assert.NotEmpty(t, r.measures, r.id)
		for _, m := range r.measures {
			assert.LessOrEqual(t, m.lo, m.hi, "%s: %s", r.id, m.name)
		}
	}
}

func TestJudgeHoldsTheMeanAgainstTheBand(t *testing.T) {
	r := row{tier: inBand, run: func(uint64) []float64 { return nil }, measures: []measure{within("x", "", 1, 2), atMost("y", "", 0)}}
	o := r.judge([][]float64{{1, -1}, {2, 0.5}})
	assert.Equal(t, shown, o.Verdict)
	assert.Equal(t, 1.5, o.Figures[0].Mean)
	assert.InDelta(t, math.Sqrt(0.5), o.Figures[0].Spread, 1e-12)
	o = r.judge([][]float64{{1, 1}, {2, 0.5}})
	assert.Equal(t, outside, o.Verdict)
	assert.True(t, o.Figures[0].Inside)
	assert.False(t, o.Figures[1].Inside)
	o = r.judge([][]float64{{math.NaN(), 0}})
	assert.Equal(t, outside, o.Verdict, "what is no number is in no band")
	assert.Equal(t, notRepeated, row{}.judge(nil).Verdict)
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

func TestJSONAndPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "claims.md")
	var out bytes.Buffer
	require.NoError(t, run([]string{"-row", "L1,M14", "-json", "-page", page}, &out, io.Discard))
	var outcomes []outcome
	require.NoError(t, json.Unmarshal(out.Bytes(), &outcomes))
	require.Len(t, outcomes, 2)
	assert.Equal(t, shown, outcomes[0].Verdict)
	assert.Equal(t, notRepeated, outcomes[1].Verdict)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "| L1 (A) | §5.4.3 |")
	assert.Contains(t, string(text), "Seeds 1 to 20")
}

func TestUnknownRow(t *testing.T) {
	assert.ErrorContains(t, run([]string{"-row", "Z9"}, io.Discard, io.Discard), "Z9")
	assert.ErrorContains(t, run([]string{"-seeds", "-1"}, io.Discard, io.Discard), "-seeds")
}
