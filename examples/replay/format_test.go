package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"straggler-examples/internal/trace"
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

// What the page and the help show is read as they say.
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
		"job", "phase", "task", "attempt", "start", "finish", "state", "host", "rack", "executor", "cores", "input", "shuffle", "output",
		"ready", "speculative", "locality", "preferred", "splits", "name", "kin", "family", "tasks", "submitted", "completed", "after",
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

// The examples beside the help are the same log, and hold a straggler.
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
	assert.Contains(t, out, "1 task (12.5%) takes over 1.5 times the median")
}

// The converters that the page shows work as they stand.
func TestConverters(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to run them with")
	}
	inputs := []string{
		"JobID|JobName|Start|End|State|NodeList\n12_0|sim|2026-03-01T10:00:00|2026-03-01T10:10:00|COMPLETED|n1\n" +
			"12_1|sim|2026-03-01T10:00:00|2026-03-01T10:40:00|COMPLETED|n2\n12_2|sim|2026-03-01T10:00:00|Unknown|RUNNING|n2\n" +
			"12_2.batch|batch|2026-03-01T10:00:00|Unknown|RUNNING|n2\n13|other|Unknown|Unknown|PENDING|None assigned\n",
		"process\ttag\tattempt\tstatus\tstart\tcomplete\trchar\thostname\n" +
			"align\ts1\t1\tCOMPLETED\t1700000000000\t1700000060000\t640\tn1\nalign\ts2\t1\tFAILED\t1700000000000\t1700000010000\t64\tn2\n" +
			"align\ts2\t2\tCOMPLETED\t1700000011000\t1700000090000\t650\tn1\nalign\ts3\t1\tCACHED\t-\t-\t0\t-\n",
	}
	converters := blocks(t, "python")
	require.Len(t, converters, len(inputs))
	for i, text := range converters {
		assert.LessOrEqual(t, strings.Count(text, "\n"), 12, "short enough to copy")
		convert := exec.Command(python, "-c", text)
		convert.Stdin = strings.NewReader(inputs[i])
		out, err := convert.CombinedOutput()
		require.NoError(t, err, string(out))
		log, err := trace.Read(bytes.NewReader(out), "converted")
		require.NoError(t, err)
		assert.Zero(t, log.Faults.Total(), string(out))
		require.Len(t, log.Phases, 1)
		assert.Len(t, log.Phases[0].Attempts, 3, string(out))
	}
}
