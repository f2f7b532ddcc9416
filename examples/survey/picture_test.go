package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// docs/worlds.svg shows the table of docs/worlds.csv.
func TestThePictureIsOfTheTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "worlds.svg")
	require.NoError(t, run([]string{"-worlds", "-svg", file, "-from", allCells}, io.Discard))
	drawn, err := os.ReadFile(file)
	require.NoError(t, err)
	shown, err := os.ReadFile("../../docs/worlds.svg")
	require.NoError(t, err)
	assert.True(t, bytes.Equal(drawn, shown), "docs/worlds.svg is out of date: draw it with the command on the page")
	for d := xml.NewDecoder(bytes.NewReader(shown)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
	}
	table, err := readCSV(allCells)
	require.NoError(t, err)
	assert.Len(t, table, 1+208)
	harms := 0
	for _, row := range table {
		if strings.HasPrefix(row[len(row)-1], "harm") {
			harms++
		}
	}
	assert.Equal(t, harms, strings.Count(string(shown), `class="mark"><title>harm`))
}

// allCells has the figures of all cells of the list first, with 30 seeds.
const allCells = "../../docs/worlds.csv"

// The figures of docs/worlds.csv come again: the test plays some cells of it with all policies and all seeds.
func TestTheTableComesAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "worlds.csv")
	cells := "^(1 % hang, timeout 1500 s/1w none|healthy/0.75w stalls)$"
	if os.Getenv("STRAGGLER_LIVES") != "" {
		cells = "/(0.75w|1w) "
	}
	require.NoError(t, run([]string{"-worlds", "-seeds", "30", "-cells", cells, "-table", file}, io.Discard))
	table, err := readCSV(allCells)
	require.NoError(t, err)
	played, err := readCSV(file)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(played), 3)
	for _, row := range played {
		assert.Contains(t, table, row)
	}
}

// The command draws what it has played: a cell for each world, model and player.
func TestThePictureIsOfTheRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "worlds.svg")
	table := filepath.Join(t.TempDir(), "worlds.csv")
	require.NoError(t, run([]string{"-worlds", "-seeds", "1", "-cells", "^15 % attempts 8x/1w (none|linear)",
		"-policies", "mantri", "-svg", file, "-table", table}, io.Discard))
	drawn, err := os.ReadFile(file)
	require.NoError(t, err)
	again := filepath.Join(t.TempDir(), "again.svg")
	require.NoError(t, run([]string{"-worlds", "-svg", again, "-from", table}, io.Discard))
	same, err := os.ReadFile(again)
	require.NoError(t, err)
	assert.Equal(t, string(drawn), string(same))
	assert.Equal(t, 2*3, strings.Count(string(drawn), "h14v14"), "two models, three players")
}

func TestShades(t *testing.T) {
	for time, want := range map[float64]string{
		20: "g4", 40: "g4", 40.1: "g3", 60: "g3", 60.1: "g2", 80: "g2", 80.1: "g1", 95: "g1", 95.1: "none", 100.5: "none",
		100.6: "h1", 103: "h1", 103.1: "h2", 110: "h2", 110.1: "h3",
	} {
		assert.Equal(t, want, shade(time), "%v", time)
	}
}

func TestPicturesThatCannotBeDrawn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.svg")
	empty := filepath.Join(t.TempDir(), "empty.csv")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	odd := filepath.Join(t.TempDir(), "odd.csv")
	require.NoError(t, os.WriteFile(odd, []byte("world,progress,ideal,good alone,a,faults\nw,none,,,fast,\n"), 0o644))
	for want, args := range map[string][]string{
		"-svg needs -worlds, and -from needs -svg": {"-svg", file},
		"and -from needs -svg":                     {"-worlds", "-from", empty},
		"there is no table of worlds to draw":      {"-worlds", "-svg", file, "-from", empty},
		"no such file":                             {"-worlds", "-svg", file, "-from", file},
		`w none: the figure of a is "fast"`:        {"-worlds", "-svg", file, "-from", odd},
	} {
		assert.ErrorContains(t, run(args, io.Discard), want)
		assert.NoFileExists(t, file)
	}
}
