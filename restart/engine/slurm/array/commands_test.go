package array

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// commands writes shell scripts that stand in for Slurm's commands, and returns Commands that run them. The map's key
// is the name of a command.
func commands(t *testing.T, scripts map[string]string) Commands {
	dir := t.TempDir()
	for name, script := range scripts {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return Commands{}
}

// Slurm's controller may accept a job although sbatch fails. Find finds such a job by the path of its script, which
// no other job has.
func TestJobIsFoundAfterALostAnswer(t *testing.T) {
	c := commands(t, map[string]string{
		"sbatch": "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1\n",
		"squeue": "case $* in *--states*) exit 1;; esac\n" + `printf '%s\037%s\036\n' 70 '/my run/3.20.job/x y.sh' ` +
			`71 '/my run/3.2.job/x y.sh a /b' 72 '' 73 '/my run2/3.1.job/x y.sh' 74 'sleep /my run/3.job/x'` + "\n",
	})
	_, err := c.Submit(context.Background(), []string{"--mem=4G"}, "/run/3.3.job/x.sh", nil)
	require.ErrorContains(t, err, "Socket timed out")
	require.ErrorContains(t, err, "sbatch --parsable --mem=4G /run/3.3.job/x.sh")
	found, err := c.Find(context.Background(), "/my run")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"3.20.job": "70", "3.2.job": "71"}, found)
}

// A cluster accepts only array indices below MaxArraySize. The error of Submit says so, although the message of
// sbatch does not.
func TestErrorNamesTheLimitOfIndices(t *testing.T) {
	const refused = "echo 'sbatch: error: Batch job submission failed: Invalid job array specification' >&2; exit 1\n"
	for config, want := range map[string]string{
		"echo 'MaxArraySize            = 1001'; echo 'MaxJobCount = 10000'\n": "the indices of an array must be below 1001 ",
		"exit 1\n":                     "sbatch --parsable --array=0-5000 ",
		"echo 'MaxJobCount = 10000'\n": "sbatch --parsable --array=0-5000 ",
	} {
		c := commands(t, map[string]string{"sbatch": refused, "scontrol": config})
		_, err := c.Submit(context.Background(), []string{"--array=0-5000"}, "/run/array.job/x.sh", nil)
		require.ErrorContains(t, err, want)
		assert.True(t, strings.HasPrefix(err.Error(), want), "%v", err)
		assert.ErrorContains(t, err, "Invalid job array specification")
	}
	c := commands(t, map[string]string{"sbatch": "echo 'sbatch: error: no room' >&2; exit 1\n", "scontrol": "touch asked\n"})
	_, err := c.Submit(context.Background(), nil, "/run/array.job/x.sh", nil)
	require.ErrorContains(t, err, "no room")
	assert.NotContains(t, err.Error(), "MaxArraySize")
	assert.NoFileExists(t, "asked", "scontrol is not asked after another error")
}

// Submit cancels a job that goes to another cluster, because on this cluster another job may have the same ID.
func TestJobOnAnotherClusterIsCancelled(t *testing.T) {
	told := filepath.Join(t.TempDir(), "told")
	t.Setenv("TOLD", told)
	c := commands(t, map[string]string{"sbatch": "echo '71;other'\n", "scancel": `echo "$@" >>"$TOLD"` + "\n"})
	_, err := c.Submit(context.Background(), nil, "/run/3.2.job/x.sh", nil)
	require.ErrorContains(t, err, "went to cluster other")
	said, err := os.ReadFile(told)
	require.NoError(t, err)
	assert.Equal(t, "--quiet --clusters=other 71\n", string(said))
}

func TestNoArraysHaveNoJobs(t *testing.T) {
	c := commands(t, map[string]string{"squeue": "exit 9\n"})
	jobs, err := c.Jobs(context.Background(), nil)
	require.NoError(t, err)
	assert.Empty(t, jobs)
}

func TestManyJobsAreCancelledInSeveralCalls(t *testing.T) {
	told := filepath.Join(t.TempDir(), "told")
	t.Setenv("TOLD", told)
	c := commands(t, map[string]string{"scancel": `echo "$#" >>"$TOLD"` + "\n"})
	require.NoError(t, c.Cancel(context.Background(), strings.Fields(strings.Repeat("71_1 ", maxIDs+3))))
	said, err := os.ReadFile(told)
	require.NoError(t, err)
	assert.Equal(t, "5001\n4\n", string(said))
}
