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

// goTests returns the output of go test -json for tests that take the given numbers of seconds, one after the other.
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

// saving matches the words that only a claim of a saving contains.
var saving = regexp.MustCompile(`(?i)would have saved|mantri|largest-first +-|resource`)

// The time of a test of 0.1 s does not show how long a test of a minute would take. So no form of the report claims a
// saving; each form lists the longest tests.
func TestNoSavingOfUnlikeTasks(t *testing.T) {
	seconds := []float64{}
	for range 40 {
		seconds = append(seconds, 0.1)
	}
	log := file(t, goTests(1, append(seconds, 60, 61, 60)...))
	page := filepath.Join(t.TempDir(), "page.html")
	code, out, errors := call("-html", page, log)
	require.Zero(t, code, errors)
	assert.Contains(t, out, "No saving can be claimed for 43 tasks of 1 phase: the tasks are not known to be alike.")
	assert.Contains(t, out, "Look first at task TestBig41")
	assert.NotRegexp(t, saving, out)
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	body, _, _ := strings.Cut(string(html), "<script>")
	_, body, _ = strings.Cut(body, "<body>")
	assert.Contains(t, body, "No saving can be claimed")
	assert.NotRegexp(t, saving, body)

	code, out, errors = call("-json", log)
	require.Zero(t, code, errors)
	var r report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Empty(t, r.Policies)
	require.NotNil(t, r.Apart)
	assert.Equal(t, "TestBig41", r.Apart.Longest[0].Task)
	assert.Equal(t, 61.0, r.Apart.Longest[0].Seconds)

	two, err := os.ReadFile(log)
	require.NoError(t, err)
	code, out, _ = call("-list", file(t, string(two)+strings.ReplaceAll(string(two), `"p"`, `"q"`)))
	require.Zero(t, code)
	assert.Equal(t, 2, strings.Count(out, "not alike"), out)
	assert.Contains(t, out, " p ")
	assert.Contains(t, out, " q ")
	code, _, errors = call("-explain", "0/0", log)
	assert.Equal(t, 2, code)
	assert.Contains(t, errors, "not known to be alike")

	code, out, _ = call("-alike", "-policy", "mantri", log)
	require.Zero(t, code)
	assert.Contains(t, out, "mantri", "with -alike, replay claims a saving")

	code, lines, _ := call("convert", log)
	require.Zero(t, code)
	_, out, _ = call(file(t, lines))
	assert.NotRegexp(t, saving, out, "a converted log promises no more than the log")
}

// The runs of a test that is in at least ten logs are a phase. Its time is the sum of the times of the runs.
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
	assert.Equal(t, []int{3, 36}, []int{r.Input.Phases, r.Input.Tasks}, "a run that is compared is counted once")
	assert.Equal(t, []int{0, 36}, []int{r.Apart.Tasks, r.Apart.Compared})
	assert.Empty(t, r.Apart.Why, "all tests ran often enough to be compared")
	assert.Empty(t, r.Apart.Longest)
	assert.Equal(t, r.NoAction.Time, r.NoAction.Runs)
	assert.Contains(t, r.Headline, "that all runs of the same tasks take together")

	for _, run := range []string{"run1", "run2", "run3"} {
		require.NoError(t, os.Remove(filepath.Join(dir, run)))
	}
	_, out, _ = call(dir)
	assert.NotRegexp(t, saving, out, "nine runs of a test are too few for a phase")
}

// The log is Slurm's accounting with twelve runs of one program, side by side, and three runs of another. Each of the
// twelve runs is counted once. Only the three runs are listed as tasks that did not run often enough.
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
		assert.NotContains(t, l.Task, "model", "a task that is compared is not listed as a task that is not")
	}
	assert.Equal(t, 12*14.5*3600, r.NoAction.Runs)
	code, _, errors = call("-html", page, "-policy", "mantri", file(t, text))
	require.Zero(t, code, errors)
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(html), "</i>174 h</span>")
	assert.Contains(t, string(html), "</i>time, added up over all runs of the same tasks</li>")
	assert.NotContains(t, string(html), "phases&#39; time", "174 h is not the time of a phase: nobody waited for 174 h")
}

// A page can be written to a device, which stays a device, and through a link, which stays a link.
func TestPageToAnything(t *testing.T) {
	log := file(t, healthy)
	dir := t.TempDir()
	link, target := filepath.Join(dir, "link.html"), filepath.Join(dir, "target.html")
	require.NoError(t, os.Symlink(target, link))
	for range 2 { // first the link leads to a missing file, then to a page
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

// Several files of one log, one for each worker, are joined. The report tells the user of a log that is given twice,
// and of a clock that may have jumped.
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
	assert.Contains(t, out, "task 9 takes 8736 h, and the second longest task 60 s: the clock may have jumped")

	empty := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(empty, "a"), []byte("x"), 0o600))
	code, _, errors := call(empty)
	assert.Equal(t, 2, code)
	assert.Contains(t, errors, empty+": no log found: left out: ")
}

// The report counts the ignored entries of a log without attempts, and in any log the entries that did not run.
func TestPassedOverIsSaid(t *testing.T) {
	log := file(t, `{"id":{"started":{}}}`+"\n"+`{"id":{"testResult":{"label":"//a"}},"aborted":{"reason":"INCOMPLETE"}}`)
	code, _, errors := call(log)
	assert.Equal(t, 2, code)
	assert.Contains(t, errors, "ignored: started: 1; did not run: aborted results: 1")
}

// The report has the cost of the slot time, the comparison with another run, and the setting of the log's own engine.
func TestAdviceAndComparison(t *testing.T) {
	this := file(t, healthy)
	last := file(t, strings.Replace(healthy, "60000", "6000", 1)+`{"phase":"gone","task":0,"start":0,"finish":1000}`)
	code, out, errors := call("-json", "-policy", "mantri", "-cost", "3600", "-against", last, this)
	require.Zero(t, code, errors)
	var r report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.NotNil(t, r.Money)
	assert.InDelta(t, r.NoAction.Used, r.Money.Before, 1e-9, "a slot costs 3600 for an hour, so 1 for a second")
	assert.Contains(t, r.Headline, "At a price of 3600 for one slot and one hour, the slot time costs 66.00 without action")
	require.NotNil(t, r.Against)
	require.Len(t, r.Against.Phases, 1)
	assert.Equal(t, [2]float64{6, 60}, r.Against.Phases[0].Seconds)
	assert.Equal(t, [2]float64{6, 60}, r.Against.Phases[0].Slowest)
	assert.Equal(t, 1, r.Against.OnlyThere)
	code, out, errors = call("-policy", "mantri", "-against", last, this)
	require.Zero(t, code, errors)
	assert.Regexp(t, `phase +time there +here +slowest task there +here +stragglers there +here +tasks there +here *\n`+
		` +p +6 s +60 s +6 s +60 s +\d +1 +\d +\d+ *\nPhases that are not in the table: 0 of both runs, 1 only there, 0 only here\.\n`, out)
	assert.Equal(t, "b", r.Workers[0].Host)
	assert.Nil(t, r.Setting, "attempt lines are not the log of an engine")
	for _, wrong := range [][]string{{"-cost", "-1", this}, {"-against", last},
		{"-against", filepath.Join(t.TempDir(), "absent"), this}} {
		code, _, _ = call(wrong...)
		assert.Equal(t, 2, code, wrong)
	}

	var tasks []string
	for i := range 12 {
		took := 1000
		if i == 0 {
			took = 2500
		}
		tasks = append(tasks, fmt.Sprintf(`{"taskId":%d,"index":%d,"launchTime":"2026-03-01T10:00:00.000GMT","duration":%d,`+
			`"executorId":"1","host":"h","status":"SUCCESS"}`, i, i, took))
	}
	code, out, errors = call("-policy", "mantri,spark", file(t, "["+strings.Join(tasks, ",")+"]"))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "Spark's own setting did not help in the replay. Its rule acts on a task that takes more than 3 "+
		"times the median of the tasks that have ended; 0 of the 1 stragglers do.")
}

// A test that ran twelve times and failed in three did not succeed often enough to be compared. Its equally long runs are no
// reason to shorten one.
func TestRunsThatFailed(t *testing.T) {
	log := ""
	for i := range 12 {
		event := fmt.Sprintf(`{"Time":"2026-03-01T10:%02d:%%02dZ","Action":%%q,"Package":"p","Test":"T"%%s}`+"\n", i)
		result := "pass"
		if i < 3 {
			result = "fail"
		}
		log += fmt.Sprintf(event, 0, "run", "") + fmt.Sprintf(event, 5, result, `,"Elapsed":5`)
	}
	code, out, errors := call("-policy", "least-cost", file(t, log))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "none of these tasks succeeded often enough")
	assert.NotContains(t, out, "at most 0 s")
}
