package kit_test

import (
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

// One copy of what has run for more than twice the median, once half of the tasks are done.
func TestNaive(t *testing.T) {
	var peers estimate.Distribution = seconds{9, 10, 10, 10, 11}
	phase := restart.Phase{Tasks: 10, Finished: 5, FreeSlots: 1, Peers: restart.Peers{Durations: peers}}
	for _, c := range []struct {
		finished, copies int
		elapsed          time.Duration
		want             restart.Action
	}{
		{5, 1, 20 * time.Second, restart.Keep},
		{5, 1, 20*time.Second + 1, restart.Duplicate},
		{4, 1, time.Minute, restart.Keep},
		{5, 2, time.Minute, restart.Keep},
	} {
		phase.Finished = c.finished
		task := restart.Task{Copies: make([]restart.Copy, c.copies)}
		task.Copies[0].Elapsed = c.elapsed
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
	require.EqualError(t, err, `there is no "fast"; there are slow, skew, death`)
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
