package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func output(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, run(append([]string{"-machines", "20", "-jobs", "40"}, args...), &out, io.Discard))
	return out.String()
}

func TestShowsWhatCameOut(t *testing.T) {
	text := output(t)
	for _, want := range []string{"40 in ", "deadlines", "copies", "clones", "outputs", "slots"} {
		assert.Contains(t, text, want)
	}
	assert.Equal(t, text, output(t), "the same seed gives the same result")
	assert.NotEqual(t, text, output(t, "-seed", "2"))
}

func TestEveryMechanismRunsAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and without goroutines")
	}
	for _, name := range names() {
		assert.Contains(t, output(t, "-with", name), "40 in ", name)
	}
	assert.Contains(t, output(t, "-with", "none"), "0 copies and 0 restarts")
}

func TestExplainTellsAJobsStory(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and without goroutines")
	}
	text := output(t, "-explain", "3")
	submitted, ended := strings.Index(text, "submitted"), strings.LastIndex(text, "ended\n")
	require.Positive(t, submitted)
	assert.Greater(t, ended, submitted)
	assert.Contains(t, text, "a slot at level 0: launch local-enough", "package delay")
	assert.Contains(t, text, "keep ", "package restart")
	assert.Contains(t, output(t, "-explain", "30", "-load", "2"), "slot: serve ", "package fairshare")
	assert.Contains(t, text, "phase 0: ", "package clone")
	assert.Contains(t, text, "bottleneck=", "package placement")
	assert.Contains(t, text, "output of task 0", "package replicate")
	assert.Contains(t, output(t, "-explain", "13"), "hash function", "package skew")
	var cloned bytes.Buffer
	require.NoError(t, run([]string{"-explain", "19"}, &cloned, io.Discard))
	assert.Contains(t, cloned.String(), "own-output", "package delay/assign")
	assert.Contains(t, output(t, "-explain", "3", "-with", "laxity"), "runs most like it", "package estimate/knn")
}

func TestCompareHasARowForEachSet(t *testing.T) {
	args := []string{"-compare", "-seeds", "2"}
	if os.Getenv("STRAGGLER_LIVES") == "" {
		args = append(args, "-jobs", "8")
	}
	text := output(t, args...)
	assert.Equal(t, len(sets())+1, strings.Count(strings.TrimSuffix(text, compareLegend), "\n"))
	assert.Contains(t, text, "all but delay")
}

func TestRefusesRubbish(t *testing.T) {
	for _, args := range [][]string{
		{"-machines", "0"}, {"-racks", "9", "-machines", "3"}, {"-load", "0"}, {"-load", "NaN"}, {"-explain", "-1"},
		{"-with", "magic"}, {"-seeds", "0"}, {"-nonsense"},
	} {
		assert.Error(t, run(args, io.Discard, io.Discard), "%v", args)
	}
}
