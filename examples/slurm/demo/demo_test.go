package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/slurm/array"
)

// The script counts right, without Slurm, and check sees it where it does not.
func TestWordCount(t *testing.T) {
	dir := t.TempDir()
	sizes := make([]int, tasks)
	for task := range sizes {
		sizes[task] = 1
	}
	right, err := writeText(dir, sizes)
	require.NoError(t, err)
	assert.Equal(t, tasks*linesPerSlice*wordsPerLine, right.sum())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pace-n0"), []byte("0\n"), 0o644))
	for task := range sizes {
		command := exec.Command("bash", "-c", string(script), "wordcount.sh", dir)
		command.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID="+strconv.Itoa(task), "SLURMD_NODENAME=n0",
			"STRAGGLER_OUT="+dir, "STRAGGLER_PROGRESS="+filepath.Join(dir, "progress"))
		said, err := command.Output()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "wordcount-"+strconv.Itoa(task)+".out"), said, 0o644))
	}
	progress, err := os.ReadFile(filepath.Join(dir, "progress"))
	require.NoError(t, err)
	assert.Equal(t, "100/100\n", string(progress))
	require.NoError(t, check(dir, right))

	count := filepath.Join(dir, "count-7")
	text, err := os.ReadFile(count)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(count, text[:len(text)/2], 0o644))
	require.Error(t, check(dir, right))
	require.NoError(t, os.Remove(count))
	require.Error(t, check(dir, right))
}

func TestTable(t *testing.T) {
	var b strings.Builder
	seconds := func(n time.Duration) outcome {
		return outcome{result: array.Result{Elapsed: n * time.Second, Copies: int(n)}}
	}
	s := scenario{title: "A test", policies: []string{"none", "late,min-age=2s"}}
	table(&b, s, map[string][]outcome{
		"none":            {seconds(30), seconds(40), seconds(20)},
		"late,min-age=2s": {seconds(10), {problem: os.ErrNotExist}, seconds(20), seconds(14)},
	})
	assert.Equal(t, `
A test:

| policy          |     time | relative | copies | restarts | after loss | cancelled | correct |
|-----------------|---------:|---------:|-------:|---------:|-----------:|----------:|--------:|
| none            |   30.0 s |     1.00 |     30 |        0 |          0 |         0 |     3/3 |
| late,min-age=2s |   12.0 s |     0.40 |     12 |        0 |          0 |         0 |     3/4 |
`, b.String())
	_, err := pick([]string{"slow", "fast"})
	require.ErrorContains(t, err, "no such scenario")
}
