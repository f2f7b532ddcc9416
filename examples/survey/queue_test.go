package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQueueFlags(t *testing.T) {
	assert.ErrorContains(t, run([]string{"-queue", "log.json"}, io.Discard),
		`-queue reads no log, but the command line has "log.json"`)
	assert.ErrorContains(t, run([]string{"-queue", "-seeds", "0"}, io.Discard), "-seeds is 0, want at least 1")
	assert.ErrorContains(t, run([]string{"-queue", "-cells", "nowhere"}, io.Discard), `no scenario matches "nowhere"`)
	assert.ErrorContains(t, run([]string{"-queue", "-cells", "("}, io.Discard), "-cells")
	assert.ErrorContains(t, run([]string{"-queue", "-policies", "best"}, io.Discard), "best")
	assert.ErrorContains(t, run([]string{"-shadow"}, io.Discard), "-shadow is about a job queue")
	assert.ErrorContains(t, run([]string{"-queue", "-worlds"}, io.Discard), "-queue and -worlds are two surveys")
	assert.ErrorContains(t, run([]string{"-queue", "-calibration"}, io.Discard), "-queue and -calibration are two surveys")
}

func TestQueueTable(t *testing.T) {
	table := func(args ...string) string {
		var b bytes.Buffer
		require.NoError(t, run(append([]string{"-queue", "-seeds", "2", "-cells", "healthy|dies"}, args...), &b))
		return b.String()
	}
	text := table()
	assert.Equal(t, text, table())
	assert.Contains(t, text, "\n| healthy | ")
	assert.Contains(t, text, " lost | ", "the plain queue loses the tasks of a worker that dies")
	assert.Contains(t, text, "straggler in 2 scenarios: over 1.03 of naive's time in ")
	assert.NotContains(t, text, "dryad")
	assert.Contains(t, table("-policies", "dryad"), "| dryad |")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines[1:4] {
		assert.Equal(t, strings.Count(lines[0], "|"), strings.Count(line, "|"), line)
	}
}
