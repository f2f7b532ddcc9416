package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/report"
)

// stepTable writes a table of 250 steps of ten workers, of which w5 always takes 1.15 times as long.
func stepTable() string {
	r := rand.New(rand.NewPCG(7, 7))
	var text strings.Builder
	text.WriteString("row,it,who,fwd,bwd\n")
	for step := range 250 {
		for worker := range 10 {
			took := math.Exp(.02 * r.NormFloat64())
			if worker == 5 {
				took *= 1.15
			}
			fmt.Fprintf(&text, "%d,%d,w%d,%.6f,%.6f\n", step*10+worker, step, worker, took/3, took-took/3)
		}
	}
	text.WriteString("2500,250,w1,1,1\n2501,3,w1,1,1\n2502,3,w1,x,1\n") // an incomplete step, a row twice, and no time
	return text.String()
}

// A table of steps is read with the columns that the user names, also compressed. The first screen names the worker that
// makes the others wait. Text, JSON and page have the same figures.
func TestTableOfSteps(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(stepTable()))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for _, content := range []string{stepTable(), packed.String()} {
		log, page := file(t, content), filepath.Join(t.TempDir(), "page.html")
		args := []string{"-step", "it", "-worker", "who", "-seconds", "fwd+bwd"}
		code, out, errors := call(append(args, "-html", page, log)...)
		require.Zero(t, code, errors)
		for _, want := range []string{
			"250 steps, 2500 tasks", "Worker w5 is last in 250 of 250 steps; among equals it would be in 25.",
			"1 step is left out, because members are missing", "impossible times, treated as unknown: 1",
			"Exchange worker w5 with another worker", "no policy is replayed",
		} {
			assert.Contains(t, out, want)
		}
		assert.NotContains(t, out, "no stragglers")
		code, text, errors := call(append(args, "-json", log)...)
		require.Zero(t, code, errors)
		var r report.Report
		require.NoError(t, json.Unmarshal([]byte(text), &r))
		require.NotNil(t, r.Waits)
		assert.InDelta(t, .13, r.Waits.Wait, .005)
		require.Len(t, r.Waits.Findings, 1)
		assert.InDelta(t, .104, r.Waits.Findings[0].Share, .005)
		written, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, figure := range []string{report.Percent(r.Waits.Wait), report.Percent(r.Waits.Findings[0].Share), report.Percent(r.Waits.Last[0].Saved)} {
			assert.Contains(t, out, figure)
			assert.Contains(t, string(written), figure)
		}
	}
}

// A log of attempts with a phase for each step has one more answer, and keeps the others.
func TestAttemptsAsSteps(t *testing.T) {
	var log strings.Builder
	at := 0.0
	r := rand.New(rand.NewPCG(7, 7))
	for step := range 60 {
		longest := 0.0
		for worker := range 5 {
			took := 1000 * math.Exp(.02*r.NormFloat64())
			if worker == 2 {
				took *= 1.2
			}
			longest = max(longest, took)
			fmt.Fprintf(&log, `{"job":"train","phase":"step %d","task":"w%d","host":"h%d","start":%.0f,"finish":%.0f}`+"\n", step, worker, worker,
				at, at+took)
		}
		at += longest
	}
	code, out, errors := call("-policy", "least-cost", file(t, log.String()))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "How slow: No task took more than 1.5 times the median")
	assert.Contains(t, out, "Who makes the others wait: The slowest worker of a step costs")
	assert.Contains(t, out, "Worker h2 takes 1.19 times the median of its equals.")
	_, out, _ = call(file(t, healthy))
	assert.NotContains(t, out, "Who makes the others wait", "one phase is no job of steps")
}

// A wrong column is named, with the columns that there are.
func TestColumnsOfSteps(t *testing.T) {
	log := file(t, stepTable())
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-step", "it", log}, "needs -step, -worker and -seconds"},
		{[]string{"-step", "it", "-worker", "who", "-seconds", "fwd+bw", log}, `no column "bw"; its columns are row, it, who, fwd, bwd`},
		{[]string{"-step", "it", "-worker", "who", "-seconds", "fwd", "-list", log}, "-step replays no policy, and cannot be combined with -list"},
		{[]string{"-step", "it", "-worker", "who", "-seconds", "fwd", "-policy", "late", log}, "cannot be combined with -policy"},
		{[]string{"-step", "it", "-worker", "who", "-seconds", "fwd", "-cost", "0", log}, "cannot be combined with -cost"},
		{[]string{"-step", "it", "-worker", "who", "-seconds", "fwd", "-seeds", "1", log}, "cannot be combined with -seeds"},
		{[]string{"-step", "it", "-worker", "who", "-seconds", "fwd", "-copies", ".1", log}, "cannot be combined with -copies"},
		{[]string{"-step", "it", "-worker", "who", "-seconds", "fwd"}, "-step reads one table, but the command line has 0 logs"},
		{[]string{"-step", "it", "-worker", "who", "-seconds", "fwd", file(t, "it,who,fwd\n")}, "no row with a step and a time"},
		{[]string{log}, "name the columns: -step, -worker, -seconds and -group"},
	} {
		code, _, errors := call(c.args...)
		assert.Equal(t, 2, code, c.args)
		assert.Contains(t, errors, c.want, c.args)
	}
}

// In a timeline the argument stage tells which workers do equal work. The stage that takes longer is the place, and no
// worker is blamed. Without the argument a worker of this stage seems slow.
func TestStagesOfATimeline(t *testing.T) {
	timeline := func(argument string) string {
		r := rand.New(rand.NewPCG(3, 4))
		var events []string
		for step := range 60 {
			for rank := range 8 {
				took := 1e6 * math.Exp(.02*r.NormFloat64())
				if rank >= 4 {
					took *= 1.3
				}
				events = append(events, fmt.Sprintf(`{"name":"f","ph":"X","pid":"node%d","tid":0,"ts":%d,"dur":%.0f,"args":{"step":%d,%q:"s%d"}}`,
					rank, step*3_000_000, took, step, argument, rank/4))
			}
		}
		return "[" + strings.Join(events, ",\n") + "]"
	}
	code, out, errors := call(file(t, timeline("stage")))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "Stage s1 has the last worker in 60 steps, and takes 1.3 times as long as the other stages")
	assert.Contains(t, out, "(stage s1) is last in ")
	assert.NotContains(t, out, "at fault.")
	_, out, _ = call(file(t, timeline("other")))
	assert.NotContains(t, out, "tage s1")
}
