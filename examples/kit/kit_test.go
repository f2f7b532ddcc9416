package kit_test

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/examples/kit"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

type seconds []float64

func (s seconds) Mean() float64              { return s[0] }
func (s seconds) Quantile(p float64) float64 { return s[int(p*float64(len(s)))] }
func (s seconds) CDF(float64) float64        { return 0 }

// Naive copies a task once if it has run for more than twice the median, as soon as half of the tasks have ended.
func TestNaive(t *testing.T) {
	var peers estimate.Distribution = seconds{9, 10, 10, 10, 11}
	phase := restart.Phase{Tasks: 10, Finished: 5, FreeSlots: 1, Peers: restart.Peers{Durations: peers}}
	for _, c := range []struct {
		finished, copies int
		elapsed          time.Duration
		want             restart.Action
	}{
		{5, 1, 20 * time.Second, restart.Keep},
		{5, 1, 20*time.Second + 1, restart.Copy},
		{4, 1, time.Minute, restart.Keep},
		{5, 2, time.Minute, restart.Keep},
	} {
		phase.Finished = c.finished
		task := restart.Task{Attempts: make([]restart.Attempt, c.copies)}
		task.Attempts[0].Elapsed = c.elapsed
		assert.Equal(t, c.want, kit.Naive.Decide(task, phase).Action, "%+v", c)
	}
}

func TestPolicy(t *testing.T) {
	for text, want := range map[string]restart.Policy{
		"default": nil, "none": restart.Never{}, "naive": kit.Naive, "late": rules.LATE{},
	} {
		got, err := kit.Policy(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := kit.Policy("hope")
	require.ErrorContains(t, err, "hope")
}

func TestPick(t *testing.T) {
	same := func(s string) string { return s }
	all := []string{"slow", "skew", "death"}
	got, err := kit.Pick("", all, same)
	require.NoError(t, err)
	assert.Equal(t, all, got)
	got, err = kit.Pick("death,slow", all, same)
	require.NoError(t, err)
	assert.Equal(t, []string{"slow", "death"}, got)
	_, err = kit.Pick("fast", all, same)
	require.EqualError(t, err, `name "fast" is unknown, want some of slow, skew, death`)
}

func TestChoice(t *testing.T) {
	parse := func(args ...string) (kit.Choice, error) {
		var c kit.Choice
		f := flag.NewFlagSet("", flag.ContinueOnError)
		f.SetOutput(io.Discard)
		c.Flags(f)
		return c, f.Parse(args)
	}
	own := []string{"plain", "default"}
	read := func(text string) (restart.Policy, error) {
		if text == "plain" {
			return nil, nil
		}
		return kit.Policy(text)
	}
	c, err := parse()
	require.NoError(t, err)
	assert.Equal(t, kit.Choice{Runs: 1}, c)
	got, err := kit.Policies(c.Policies, own, read)
	require.NoError(t, err)
	assert.Equal(t, own, got)
	for _, runs := range []string{"0", "-1", "many", ""} {
		_, err = parse("-runs", runs)
		require.Error(t, err, runs)
	}
	c, err = parse("-v", "-runs", "3", "-policies", " late,min-age=2s plain naive plain")
	require.NoError(t, err)
	assert.True(t, c.Verbose)
	assert.Equal(t, 3, c.Runs)
	got, err = kit.Policies(c.Policies, own, read)
	require.NoError(t, err)
	assert.Equal(t, []string{"late,min-age=2s", "plain", "naive"}, got, "the policies are in the order of the flag, each once")
	c.Policies = "default hope"
	_, err = kit.Policies(c.Policies, own, read)
	require.ErrorContains(t, err, `policy "hope" is unknown; some policies are plain, default`)
}

func TestRepeat(t *testing.T) {
	var order []string
	runs, err := kit.Repeat(2, []string{"none", "naive"}, func(policy string, n int) (string, error) {
		one := fmt.Sprint(policy, n)
		order = append(order, one)
		return one, nil
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"none1", "naive1", "none2", "naive2"}, order)
	assert.Equal(t, map[string][]string{"none": {"none1", "none2"}, "naive": {"naive1", "naive2"}}, runs)
	_, err = kit.Repeat(1, []string{"none"}, func(string, int) (int, error) { return 0, io.EOF })
	require.ErrorIs(t, err, io.EOF)
	require.ErrorContains(t, err, "none, run 1: ")
}

func TestComparison(t *testing.T) {
	type outcome struct {
		seconds float64
		copies  int
	}
	c := kit.Comparison[outcome]{
		Seconds: func(o outcome) float64 { return o.seconds },
		Right:   func(o outcome) bool { return o.copies < 9 },
		Measures: []kit.Measure[outcome]{
			kit.Count("copies", func(o outcome) int { return o.copies }),
			{Head: "wasted", Format: "%.1f s", Of: func(o outcome) float64 { return o.seconds / 4 }},
		},
	}
	runs := map[string][]outcome{
		"plain": {{30, 0}, {40, 0}, {20, 0}}, "naive": {{20, 3}, {22, 5}, {14, 9}}, "default": {{10, 2}},
	}
	var b strings.Builder
	c.Print(&b, "A test", []string{"plain", "naive", "default"}, runs)
	assert.Equal(t, `
A test:

| policy  |   time | of plain | of naive | copies | wasted | correct |
| ------- | -----: | -------: | -------: | -----: | -----: | ------: |
| plain   | 30.0 s |     1.00 |     1.50 |      0 |  7.5 s |     3/3 |
| naive   | 20.0 s |     0.67 |     1.00 |      5 |  5.0 s |     2/3 |
| default | 10.0 s |     0.33 |     0.50 |      2 |  2.5 s |     1/1 |
`, b.String())
	delete(runs, "naive")
	b.Reset()
	c.Print(&b, "A test", []string{"default"}, runs)
	assert.Contains(t, b.String(), "| policy  |   time | of default | copies | wasted | correct |\n")
}

func TestTable(t *testing.T) {
	var b strings.Builder
	kit.Table(&b, []string{"policy", "s"}, [][]string{{"none", "30.0"}, {"µ", "7"}})
	assert.Equal(t, "| policy |    s |\n| ------ | ---: |\n| none   | 30.0 |\n| µ      |    7 |\n", b.String())
	same := func(f float64) float64 { return f }
	assert.Equal(t, 2.5, kit.Median([]float64{4, 1, 3, 2}, same))
	assert.Equal(t, 3., kit.Median([]float64{4, 1, 3}, same))
	assert.Zero(t, kit.Median(nil, same))
}
