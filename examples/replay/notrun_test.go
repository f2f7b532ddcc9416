package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	dir := goTestRuns(t, func(day string) string {
		return day + `00:20Z","Action":"pass","Package":"p","Test":"TestLong","Elapsed":20}
` + day + `00:21Z","Action":"pass","Package":"p","Elapsed":21}
`
	})
	code, out, errors := call("-policy", "least-cost", dir)
	require.Zero(t, code, errors)
	assert.Contains(t, out, "would have saved")
	assert.NotContains(t, out, "did not run")
	assert.Contains(t, out, ": 1 phase, 12 tasks\n")
	assert.Contains(t, out, "the runs of a task that ran often are a phase: 1 phase, with 12 runs\n")
	assert.NotContains(t, out, "no policy is replayed")
	_, out, _ = call("-list", "-policy", "least-cost", dir)
	assert.NotContains(t, out, "not alike")
	assert.Equal(t, 2, strings.Count(out, "\n"), "the heading, and the phase of the runs")
}

// A package is no further task without a success beside the test that hangs in it: both counts on the screen say 1.
func TestAPackageOfATestThatHangs(t *testing.T) {
	const at = `{"Time":"2026-03-01T10:00:0`
	code, out, errors := call("-policy", "least-cost", file(t, at+`0Z","Action":"start","Package":"p"}
`+at+`0Z","Action":"run","Package":"p","Test":"TestFine"}
`+at+`1Z","Action":"pass","Package":"p","Test":"TestFine","Elapsed":1}
`+at+`1Z","Action":"run","Package":"p","Test":"TestHangs"}
`+at+`9Z","Action":"fail","Package":"p","Elapsed":9}
`))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "not replayed: 1 phase and 1 task without a successful attempt with known times")
	assert.Contains(t, out, "1 task never succeeded")
}
