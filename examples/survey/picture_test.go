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

// docs/worlds.svg shows the table of docs/worlds.md.
func TestThePictureIsOfThePage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "worlds.svg")
	require.NoError(t, run([]string{"-worlds", "-svg", file, "-from", "../../docs/worlds.md"}, io.Discard))
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
	page, err := os.ReadFile("../../docs/worlds.md")
	require.NoError(t, err)
	text := string(page)
	text = text[strings.Index(text, "## All cells"):]
	assert.Equal(t, strings.Count(text, "| harm"), strings.Count(string(shown), `class="mark"><title>harm`))
}

// The command draws what it has played: a cell for each world, model and player.
func TestThePictureIsOfTheRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "worlds.svg")
	var table bytes.Buffer
	require.NoError(t, run([]string{"-worlds", "-seeds", "1", "-cells", "^15 % attempts 8x/1w (none|linear)",
		"-policies", "mantri", "-svg", file}, &table))
	drawn, err := os.ReadFile(file)
	require.NoError(t, err)
	page := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(page, table.Bytes(), 0o644))
	again := filepath.Join(t.TempDir(), "again.svg")
	require.NoError(t, run([]string{"-worlds", "-svg", again, "-from", page}, io.Discard))
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
	empty := filepath.Join(t.TempDir(), "empty.md")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	odd := filepath.Join(t.TempDir(), "odd.md")
	page := "| world | progress | ideal | good alone | a | |\n|---|---|---|---|---|---|\n| w | none | | | fast | |\n"
	require.NoError(t, os.WriteFile(odd, []byte(page), 0o644))
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
