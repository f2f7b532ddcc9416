package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/temporal/internal/cluster"
	"github.com/straggler-go/straggler/examples/temporal/wordcount"
)

func TestMain(m *testing.M) {
	cluster.RunHost(serve)
	os.Exit(m.Run())
}

func TestWrongCalls(t *testing.T) {
	for args, want := range map[string]string{
		"-runs 0":          "want 1 or more",
		"-machines 1":      "-machines is 1, want 2 to 16",
		"-tasks 3":         "-tasks is 3, want 4 (the number of machines) to 256",
		"-policies hope":   `policy "hope" is unknown; some policies are none, naive, default`,
		"-scenarios flood": `name "flood" is unknown, want some of clean, slow, skew, small, silent, death, pause, server`,
		"-runs many":       `"many"`,
		"-runs 2 mantri":   `unknown argument "mantri"`,
		"-v=maybe":         `"maybe"`,
	} {
		err := run(t.Context(), strings.Fields(args), io.Discard, io.Discard)
		assert.ErrorIs(t, err, errUsage, args)
		assert.ErrorContains(t, err, want, args)
	}
	var help bytes.Buffer
	assert.ErrorIs(t, run(t.Context(), []string{"-h"}, io.Discard, &help), flag.ErrHelp)
	for _, word := range []string{"-scenarios", "server", "dolly"} {
		assert.Contains(t, help.String(), word)
	}
}

// A run that nobody reads ends, and leaves nothing behind.
func TestOutputThatBreaks(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	reader, writer := io.Pipe()
	require.NoError(t, reader.Close())
	err := run(t.Context(), nil, writer, io.Discard)
	assert.ErrorIs(t, err, io.ErrClosedPipe)
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestScenarios(t *testing.T) {
	all := scenarios(64, 4)
	slow, skew, small := all[1], all[2], all[3]
	assert.Len(t, slow.sizes, 64)
	assert.Equal(t, 16, slow.slots)
	large := 0
	for _, size := range skew.sizes {
		if size == skewed*smallSize {
			large++
		}
	}
	assert.Equal(t, 8, large, "one of eight")
	assert.Equal(t, skewed*smallSize, slices.Max(skewedSizes(2)), "one at least")
	assert.Len(t, small.sizes, 6)
	assert.Equal(t, 16, small.slots, "the cluster is as large as ever")
}

// drawn is a run whose times are round.
func drawn() *outcome {
	begun := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return begun.Add(time.Duration(seconds) * time.Second) }
	return &outcome{Scenario: "slow", Policy: "mantri", Seconds: columns, begun: begun,
		won: []string{"map-0.0-1", "map-1.1-1", "reduce-0.0-1"},
		attempts: []wordcount.Attempt{
			{Name: "map-0.0-1", Host: "a", Begin: at(0), End: at(10)},
			{Name: "map-1.1-1", Host: "a", Begin: at(12), End: at(20)},
			{Name: "reduce-0.0-1", Host: "a", Begin: at(11), End: at(30)},
			{Name: "map-1.0-1", Host: "b", Begin: at(1), End: at(11)},
		}}
}

func TestTimeline(t *testing.T) {
	var all, few bytes.Buffer
	drawn().timeline(&all, 9)
	assert.Equal(t, `
slow, mantri: 100.0 s, one column is 1.00 s
a                    |#######*
         |##########|===================
b         |---------x
`, all.String())
	drawn().timeline(&few, 1)
	assert.Equal(t, `
slow, mantri: 100.0 s, one column is 1.00 s
a                    |#######*
         and 1 more
b         |---------x
`, few.String())
}

func TestComparison(t *testing.T) {
	var b bytes.Buffer
	one := &outcome{Seconds: 30, Copies: 1, Restarts: 2, Clones: 3, Lost: 4, Wasted: 5, Events: 6}
	comparison.Print(&b, "A test", []string{"none", "naive"}, map[string][]*outcome{
		"none": {one}, "naive": {{Seconds: 10}, {Seconds: 20, Wrong: []string{"x"}}},
	})
	assert.Equal(t, `
A test:

| policy |   time | of none | of naive | copies | restarts | clones | lost | wasted | events | correct |
| ------ | -----: | ------: | -------: | -----: | -------: | -----: | ---: | -----: | -----: | ------: |
| none   | 30.0 s |    1.00 |     2.00 |      1 |        2 |      3 |    4 |  5.0 s |      6 |     1/1 |
| naive  | 15.0 s |    0.50 |     1.00 |      0 |        0 |      0 |    0 |  0.0 s |      0 |     1/2 |
`, b.String())
}
