package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWorldsFlags(t *testing.T) {
	assert.ErrorContains(t, run([]string{"-worlds", "log.json"}, io.Discard), "log.json")
	assert.ErrorContains(t, run([]string{"-worlds", "-seeds", "0"}, io.Discard), "-seeds is 0")
	assert.ErrorContains(t, run([]string{"-worlds", "-set", "mine"}, io.Discard), "mine")
	assert.ErrorContains(t, run([]string{"-worlds", "-list", "last"}, io.Discard), "last")
	assert.ErrorContains(t, run([]string{"-worlds", "-cells", "nowhere"}, io.Discard), "nowhere")
	assert.ErrorContains(t, run([]string{"-worlds", "-noise", "0"}, io.Discard), "-noise is 0")
	assert.ErrorContains(t, run([]string{"-worlds", "-noise", "Inf"}, io.Discard), "-noise is +Inf")
	assert.ErrorContains(t, run([]string{"-worlds", "-policies", "best"}, io.Discard), "best")
}

// A noise factor of 1 changes nothing. A factor of 2 changes the cells with noisy progress.
func TestWorldsNoise(t *testing.T) {
	table := func(args ...string) string {
		var b bytes.Buffer
		require.NoError(t, run(append([]string{"-worlds", "-seeds", "2", "-policies", "mantri"}, args...), &b))
		return b.String()
	}
	noisy := []string{"-cells", "^15 % attempts 8x/3w noisy"}
	assert.Equal(t, table(noisy...), table(append(noisy, "-noise", "1")...))
	assert.NotEqual(t, table(noisy...), table(append(noisy, "-noise", "2")...))
	// This world is in another list than first.
	assert.Contains(t, table("-list", "all", "-cells", "^25 % attempts 3x/2w noisy"), "\n| 25 % attempts 3x/2w | noisy |")
}

// The flag -list chooses cells, and -set seeds. The default has the column at its place in -policies, and the marks are
// about it.
func TestWorldsSets(t *testing.T) {
	var b bytes.Buffer
	args := []string{"-worlds", "-seeds", "1", "-policies", "by-hand,default", "-cells", "hang", "-list", "own"}
	require.NoError(t, run(args, &b))
	assert.Contains(t, b.String(), "| good alone | by-hand | default | faults |")
	assert.Contains(t, b.String(), "\n| 10 % hang, timeout 1500 s/1w | linear |")
	assert.Contains(t, b.String(), "| | cells | mean | excess | harm |")
	assert.Equal(t, 1, strings.Count(b.String(), "% hang, timeout 1500 s/1w | "),
		"the list own has this world under one model only")
	work := b.String()
	b.Reset()
	require.NoError(t, run(append(args, "-set", "proof"), &b))
	assert.NotEqual(t, work, b.String(), "the set proof has other seeds than the set work")
	assert.ErrorContains(t, run(append(args, "-set", "own"), io.Discard), `-set is "own"`)
}

func TestWorldsTable(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, run([]string{"-worlds", "-seeds", "1", "-cells", "^5 % attempts 8x/1w (none|linear)", "-policies",
		"mantri,idle-gain=2,dryad"}, &b))
	assert.Contains(t, b.String(), "| good alone | default | with a record | mantri,idle-gain=2 | dryad | faults |")
	assert.Equal(t, 2, strings.Count(b.String(), "\n| 5 % attempts 8x/1w | "), "the world is simulated under two models")
}
