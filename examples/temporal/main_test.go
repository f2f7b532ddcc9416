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

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/examples/temporal/internal/cluster"
	"github.com/straggler-go/straggler/examples/temporal/wordcount"
	"github.com/straggler-go/straggler/restart"
)

func TestMain(m *testing.M) {
	cluster.RunHost(serve)
	os.Exit(m.Run())
}

func TestWrongCalls(t *testing.T) {
	for args, want := range map[string]string{
		"-runs 0":               "-runs is 0, want 1 to 100",
		"-hosts 1":              "-hosts is 1, want 2 to 16",
		"-tasks 3":              "-tasks is 3, want 4, the hosts, to 256",
		"-policy mantri,hope":   `unknown policy "hope"; there are none, naive, late, mantri, guarded, dolly`,
		"-scenario flood":       `unknown scenario "flood"; there are slow-host, skew, small, silent, kill, pause, server`,
		"-policy mantri,mantri": `policy "mantri" is named twice`,
		"-runs many":            `"many"`,
		"-runs 2 mantri":        `unknown argument "mantri"`,
		"-json -timeline=maybe": `"maybe"`,
		"-json -timeline":       "-json and -timeline are both set, want one of them",
	} {
		err := run(t.Context(), strings.Fields(args), io.Discard, io.Discard)
		assert.ErrorIs(t, err, errUsage, args)
		assert.ErrorContains(t, err, want, args)
	}
	var help bytes.Buffer
	assert.ErrorIs(t, run(t.Context(), []string{"-h"}, io.Discard, &help), flag.ErrHelp)
	for _, word := range []string{"-scenario", "server", "dolly"} {
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

func TestNaive(t *testing.T) {
	task := func(elapsed time.Duration, copies int) restart.Task {
		return restart.Task{Copies: slices.Repeat([]restart.Copy{{Elapsed: elapsed}}, copies)}
	}
	var times estimate.Empirical
	for _, seconds := range []float64{1, 2, 3} {
		times.Insert(seconds)
	}
	for _, c := range []struct {
		elapsed  time.Duration
		copies   int
		finished int
		want     restart.Action
	}{
		{4001 * time.Millisecond, 1, 5, restart.Duplicate},
		{4 * time.Second, 1, 5, restart.Keep},
		{time.Hour, 1, 4, restart.Keep},
		{time.Hour, 2, 9, restart.Keep},
	} {
		phase := restart.Phase{Tasks: 10, Finished: c.finished, Peers: restart.Peers{Durations: &times}}
		d := naive{}.Decide(task(c.elapsed, c.copies), phase)
		assert.Equal(t, c.want, d.Action, "%+v", c)
	}
	assert.Equal(t, restart.Keep, naive{}.Decide(task(time.Hour, 1), restart.Phase{Tasks: 2, Finished: 1}).Action)
}

func TestScenarios(t *testing.T) {
	all, err := chooseScenarios("slow-host,skew,small", 64, 4)
	require.NoError(t, err)
	slow, skew, small := all[0], all[1], all[2]
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
	return &outcome{Scenario: "slow-host", Policy: "mantri", Seconds: columns, begun: begun,
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
slow-host, mantri: 100.0 s, one column is 1.00 s
a                    |#######*
         |##########|===================
b         |---------x
`, all.String())
	drawn().timeline(&few, 1)
	assert.Equal(t, `
slow-host, mantri: 100.0 s, one column is 1.00 s
a                    |#######*
         and 1 more
b         |---------x
`, few.String())
}

func TestTable(t *testing.T) {
	sums := summarize([]*outcome{
		{Scenario: "skew", Policy: "none", Seconds: 30},
		{Scenario: "skew", Policy: "naive", Seconds: 20, Copies: 3},
		{Scenario: "skew", Policy: "mantri", Seconds: 14},
		{Scenario: "skew", Policy: "none", Seconds: 50},
		{Scenario: "skew", Policy: "naive", Seconds: 22, Copies: 5, Wrong: []string{"x"}},
		{Scenario: "skew", Policy: "mantri", Seconds: 6},
		{Scenario: "kill", Policy: "mantri", Seconds: 7, Lost: 4},
	})
	var b bytes.Buffer
	require.NoError(t, printTable(&b, sums))
	assert.Equal(t, `  scenario  policy    time  of none  of naive  copies  restarts  clones  lost  wasted  events  answer
      skew    none  40.0 s     1.00      1.90       0         0       0     0   0.0 s       0   right
             naive  21.0 s     0.53      1.00       4         0       0     0   0.0 s       0   WRONG
            mantri  10.0 s     0.25      0.48       0         0       0     0   0.0 s       0   right
      kill  mantri   7.0 s        -         -       0         0       0     4   0.0 s       0   right
`, b.String())
}
