package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate/causes"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// blocks returns the fenced blocks of a language in the page that describes the formats.
func blocks(t *testing.T, language string) (texts []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "format.md"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		texts = append(texts, m[1])
	}
	require.NotEmpty(t, texts, language)
	return texts
}

// The page defines the median of a phase by examples with an even and with an odd number of tasks.
func TestTheMedianIsAsDescribed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "format.md"))
	require.NoError(t, err)
	_, text, found := strings.Cut(strings.ReplaceAll(string(page), "\n", " "), "The median of a phase is ")
	require.True(t, found)
	text, _, found = strings.Cut(text, "([glossary]")
	require.True(t, found)
	odd := map[bool]bool{}
	for _, m := range regexp.MustCompile(`(\d+) s of (\d+ s(?:, \d+ s)* and \d+ s)`).FindAllStringSubmatch(text, -1) {
		var times []float64
		for _, s := range regexp.MustCompile(`\d+`).FindAllString(m[2], -1) {
			seconds, err := strconv.ParseFloat(s, 64)
			require.NoError(t, err)
			times = append(times, seconds)
		}
		odd[len(times)%2 == 1] = true
		assert.Equal(t, m[1], fmt.Sprint(causes.Median(times)), m[0])
	}
	assert.Equal(t, map[bool]bool{false: true, true: true}, odd, text)
}

// replay reads the examples of docs/format.md and of "replay help format" without faults. Together they name each
// field.
func TestFormatIsAsDescribed(t *testing.T) {
	for _, text := range append(blocks(t, "json"), blocks(t, "csv")...) {
		log, err := trace.Read(strings.NewReader(text), "docs/format.md")
		require.NoError(t, err)
		assert.Zero(t, log.Faults.Total(), "%s in %s", log.Faults, text)
	}
	code, help, errors := call("help", "format")
	require.Zero(t, code, errors)
	page := strings.Join(append(blocks(t, "json"), help), "")
	for _, field := range []string{
		"job", "phase", "task", "attempt", "start", "finish", "state", "host", "rack", "executor", "cores", "input",
		"shuffle", "output", "ready", "speculative", "locality", "preferred", "splits", "name", "kin", "family", "tasks",
		"submitted", "completed", "after",
	} {
		assert.Contains(t, page, field)
	}
	for _, line := range regexp.MustCompile(`(?m)^  (\{.*\})$`).FindAllStringSubmatch(help, -1) {
		log, err := trace.Read(strings.NewReader(line[1]), "help")
		require.NoError(t, err)
		assert.Zero(t, log.Faults.Total(), line[1])
	}
	for _, line := range strings.Split(help, "\n") {
		assert.LessOrEqual(t, len([]rune(line)), 130, line)
	}
}

// The two example files are the same log, and the log has a straggler.
func TestExamples(t *testing.T) {
	lines, err := trace.Open(filepath.Join("testdata", "attempts.jsonl"))
	require.NoError(t, err)
	table, err := trace.Open(filepath.Join("testdata", "attempts.csv"))
	require.NoError(t, err)
	table.Format = lines.Format
	table.Records = lines.Records
	assert.Equal(t, lines, table)
	assert.Zero(t, lines.Faults.Total())
	code, out, errors := call("-policy", "late", filepath.Join("testdata", "attempts.csv"))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "It is 1 task (12.5%), which takes 3.96 times the median of its phase.")
}
