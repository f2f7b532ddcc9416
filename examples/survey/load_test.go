package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// attempts returns a log of two phases with a straggler each. The second phase reads the output of the first.
func attempts(job string) string {
	var b strings.Builder
	for phase := range 2 {
		if phase > 0 {
			fmt.Fprintf(&b, `{"job":%q,"phase":"p1","after":["p0"]}`+"\n", job)
		}
		for task := range 8 {
			end := 20_000
			if task == 3 {
				end = 90_000
			}
			fmt.Fprintf(&b, `{"job":%q,"phase":"p%d","task":%d,"start":%d,"finish":%d,"host":"n%d"}`+"\n", job, phase, task,
				phase*100_000, phase*100_000+end, task)
		}
	}
	return b.String()
}

func TestDirectoryIsOneLine(t *testing.T) {
	dir := t.TempDir()
	for _, job := range []string{"a", "b"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, job+".jsonl"), []byte(attempts(job)), 0o644))
	}
	phases, err := load(dir)
	require.NoError(t, err)
	require.Len(t, phases, 4)
	assert.Equal(t, [][]int{nil, {0}, nil, {2}},
		[][]int{phases[0].DependsOn, phases[1].DependsOn, phases[2].DependsOn, phases[3].DependsOn})

	var w strings.Builder
	require.NoError(t, run([]string{"-phases", "0", "-seeds", "1", "-progress", "linear", "-policies", "mantri,dryad", dir}, &w))
	for _, text := range []string{"### mantri", "### dryad"} {
		assert.Equal(t, 1, strings.Count(w.String(), text))
	}
	assert.Equal(t, 2, strings.Count(w.String(), "| log | linear |"))
	assert.Equal(t, 2, strings.Count(w.String(), "| "+filepath.Base(dir)+" |"))
	assert.Equal(t, 2, strings.Count(w.String(), "Of 1 cells "))
}

// If no progress is recorded in a log, its cell of the model recorded is empty: the cell of typical has the same
// figures.
func TestRecordedWhereThereIs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	for _, splits := range []string{"", `,"splits":[9,1]`} {
		line := `{"phase":"p","task":0,"start":0,"finish":20000` + splits + "}\n"
		require.NoError(t, os.WriteFile(path, []byte(line), 0o644))
		var w strings.Builder
		require.NoError(t, run([]string{"-phases", "0", "-seeds", "1", "-progress", "typical,recorded", "-policies", "mantri",
			path}, &w))
		assert.Equal(t, splits == "", regexp.MustCompile(`\| log \| \S+ \S+ \| \|`).MatchString(w.String()), w.String())
		w.Reset()
		require.NoError(t, run([]string{"-phases", "0", "-seeds", "1", "-progress", "recorded", "-policies", "mantri", path}, &w))
		assert.NotContains(t, w.String(), "| log | |")
	}
}

func TestNothingToReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte(`{"phase":"p","task":0,"start":1}`), 0o644))
	assert.ErrorContains(t, run([]string{"-phases", "0", path}, new(strings.Builder)), "no phase has a successful attempt")
	assert.ErrorContains(t, run([]string{"-phases", "0", filepath.Join(path, "none")}, new(strings.Builder)), "none")
}
