package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/report"
)

// goTests makes what go test -json prints of tests that take so many seconds each, one behind the other.
func goTests(day int, seconds ...float64) string {
	var text strings.Builder
	at := 0.0
	for i, s := range seconds {
		name := fmt.Sprintf("TestUnit%d", i)
		if s > 10 {
			name = fmt.Sprintf("TestBig%d", i)
		}
		for _, e := range []struct {
			action string
			at     float64
		}{{"run", at}, {"pass", at + s}} {
			fmt.Fprintf(&text, `{"Time":"2026-03-%02dT10:%02d:%06.3fZ","Action":"%s","Package":"p","Test":"%s"}`+"\n",
				day, int(e.at)/60, e.at-60*float64(int(e.at)/60), e.action, name)
		}
		at += s
	}
	return text.String()
}

var saving = regexp.MustCompile(`(?i)would have saved|mantri|largest-first +-|resource`)

// Tests of 0.1 s say nothing of one of a minute: no saving is printed, in any form, but where the time goes.
func TestNoSavingOfUnlikeTasks(t *testing.T) {
	seconds := []float64{}
	for range 40 {
		seconds = append(seconds, 0.1)
	}
	log := file(t, goTests(1, append(seconds, 60, 61, 60)...))
	page := filepath.Join(t.TempDir(), "page.html")
	code, out, errors := call("-html", page, log)
	require.Zero(t, code, errors)
	assert.Contains(t, out, "43 tasks of 1 phase, which are not known to be alike: no saving can be claimed. Look first at TestBig41")
	assert.NotRegexp(t, saving, out)
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	body, _, _ := strings.Cut(string(html), "<script>")
	_, body, _ = strings.Cut(body, "<body>")
	assert.Contains(t, body, "no saving can be claimed")
	assert.NotRegexp(t, saving, body)

	code, out, errors = call("-json", log)
	require.Zero(t, code, errors)
	var r report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Empty(t, r.Policies)
	require.NotNil(t, r.Apart)
	assert.Equal(t, "TestBig41", r.Apart.Longest[0].Task)
	assert.Equal(t, 61.0, r.Apart.Longest[0].Seconds)

	code, out, _ = call("-list", log)
	require.Zero(t, code)
	assert.Contains(t, out, "not alike")
	code, _, errors = call("-explain", "0/0", log)
	assert.Equal(t, 2, code)
	assert.Contains(t, errors, "not known to be alike")

	code, out, _ = call("-alike", "-policy", "mantri", log)
	require.Zero(t, code)
	assert.Contains(t, out, "mantri", "who says that they are alike is believed")

	code, lines, _ := call("convert", log)
	require.Zero(t, code)
	_, out, _ = call(file(t, lines))
	assert.NotRegexp(t, saving, out, "converting promises nothing")
}

// The same test in ten logs or more is a phase of its own runs, of the time that they took together.
func TestRunsOfTheSameTask(t *testing.T) {
	dir := t.TempDir()
	for day := 1; day <= 12; day++ {
		slow := 20.0
		if day == 9 {
			slow = 90
		}
		name := filepath.Join(dir, fmt.Sprint("run", day))
		require.NoError(t, os.WriteFile(name, []byte(goTests(day, 1, 2, slow)), 0o600))
	}
	code, out, errors := call("-json", "-policy", "mantri", dir)
	require.Zero(t, code, errors)
	var r report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Len(t, r.Phases, 3)
	assert.Equal(t, "tests of p: TestBig2", r.Phases[0].Name)
	assert.Equal(t, 12, r.Phases[0].Tasks)
	assert.InDelta(t, 11*20+90, r.Phases[0].Time, 1e-6)
	assert.Less(t, r.Phases[0].With[0], r.Phases[0].Time)
	assert.Zero(t, *r.NoAction.Deviation)
	require.NotNil(t, r.Apart)
	assert.Equal(t, 12, r.Apart.Phases)
	assert.Equal(t, []int{3, 36}, []int{r.Input.Phases, r.Input.Tasks}, "a run that is compared counts once")
	assert.Equal(t, []int{0, 36}, []int{r.Apart.Tasks, r.Apart.Compared})
	assert.Empty(t, r.Apart.Why, "all ran often enough")
	assert.Empty(t, r.Apart.Longest)
	assert.Equal(t, r.NoAction.Time, r.NoAction.Runs)
	assert.Contains(t, r.Headline, "that runs of the same tasks take, added up")

	for _, run := range []string{"run1", "run2", "run3"} {
		require.NoError(t, os.Remove(filepath.Join(dir, run)))
	}
	_, out, _ = call(dir)
	assert.NotRegexp(t, saving, out, "nine runs are too few")
}

// Jobs of the accounting of Slurm: twelve runs of one program, side by side, and three of another. The twelve are counted
// once, and the sentence that none ran often enough is said of the three.
func TestRunsSideBySideCountOnce(t *testing.T) {
	text := "JobID|JobName|State|Start|End|NodeList\n"
	for i := range 15 {
		name, hours := "model", 14+i%2
		if i >= 12 {
			name, hours = "rare", 20+i
		}
		text += fmt.Sprintf("%d|%s|COMPLETED|2026-03-01T00:00:00|2026-03-0%dT%02d:00:00|n%d\n", i, name, 1+hours/24, hours%24, i)
	}
	page := filepath.Join(t.TempDir(), "page.html")
	code, out, errors := call("-json", "-policy", "mantri", file(t, text))
	require.Zero(t, code, errors)
	var r report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, 15, r.Input.Tasks)
	require.NotNil(t, r.Apart)
	assert.Equal(t, []int{3, 12}, []int{r.Apart.Tasks, r.Apart.Compared})
	for _, l := range r.Apart.Longest {
		assert.NotContains(t, l.Task, "model", "no task that is compared stands below the sentence that none is")
	}
	assert.Equal(t, 12*14.5*3600, r.NoAction.Runs)
	code, _, errors = call("-html", page, "-policy", "mantri", file(t, text))
	require.Zero(t, code, errors)
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(html), "<dt>runs of the same tasks, added up</dt><dd>174 h</dd>")
	assert.NotContains(t, string(html), "<dt>phases' time</dt>", "nobody waited for 174 h")
}

// What cannot be written beside is written to: a device stays one, and a link is followed.
func TestPageToAnything(t *testing.T) {
	log := file(t, healthy)
	dir := t.TempDir()
	link, target := filepath.Join(dir, "link.html"), filepath.Join(dir, "target.html")
	require.NoError(t, os.Symlink(target, link))
	for range 2 { // a link to nowhere, then one to a page
		code, _, errors := call("-html", link, "-policy", "late", log)
		require.Zero(t, code, errors)
		info, err := os.Lstat(link)
		require.NoError(t, err)
		assert.NotZero(t, info.Mode()&os.ModeSymlink)
		page, err := os.ReadFile(target)
		require.NoError(t, err)
		assert.Contains(t, string(page), "</html>")
	}
	code, _, errors := call("-html", os.DevNull, "-policy", "late", log)
	require.Zero(t, code, errors)
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeDevice)
	code, out, errors := call("-html", "-", "-policy", "late", log)
	require.Zero(t, code, errors)
	assert.True(t, strings.HasPrefix(out, "<!doctype html>"))
	assert.True(t, strings.HasSuffix(strings.TrimSpace(out), "</html>"))
}

// One log in a file a worker is one log; the same log twice, and a clock that jumped, are said.
func TestDoubts(t *testing.T) {
	dir := t.TempDir()
	for w := range 4 {
		var text strings.Builder
		for k := range 3 {
			fmt.Fprintf(&text, `{"job":"n","phase":"load","task":%d,"start":0,"finish":1000}`+"\n", 3*w+k)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("w", w)), []byte(text.String()), 0o600))
	}
	_, out, errors := call("-policy", "late", dir)
	require.Empty(t, errors)
	assert.Contains(t, out, ": 1 phase, 12 tasks")
	assert.Contains(t, out, `job "n", phase "load": in 4 logs; joined`)

	log := file(t, healthy)
	_, out, _ = call("-policy", "late", log, file(t, healthy))
	assert.Contains(t, out, "the same phases at the same times as log")

	_, out, _ = call("-policy", "late", file(t, healthy+`{"phase":"p","task":9,"start":0,"finish":31449600000,"host":"c"}`))
	assert.Contains(t, out, "task 9 takes 8736 h, the next longest 60 s: did a clock jump?")

	empty := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(empty, "a"), []byte("x"), 0o600))
	code, _, errors := call(empty)
	assert.Equal(t, 2, code)
	assert.Contains(t, errors, "no log in "+empty+": left out: ")
}

// What was passed over is said where nothing else is there, and what did not run in any case.
func TestPassedOverIsSaid(t *testing.T) {
	log := file(t, `{"id":{"started":{}}}`+"\n"+`{"id":{"testResult":{"label":"//a"}},"aborted":{"reason":"INCOMPLETE"}}`)
	code, _, errors := call(log)
	assert.Equal(t, 2, code)
	assert.Contains(t, errors, "passed over: started: 1; did not run: aborted results: 1")
}

// The bill, another run beside this one, and what the log's own engine could be told.
func TestAdviceAndComparison(t *testing.T) {
	this := file(t, healthy)
	last := file(t, strings.Replace(healthy, "60000", "6000", 1)+`{"phase":"gone","task":0,"start":0,"finish":1000}`)
	code, out, errors := call("-json", "-policy", "mantri", "-cost", "3600", "-against", last, this)
	require.Zero(t, code, errors)
	var r report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.NotNil(t, r.Money)
	assert.InDelta(t, r.NoAction.Used, r.Money.Before, 1e-9, "a slot-second costs 1")
	assert.Contains(t, r.Headline, "At 3600 a slot-hour the bill is 66.00, and with mantri")
	require.NotNil(t, r.Against)
	require.Len(t, r.Against.Phases, 1)
	assert.Equal(t, [2]float64{6, 60}, r.Against.Phases[0].Seconds)
	assert.Equal(t, [2]float64{6, 60}, r.Against.Phases[0].Slowest)
	assert.Equal(t, 1, r.Against.OnlyThere)
	assert.Equal(t, "b", r.Workers[0].Host)
	assert.Nil(t, r.Setting, "these lines are of no engine")
	for _, wrong := range [][]string{{"-cost", "-1", this}, {"-against", last}, {"-against", filepath.Join(t.TempDir(), "absent"), this}} {
		code, _, _ = call(wrong...)
		assert.Equal(t, 2, code, wrong)
	}

	var tasks []string
	for i := range 12 {
		took := 1000
		if i == 0 {
			took = 2500
		}
		tasks = append(tasks, fmt.Sprintf(`{"taskId":%d,"index":%d,"launchTime":"2026-03-01T10:00:00.000GMT","duration":%d,"executorId":"1","host":"h","status":"SUCCESS"}`, i, i, took))
	}
	code, out, errors = call("-policy", "mantri,spark", file(t, "["+strings.Join(tasks, ",")+"]"))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "In Spark: spark.speculation=true would have changed the phases' time by 0.0% and the slots' by 0.0%. "+
		"Its rule asks for 3 times the median of the tasks that have ended: 0 of the 1 stragglers ever take that.")
}
