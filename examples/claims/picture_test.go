package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docs/claims.svg shows the tables of docs/claims.md, and the page has the text that -page writes.
func TestThePictureIsOfThePage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "claims.svg")
	require.NoError(t, run([]string{"-svg", file, "-from", "../../docs/claims.md"}, io.Discard, io.Discard))
	drawn, err := os.ReadFile(file)
	require.NoError(t, err)
	shown, err := os.ReadFile("../../docs/claims.svg")
	require.NoError(t, err)
	assert.True(t, bytes.Equal(drawn, shown), "docs/claims.svg is out of date: draw it with the command on the page")
	assert.Greater(t, strings.Count(string(shown), "<circle"), 100)
	page, err := os.ReadFile("../../docs/claims.md")
	require.NoError(t, err)
	_, picture, _ := strings.Cut(pageText, "The same seeds make the same table.\n")
	assert.Contains(t, string(page), picture)
}

// A page that was just written can be drawn.
func TestAWrittenPageIsDrawn(t *testing.T) {
	page, file := filepath.Join(t.TempDir(), "claims.md"), filepath.Join(t.TempDir(), "claims.svg")
	require.NoError(t, run([]string{"-row", "L1,L6", "-seeds", "1", "-page", page}, io.Discard, io.Discard))
	require.NoError(t, run([]string{"-svg", file, "-from", page}, io.Discard, io.Discard))
	drawn, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(drawn), "<title>L6 sleep job, Hadoop&#39;s copies, seconds: measured ")
	assert.NotContains(t, string(drawn), "<title>L1 ", "a row without random numbers")
}

func TestPlaceInTheBand(t *testing.T) {
	for _, c := range []struct {
		band      string
		figure, x float64
	}{
		{"2 to 4", 3, 0}, {"2 to 4", 2, -1}, {"2 to 4", 4.5, 1.5}, {"-4 to -2", -5, -2},
		{">= 2", 2, -1}, {">= 2", 1.8, -2}, {">= 2", 9, 0}, {"<= 2", 2, 1}, {"<= 2", 2.2, 2}, {"<= 2", 0, 0},
		{">= 0", -.08, -2}, {">= 0.2", .12, -2}, {"5", 5, 0},
	} {
		x, half, err := inBand(c.band, c.figure)
		require.NoError(t, err)
		assert.Positive(t, half)
		assert.InDelta(t, c.x, x, 1e-9, c)
	}
	for _, band := range []string{"", "a to b", ">= x", "3 to 3", "4 to 3"} {
		_, _, err := inBand(band, 1)
		assert.ErrorContains(t, err, "the band is")
	}
	assert.Equal(t, edge, verdict("shown; **outside**"))
	assert.Equal(t, outside, verdict("**outside**"))
	assert.Equal(t, shown, verdict("shown; shown"))
}

func TestPicturesThatCannotBeDrawn(t *testing.T) {
	file, empty, odd := filepath.Join(t.TempDir(), "x.svg"), filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	head := "| Row | Where | Measure | Paper | Band | Measured | ± s.e. | Again | Figure |\n|---|\n"
	require.NoError(t, os.WriteFile(odd, []byte(head+"| L6 a (B) **shown** | a | b | 1 | 1 to 2 | many | | | shown |\n"), 0o644))
	for want, args := range map[string][]string{
		"-svg and -from go together":                         {"-svg", file},
		"-svg and -from go together: the file":               {"-from", empty},
		"there is no table of claims to draw":                {"-svg", file, "-from", empty},
		"no such file":                                       {"-svg", file, "-from", file},
		`L6 a: the measured figure is "many", want a number`: {"-svg", file, "-from", odd},
	} {
		assert.ErrorContains(t, run(args, io.Discard, io.Discard), want)
		assert.NoFileExists(t, file)
	}
}
