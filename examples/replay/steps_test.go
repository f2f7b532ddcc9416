package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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
			"250 steps, 2500 tasks", "Worker w5 is last in 250 of 250 steps; if all were alike, each would be last in 25.",
			"1 step is left out, because members are missing", "impossible times, treated as unknown: 1",
			"The machine and the position of worker w5 never parted, so this log can't tell which of the two is at fault.",
			"Let the machine of worker w5 change places with that of a healthy worker. If the position is still slow,",
			"A worker of a step can't be copied, so no saving by copies is shown.",
		} {
			assert.Contains(t, out, want)
		}
		assert.NotContains(t, out, "no stragglers")
		r := asJSON(t, append(args, log)...)
		assert.InDelta(t, .13, r.Waits.Wait, .005)
		require.Len(t, r.Waits.Findings, 1)
		assert.InDelta(t, .104, r.Waits.Findings[0].Share, .005)
		assert.Zero(t, r.Waits.Together)
		written, err := os.ReadFile(page)
		require.NoError(t, err)
		sameFigures(t, r.Waits, out, string(written))
	}
}

// Seven workers of 20 were slow one after the other. The report names five of them, when each was slow, that it has ended,
// and how many more there are.
func TestManySlowWorkersOfATable(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	text := "step,worker,s\n"
	for step := range 130 {
		for worker := range 20 {
			took := math.Exp(.01 * r.NormFloat64())
			if step/20 == worker {
				took *= 1.3
			}
			text += fmt.Sprintf("%d,%d,%.4f\n", step, worker, took)
		}
	}
	code, out, errors := call("-step", "step", "-worker", "worker", "-seconds", "s", file(t, text))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "And 2 more reasons.")
	assert.Regexp(t, `Worker 2 took 1\.3\d? times the median of its equals from step 40 to 59 \(41 to 60 of 130\), where it cost 2\d\.\d%, and it has `+
		"ended.", out)
	assert.Contains(t, out, "Look at what ran beside worker 2 from step 40 to 59.")
	assert.Contains(t, out, "If worker 2 took the median of its equals, that would have saved")
	assert.Contains(t, out, "If all 7 named workers did so at once, that would save")
}

// Of 40 equal workers now one is last, now another. The report says so, and does not point at the one that was last most
// often.
func TestNobodyIsLastOften(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	text := "step,worker,s\n"
	for step := range 200 {
		for worker := range 40 {
			text += fmt.Sprintf("%d,%d,%.4f\n", step, worker, math.Exp(.05*r.NormFloat64()))
		}
	}
	code, out, errors := call("-step", "step", "-worker", "worker", "-seconds", "s", file(t, text))
	require.Zero(t, code, errors)
	assert.Regexp(t, `No worker is last often: worker \d+ is last most often, in \d+ of 200 steps; if all were alike, each would be last in 5\.`, out)
	assert.Contains(t, out, "Why: No worker is slow for long: now one is last, now another.")
}

// asJSON calls replay with -json and returns its report.
func asJSON(t *testing.T, args ...string) (r report.Report) {
	t.Helper()
	code, text, errors := call(append([]string{"-json"}, args...)...)
	require.Zero(t, code, errors)
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	require.NotNil(t, r.Waits)
	return r
}

// sameFigures checks that text and page have the figures of the JSON, and that a worker has one figure in all of them.
func sameFigures(t *testing.T, w *report.Waits, forms ...string) {
	t.Helper()
	figures := []string{report.Percent(w.Wait) + " of the steps", report.Percent(w.Second) + " beyond the next slowest"}
	saved := func(share, err float64) string { return fmt.Sprintf("%s (±%.1f)", report.Percent(share), 196*err) }
	shares := map[string][2]float64{}
	for _, l := range w.Last {
		figures = append(figures, saved(l.Saved, *l.Error))
		shares[l.Worker] = [2]float64{l.Saved, *l.Error}
	}
	for _, f := range w.Findings {
		if share, ok := shares[f.Who]; ok {
			assert.Equal(t, share, [2]float64{f.Share, *f.Error}, f.Who)
		}
		figures = append(figures, saved(f.Share, *f.Error))
	}
	if w.Together > 0 {
		figures = append(figures, "did so at once, that would save "+saved(w.Together, w.TogetherError))
	}
	for _, form := range forms {
		for _, figure := range figures {
			assert.Contains(t, html.UnescapeString(form), figure)
		}
	}
}

// Two workers of ten are equally slow. Either alone would save little, and both together what the slowest costs. All
// forms have the same figures.
func TestTwoSlowWorkersOfATable(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	text := "step\tworker\tms\n"
	for step := range 100 {
		for worker := range 10 {
			took := 1000 * math.Exp(.02*r.NormFloat64())
			if worker == 2 || worker == 5 {
				took *= 1.2
			}
			text += fmt.Sprintf("%d\t%d\t%.3f\n", step, worker, took)
		}
	}
	text += "100\t2\t90000\n100\t5\t1000\n100\t6\t1000\n" // an incomplete step
	log, page := file(t, text), filepath.Join(t.TempDir(), "page.html")
	args := []string{"-step", "step", "-worker", "worker", "-seconds", "ms", log}
	code, out, errors := call(append([]string{"-html", page}, args...)...)
	require.Zero(t, code, errors)
	written, err := os.ReadFile(page)
	require.NoError(t, err)
	waits := asJSON(t, args...).Waits
	require.Len(t, waits.Findings, 2)
	assert.ElementsMatch(t, []string{"worker 2", "worker 5"}, []string{waits.Findings[0].Who, waits.Findings[1].Who})
	assert.Less(t, waits.Findings[0].Share, .03)
	assert.InDelta(t, .15, waits.Together, .02)
	assert.Less(t, waits.Together, waits.Wait)
	sameFigures(t, waits, out, string(written))
	assert.Regexp(t, "Let the machines of worker [25] and worker [25] change places with those of healthy workers[.]", out)
	assert.Contains(t, out, "The machine and the position of each of these workers never parted")
	assert.Contains(t, out, "If both named workers did so at once, that would save")
	assert.NotContains(t, out, "add up")
}

// The work differs, stage 1 takes longer than stage 0, or workers are slow. If two of these reasons hold at once, the report
// says that their shares don't add up.
func TestSharesOfSeveralReasons(t *testing.T) {
	const (
		even  = `Even work within each stage would save [0-9.]+% \(±[0-9.]+\) of the steps' time\.`
		equal = `Stages of equal length would save [0-9.]+% \(±[0-9.]+\) of the steps' time\.`
		sum   = "The changes affect one another, so their shares don't add up."
	)
	for _, c := range []struct {
		name      string
		deviation float64 // of the logarithm of the sizes
		stage     float64 // time of stage 1 by that of stage 0
		slow      []int   // workers that take 1.5 times as long
		want      []string
	}{
		{"work and stage", .2, 2, nil, []string{even, equal, sum, "Stage 1 has the last worker in 60 of 60 steps, and takes "}},
		{"work and worker", .2, 1, []int{7}, []string{even, sum, `change places with that of a healthy worker of its stage\.`}},
		{"stage and workers", 0, 2, []int{6, 7}, []string{equal, sum, `change places with those of healthy workers of their stages\.`}},
		{"stage", 0, 2, nil, []string{equal}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 7))
			text := "step,worker,stage,size,s\n"
			for step := range 60 {
				for worker := range 10 {
					size := math.Exp(c.deviation * r.NormFloat64())
					took := size * math.Exp(.02*r.NormFloat64())
					if worker >= 5 {
						took *= c.stage
					}
					if slices.Contains(c.slow, worker) {
						took *= 1.5
					}
					text += fmt.Sprintf("%d,%d,%d,%.0f,%.4f\n", step, worker, worker/5, 1e4*size, took)
				}
			}
			code, out, errors := call("-step", "step", "-worker", "worker", "-group", "stage", "-size", "size", "-seconds", "s", file(t, text))
			require.Zero(t, code, errors)
			for _, want := range c.want {
				assert.Regexp(t, want, out)
			}
			assert.Equal(t, slices.Contains(c.want, sum), strings.Contains(out, sum), out)
		})
	}
}

// attemptSteps writes a log of attempts of 60 steps of five tasks, each on a machine of its own. Task w2 takes times as long
// as the others.
func attemptSteps(times float64) string {
	var log strings.Builder
	at := 0.0
	r := rand.New(rand.NewPCG(7, 7))
	for step := range 60 {
		longest := 0.0
		for worker := range 5 {
			took := 1000 * math.Exp(.02*r.NormFloat64())
			if worker == 2 {
				took *= times
			}
			longest = max(longest, took)
			fmt.Fprintf(&log, `{"job":"train","phase":"step %d","task":"w%d","host":"h%d","start":%.0f,"finish":%.0f}`+"\n", step, worker, worker,
				at, at+took)
		}
		at += longest
	}
	return log.String()
}

// A log of attempts with a phase for each step has one more answer. The advice and its saving are about the worker that
// makes the others wait. What a policy saves is said on condition: a worker of a training job cannot be copied.
func TestAttemptsAsSteps(t *testing.T) {
	const condition = "For tasks that can run again elsewhere, unlike the workers of a training job: "
	code, out, errors := call("-policy", "least-cost", file(t, attemptSteps(1.2)))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "How slow: No task took more than 1.5 times the median")
	assert.Contains(t, out, "Who makes the others wait: The slowest worker of a step costs")
	assert.Contains(t, out, "Worker h2 takes 1.21 times the median of its equals.")
	assert.Contains(t, out, "What to do: Let the machine of worker h2 change places with that of a healthy worker.")
	assert.NotContains(t, out, "Nothing")
	assert.Regexp(t, "What it saves: If worker h2 took the median of its equals, that would save [0-9.]+% .* "+condition+
		"In 5 draws of how long copies take, the policy least-cost would have", out)
	_, out, _ = call("-policy", "least-cost", file(t, attemptSteps(2)))
	assert.Regexp(t, "What to do: Let the machine of worker h2 .* "+condition+"Keep work off machine h2.", out)

	// No worker is slow: the other answers are those of any log.
	_, out, _ = call("-policy", "least-cost", file(t, attemptSteps(1)))
	assert.Contains(t, out, "Who makes the others wait: ")
	assert.Contains(t, out, "What to do: Nothing: stragglers cost little here.")
	assert.Contains(t, out, "What it saves: The policy least-cost would have")
	_, out, _ = call(file(t, healthy))
	assert.NotContains(t, out, "Who makes the others wait", "one phase is no job of steps")
}

// tableOf writes a table of 40 steps of workers h0, h1 and so on with these times.
func tableOf(steps int, times ...string) string {
	text := "s,w,t\n"
	for step := range steps {
		for worker, took := range times {
			text += fmt.Sprintf("%d,h%d,%s\n", step, worker, took)
		}
	}
	return text
}

// Steps with ties, impossible times, one worker, two workers, or only one step: the report blames only whom the steps blame,
// and all lines name as many steps.
func TestStepsThatBlameNobody(t *testing.T) {
	const missing = "Such a step lacks the worker, although the others may wait for it."
	for _, c := range []struct {
		name, table string
		want, not   []string
	}{
		{"equal workers", tableOf(40, "1", "1", "1", "1"), []string{
			"In each step several workers are last together, so none is the last.", "the slowest takes hardly longer than its equals.",
			"What to do: Nothing: the workers hardly wait for one another.", "table of 40 whole steps, with 160 rows;",
		}, []string{"is last in", "now one is last", "last most often", "Impossible"}},
		{"some ties", tableOf(30, "1", "2", "2", "1", "1") + "30,h0,1\n30,h1,3\n30,h2,2\n30,h3,1\n30,h4,1\n", []string{
			"worker h1 is last most often, in 1 of the 1 step without a tie; if all were alike, each would be last in 0.2.",
			"last in 1 of the 1 step without a tie (0.2 if all were alike), ",
			"In 30 of 31 steps several workers are last together, which counts for none of them.",
			"Worker h1 takes 2.03 times the median of its equals. Worker h2 takes 2 times", "did so at once, that would save",
		}, []string{"in each step"}},
		{"no number", tableOf(40, "2", "NaN", "3", "2"), []string{
			"40 steps, 120 tasks", "Impossible times: worker h1 in 40 steps. " + missing, "Worker h2 takes 1.5 times",
			"What to do: Correct the impossible times first: the others may wait for such a worker. Let",
		}, nil},
		{"too long", tableOf(40, "1", "1", "1e300", "1"), []string{
			"Impossible times: worker h2 in 40 steps. " + missing, "Of the workers with possible times, none is slow for long",
			"What to do: Correct the impossible times first: the others may wait for such a worker.\n",
		}, []string{"Nothing:", "is last in"}},
		{"no time", tableOf(40, "1", "0", "1e-12", "-1", "x", "1", "1"), []string{
			"Impossible times: worker h1 in 40 steps, worker h2 in 40 steps, worker h3 in 40 steps and 1 other worker. " + missing,
			"40 steps, 120 tasks", "impossible times, treated as unknown: 160",
		}, nil},
		{"one impossible time", tableOf(40, "1", "1.01", "1.02") + "40,h0,1\n40,h1,Inf\n40,h2,1\n", []string{
			"40 steps, 120 tasks", "table of 41 steps, 40 of them whole, with 120 rows;", "1 step is left out, because members are missing.",
			"Impossible times: worker h1 in 1 step. " + missing,
		}, []string{"Correct", "possible times, none"}},
		{"one worker", tableOf(40, "5"), []string{
			"40 steps, 40 tasks", "table of 40 whole steps, with 40 rows;", "How slow: Each step has one worker, so nobody waits.",
			"name the column that tells them apart by -worker.",
		}, []string{": 0 steps", "0.0%", "last most often"}},
		{"ties, and a worker that is replaced", tableOf(40, "1", "1", "2", "2") + "40,h0,1\n40,h1,1\n40,h2,2\n40,h9,1\n", []string{
			"worker h2 is last most often, in 1 of the 1 step without a tie; if all were alike, each would be last in 0.25.",
		}, nil},
		{"ties, and a new worker", tableOf(40, "1", "1", "2", "2") + "40,h0,1\n40,h1,1\n40,h8,1\n40,h9,2\n" +
			"41,h0,1\n41,h1,1\n41,h8,2\n41,h9,2\n", []string{
			"Worker h9 is last in 1 of its steps without a tie; if all were alike, each would be last in 0.25.",
		}, []string{"of the 1 step"}},
		{"a very slow worker", tableOf(40, "1", "1", "999.7", "1"), []string{"Worker h2 takes 1000 times the median of its equals."}, nil},
		{"one step", tableOf(1, "5", "9"), []string{
			"Worker h1 is last in 1 of 1 step; if all", "last in 1 of 1 step (0.5 if all were alike), 44.4% would be saved: worker h1",
		}, []string{"±"}},
		{"two workers", tableOf(40, "5", "6"), []string{
			"costs 16.7% of the steps' time beyond the median of its equals, and 16.7% beyond the next slowest", "16.7% (±0.0) would be saved",
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{"-step", "s", "-worker", "w", "-seconds", "t", file(t, c.table)}
			code, out, errors := call(args...)
			require.Zero(t, code, errors)
			for _, text := range c.want {
				assert.Contains(t, out, text)
			}
			for _, text := range c.not {
				assert.NotContains(t, out, text)
			}
			w := asJSON(t, args...).Waits
			assert.Contains(t, out, fmt.Sprintf("log: %d step", w.Steps))
			for _, l := range w.Last {
				assert.Equal(t, w.Steps > 1, l.Error != nil)
			}
		})
	}
}

// The table of the page says that two of its columns leave out the steps with a tie.
func TestThePageCountsTies(t *testing.T) {
	for ties, want := range map[int]string{0: "", 30: "Steps with a tie: 30."} {
		log, page := file(t, tableOf(ties, "1", "2", "2", "1")+"30,h0,1\n30,h1,3\n30,h2,2\n30,h3,1\n"), filepath.Join(t.TempDir(), "page.html")
		code, _, errors := call("-step", "s", "-worker", "w", "-seconds", "t", "-html", page, log)
		require.Zero(t, code, errors)
		written, err := os.ReadFile(page)
		require.NoError(t, err)
		assert.Contains(t, string(written), want)
		assert.Equal(t, ties > 0, strings.Contains(string(written), "Steps with a tie"))
	}
}

// Equal phases of a log of attempts name no worker either.
func TestEqualPhasesNameNobody(t *testing.T) {
	text := ""
	for step := range 40 {
		for worker := range 4 {
			text += fmt.Sprintf(`{"job":"t","phase":"s%d","task":%d,"start":%d,"finish":%d,"host":"h%d"}`+"\n", step, worker,
				10_000*step, 10_000*step+10_000, worker)
		}
	}
	_, out, _ := call("-policy", "late", file(t, text))
	assert.Contains(t, out, "In each step several workers are last together, so none is the last.")
	assert.NotContains(t, out, "is last in")
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
	assert.Contains(t, out, "Stage s1 has the last worker in 60 of 60 steps, and takes 1.3 times as long as the other stages")
	assert.Contains(t, out, "(stage s1) is last in ")
	assert.NotContains(t, out, "at fault.")
	assert.Contains(t, out, ": 60 steps, 480 tasks")
	assert.Contains(t, out, "What to do: Balance the stages: give stage s1 less work.")
	assert.NotContains(t, out, "longest task", "the report is about the steps alone")
	_, out, _ = call(file(t, timeline("other")))
	assert.NotContains(t, out, "tage s1")
}
