package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goTestRuns writes twelve logs of one package with one test. In the first four the test runs; the others come from
// the function. It returns the directory.
func goTestRuns(t *testing.T, others func(day string) string) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 12 {
		day := fmt.Sprintf(`{"Time":"2026-03-%02dT10:`, i+1)
		text := day + `00:00Z","Action":"start","Package":"p"}
` + day + `00:00Z","Action":"run","Package":"p","Test":"TestLong"}
`
		if i < 4 {
			text += day + `00:50Z","Action":"pass","Package":"p","Test":"TestLong","Elapsed":50}
` + day + `00:51Z","Action":"pass","Package":"p","Elapsed":51}
`
		} else {
			text += others(day)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("r%02d.json", i)), []byte(text), 0o600))
	}
	return dir
}

// No saving is claimed for runs that were not the same work: results from a cache, and runs in which a test was
// skipped. The first screen counts them.
func TestNoSavingRestsOnWhatDidNotRun(t *testing.T) {
	for kind, others := range map[string]func(day string) string{
		"packages from the cache: 8, tests from the cache: 8": func(day string) string {
			return day + `00:00Z","Action":"pass","Package":"p","Test":"TestLong","Elapsed":50}
` + day + `00:00Z","Action":"output","Package":"p","Output":"ok  \tp\t(cached)\n"}
` + day + `00:00Z","Action":"pass","Package":"p","Elapsed":0.001}
`
		},
		"skipped tests: 8": func(day string) string {
			return day + `00:00Z","Action":"skip","Package":"p","Test":"TestLong","Elapsed":0}
` + day + `00:01Z","Action":"pass","Package":"p","Elapsed":1}
`
		},
	} {
		code, out, errors := call("-policy", "least-cost", goTestRuns(t, others))
		require.Zero(t, code, errors)
		assert.Contains(t, out, "did not run: "+kind)
		assert.Contains(t, out, "No saving can be claimed")
		assert.NotContains(t, out, "would have saved")
		assert.NotContains(t, out, "not replayed")
	}
}

// Runs that did run are compared: the same twelve logs, of which four took half a minute longer.
func TestRunsOfATestAreCompared(t *testing.T) {
	code, out, errors := call("-policy", "least-cost", goTestRuns(t, func(day string) string {
		return day + `00:20Z","Action":"pass","Package":"p","Test":"TestLong","Elapsed":20}
` + day + `00:21Z","Action":"pass","Package":"p","Elapsed":21}
`
	}))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "would have saved")
	assert.NotContains(t, out, "did not run")
}
