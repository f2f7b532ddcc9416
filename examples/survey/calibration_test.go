package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCalibration(t *testing.T) {
	var first, again strings.Builder
	args := []string{"-calibration", "-policies", "least-cost", "-phases", "8", "-seeds", "2", "-progress", "linear,none"}
	require.NoError(t, run(args, &first))
	require.NoError(t, run(args, &again))
	assert.Equal(t, first.String(), again.String(), "the tables do not depend on the order in which the seeds are replayed")
	assert.Contains(t, first.String(), "| linear | progress |")
	assert.Contains(t, first.String(), "| none | age |")
	assert.Contains(t, first.String(), "| linear | restart |")
	assert.NotContains(t, first.String(), "NaN")
	assert.Equal(t, 1, strings.Count(first.String(), "### "), "with one log, there is no table of all logs together")
	assert.Contains(t, first.String(), " are right to 5 points at each tenth of t_rem.")
}

// The table of all logs together has the sums of the tables of the logs.
func TestCalibrationTogether(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-calibration", "-policies", "least-cost", "-phases", "0", "-seeds", "1", "-progress", "linear"}
	for _, job := range []string{"a", "b"} {
		path := filepath.Join(dir, job)
		require.NoError(t, os.WriteFile(path, []byte(attempts(job)), 0o644))
		args = append(args, path)
	}
	var w strings.Builder
	require.NoError(t, run(args, &w))
	var looks []int
	for _, m := range regexp.MustCompile(`\| linear \| progress \| (\d+) \|`).FindAllStringSubmatch(w.String(), -1) {
		n, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		looks = append(looks, n)
	}
	require.Len(t, looks, 3)
	assert.Equal(t, looks[2], looks[0]+looks[1])
}

func TestCalibrationRefuses(t *testing.T) {
	var w strings.Builder
	assert.ErrorContains(t, run([]string{"-calibration", "-policies", "late,dryad"}, &w), "mantri")
	assert.ErrorContains(t, run([]string{"-calibration", "-worlds"}, &w), "choose one")
}
