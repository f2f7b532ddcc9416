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
	const tasks = 8
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
	require.NoError(t, check(dir, tasks, right))

	count := filepath.Join(dir, "count-7")
	text, err := os.ReadFile(count)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(count, text[:len(text)/2], 0o644))
	require.Error(t, check(dir, tasks, right))
	require.NoError(t, os.Remove(count))
	require.Error(t, check(dir, tasks, right))
}

func TestComparison(t *testing.T) {
	var b strings.Builder
	outcomes := func(seconds time.Duration) []outcome {
		return []outcome{{result: array.Result{Elapsed: seconds * time.Second, Copies: 1, Restarts: 2, Reruns: 3, Cancelled: 4}}}
	}
	runs := map[string][]outcome{"none": outcomes(40), "default": append(outcomes(20), outcome{problem: os.ErrNotExist})}
	comparison.Print(&b, "A test", []string{"none", "default"}, runs)
	assert.Equal(t, `
A test:

| policy  |   time | of none | copies | restarts | after loss | cancelled | correct |
| ------- | -----: | ------: | -----: | -------: | ---------: | --------: | ------: |
| none    | 40.0 s |    1.00 |      1 |        2 |          3 |         4 |     1/1 |
| default | 10.0 s |    0.25 |      0 |        1 |          2 |         2 |     1/2 |
`, b.String())
}
