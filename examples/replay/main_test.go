package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func call(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, &out, &err)
	return code, out.String(), err.String()
}

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// What the built-in workload must show: Mantri is ahead in median time and costs no more than no action. Of the others
// none does both [Mantri §6.3, Figure 14].
func TestBuiltInWorkload(t *testing.T) {
	code, out, errors := call("-json", "-phases", "200")
	require.Zero(t, code, errors)
	var c comparison
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	assert.Equal(t, 200, c.Phases)
	assert.Len(t, c.Outcomes, len(entries()))
	mantri := c.Outcomes[0]
	require.Equal(t, "mantri", mantri.Policy)
	assert.GreaterOrEqual(t, mantri.Resource, 0.0)
	assert.Positive(t, mantri.P50)
	for _, o := range c.Outcomes[1:] {
		assert.Less(t, o.P50, mantri.P50, o.Policy)
		assert.Less(t, o.All, mantri.All, o.Policy)
		assert.LessOrEqual(t, o.P50, o.P75, o.Policy)
		assert.LessOrEqual(t, o.PlainP50, o.PlainP75, o.Policy)
	}
	assert.Positive(t, c.Rate)
	assert.NotEmpty(t, c.Assumptions)
}

func TestSameSeedSameNumbers(t *testing.T) {
	numbers := func(args ...string) []outcome {
		code, out, errors := call(append([]string{"-json", "-phases", "40"}, args...)...)
		require.Zero(t, code, errors)
		var c comparison
		require.NoError(t, json.Unmarshal([]byte(out), &c))
		return c.Outcomes
	}
	assert.Equal(t, numbers(), numbers())
	assert.NotEqual(t, numbers(), numbers("-seed", "2"))
	assert.Equal(t, numbers()[:1], numbers("-policy", "mantri"), "a policy's numbers do not depend on the others")
}

const healthy = `{"phase":"p","task":0,"start":0,"finish":3000,"host":"a"}
{"phase":"p","task":1,"start":0,"finish":3000,"host":"a"}
{"phase":"p","task":2,"start":0,"finish":60000,"host":"b"}
`

func TestTable(t *testing.T) {
	code, out, errors := call(file(t, healthy))
	require.Zero(t, code, errors)
	for _, want := range []string{
		"1 phases, 3 tasks", "no faults", "mantri", "late", "spark", "1 tasks (33.3%) take over 1.5 times", "differs from the recorded phase times by 0%", "Assumptions",
	} {
		assert.Contains(t, out, want)
	}
	for i, line := range strings.Split(out, "\n") {
		assert.NotContains(t, line, "NaN", "line %d", i)
		assert.NotContains(t, line, "Inf", "line %d", i)
	}
}

func TestExplainAndList(t *testing.T) {
	log := file(t, healthy)
	code, out, _ := call("-list", log)
	require.Zero(t, code)
	assert.Contains(t, out, "0/2")
	code, out, errors := call("-explain", "0/2", log)
	require.Zero(t, code, errors)
	assert.Contains(t, out, "started")
	assert.Contains(t, out, "restart fresh-sooner")
	assert.Contains(t, out, "finished")
}

// A wrong call or a log that can't be used is one clear line and exit code 2.
func TestWrongCalls(t *testing.T) {
	log := file(t, healthy)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such file":      {[]string{filepath.Join(t.TempDir(), "absent")}, "absent"},
		"empty":             {[]string{file(t, "")}, "empty"},
		"foreign":           {[]string{file(t, "<html></html>")}, "no execution log"},
		"nothing succeeded": {[]string{file(t, `{"phase":"p","task":0,"start":0,"finish":3000,"state":"failed"}`)}, "no phase has a successful attempt"},
		"empty folder":      {[]string{t.TempDir()}, "no phase"},
		"policy":            {[]string{"-policy", "magic", log}, `unknown policy "magic"; there are all, mantri`},
		"flag after log":    {[]string{log, "-json"}, "flags go first"},
		"unknown flag":      {[]string{"-x"}, "-x"},
		"no number":         {[]string{"-seed", "-1"}, "-seed"},
		"two modes":         {[]string{"-json", "-list", log}, "exclude one another"},
		"too many phases":   {[]string{"-phases", "50001"}, "want 1 to 50000"},
		"only a broken log": {[]string{file(t, `{"phase":"p","ta`)}, "stop halfway, dropped: 1"},
		"decades":           {[]string{file(t, `{"phase":"p","task":0,"start":1,"finish":1700000000000}`)}, "last over a year"},
		"empty device":      {[]string{os.DevNull}, "empty"},
		"phases":            {[]string{"-phases", "0"}, "-phases is 0, want 1 to"},
		"explain":           {[]string{"-explain", "first", log}, "want PHASE/TASK"},
		"explain phase":     {[]string{"-explain", "9/0", log}, "phase 9, there are 0 to 0"},
		"explain task":      {[]string{"-explain", "0/9", log}, "task 9, phase 0 has 0 to 2"},
	} {
		code, out, errors := call(c.args...)
		assert.Equal(t, 2, code, name)
		assert.Empty(t, out, name)
		assert.Contains(t, errors, c.want, name)
		assert.Regexp(t, "^replay: [^\n]*\n$", errors, "%s: one line", name)
	}
}

// A directory may hold other things than logs; what is left out is named.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"a": healthy, "b": healthy, "c": "<html></html>", "d": "", ".hidden": "x"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "e"), 0o700))
	require.NoError(t, os.Symlink(os.DevNull, filepath.Join(dir, "f")))
	code, out, errors := call("-policy", "late", dir)
	require.Zero(t, code, errors)
	assert.Contains(t, out, "2 phases, 6 tasks")
	for _, want := range []string{"c: no execution log", "d: the file is empty", "e: a directory without", "f: no regular file"} {
		assert.Contains(t, out, want)
	}
	assert.NotContains(t, out, "hidden")

	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	require.NoError(t, os.Remove(filepath.Join(dir, "b")))
	code, _, errors = call(dir)
	assert.Equal(t, 2, code)
	assert.Contains(t, errors, "and 1 more such lines")
	assert.Equal(t, 1, strings.Count(errors, "\n"))
}

// What is not known is not printed as zero.
func TestUnknownIsNotZero(t *testing.T) {
	log := file(t, healthy)
	_, out, _ := call("-policy", "spark,dolly", log)
	assert.Contains(t, out, "what they read is not known")
	assert.Contains(t, out, "how often tasks straggle was never known")
	_, out, _ = call("-json", "-policy", "spark,dolly", log)
	assert.Contains(t, out, `"won_share": null`)
	assert.Contains(t, out, `"straggler_probability": null`)
}

func TestSpanAndSign(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0 s", 119: "119 s", 120: "2 min", 7200: "2 h", 3.6e7: "10000 h", 3.6e9: "1000000 h"} {
		assert.Equal(t, want, span(seconds))
	}
	for reduction, want := range map[float64]string{0: "0.0%", 0.04: "0.0%", -0.04: "0.0%", 20: "-20.0%", -5.51: "+5.5%"} {
		assert.Equal(t, want, signed(reduction))
	}
}

// The rest of Figures 14 and 15: Hadoop comes behind and costs more, LATE wins few of its copies and acting early makes it
// worse and dearer [Mantri §6.3].
func TestPaperOrder(t *testing.T) {
	code, out, errors := call("-json", "-policy", "mantri,hadoop,late,late-early", "-phases", "400")
	require.Zero(t, code, errors)
	var c comparison
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	mantri, hadoop, late, early := c.Outcomes[0], c.Outcomes[1], c.Outcomes[2], c.Outcomes[3]
	assert.InDelta(t, 22.5, mantri.P50, 7.5, "21 in the paper")
	assert.InDelta(t, 41.5, mantri.P75, 8.5, "42 in the paper")
	assert.Greater(t, mantri.All, 2*hadoop.All)
	assert.Negative(t, hadoop.Resource)
	assert.Greater(t, *mantri.Won, 60.0, "70 in the paper")
	assert.Less(t, *late.Won, 30.0, "15 in the paper")
	assert.Less(t, early.All, late.All)
	assert.Less(t, early.Resource, late.Resource)
}

// Rubbish inside a log is counted, reported, and never fatal.
func TestRubbishIsCounted(t *testing.T) {
	rubbish := healthy + `{"phase":"p","task":3,"start":
{"phase":"p","task":4,"start":9000,"finish":5}
{"phase":"p","task":5,"start":-1,"finish":5}
{"phase":"p"
`
	code, out, errors := call(file(t, rubbish))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "broken or foreign")
	assert.Contains(t, out, "finish before they start")
	assert.Contains(t, out, "3 tasks")
}

func TestHelp(t *testing.T) {
	code, _, errors := call("-h")
	assert.Zero(t, code)
	assert.Contains(t, errors, "usage: replay")
}

// Cloning keeps to its budget, clones small phases first of all, and makes them faster [Dolly §3].
func TestDolly(t *testing.T) {
	code, out, errors := call("-json", "-policy", "dolly", "-phases", "600")
	require.Zero(t, code, errors)
	var c comparison
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	require.Len(t, c.Outcomes, 1)
	d := c.Outcomes[0].Cloning
	require.NotNil(t, d)
	assert.Equal(t, 5.0, d.Budget)
	assert.LessOrEqual(t, d.Most, d.Budget)
	assert.Positive(t, d.Held)
	assert.Less(t, d.Held, d.Most)
	assert.Positive(t, d.Reduction)
	assert.Greater(t, float64(d.SmallCloned)/float64(d.Small), float64(d.Phases-d.SmallCloned)/float64(c.Phases-d.Small),
		"a small phase is likelier to be cloned")
	assert.Negative(t, c.Outcomes[0].Resource, "clones cost something")

	code, out, _ = call("-policy", "dolly", "-phases", "100")
	require.Zero(t, code)
	assert.Contains(t, out, "dolly cloned ")
	code, out, errors = call("-explain", "0/0", "-policy", "dolly", "-phases", "5")
	require.Equal(t, 2, code, out)
	assert.Contains(t, errors, "dolly")
}
