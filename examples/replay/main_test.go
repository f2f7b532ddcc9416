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
		"phases":            {[]string{"-phases", "0"}, "-phases is 0, want 1 to"},
		"explain":           {[]string{"-explain", "first", log}, "want PHASE/TASK"},
		"explain phase":     {[]string{"-explain", "9/0", log}, "phase 9, there are 0 to 0"},
		"explain task":      {[]string{"-explain", "0/9", log}, "task 9, phase 0 has 0 to 2"},
	} {
		code, out, errors := call(c.args...)
		assert.Equal(t, 2, code, name)
		assert.Empty(t, out, name)
		assert.Contains(t, errors, c.want, name)
		assert.Contains(t, errors, "replay: ", name)
	}
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
