package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"

	"github.com/straggler-go/straggler/examples/internal/compare"
	"github.com/straggler-go/straggler/examples/internal/report"
)

// The tests keep little of what they allocate: with a collection at nine times the live memory they take a sixth less
// processor time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	m.Run()
}

// call runs replay with the arguments, and returns its exit code and output.
func call(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, &out, &err)
	return code, out.String(), err.String()
}

// file writes a log into a temporary file and returns its path.
func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// phases returns the number of phases of a long test: few, or all with STRAGGLER_LIVES.
func phases(few, all string) string {
	if os.Getenv("STRAGGLER_LIVES") != "" {
		return all
	}
	return few
}

// On the generated workload, least-cost and mantri have the best median time, and use no more slot time than no
// action. No other policy does both [Mantri §6.3, Figure 14].
func TestBuiltInWorkload(t *testing.T) {
	if testing.Short() {
		t.Skip("figures; TestSameSeedSameNumbers runs the same goroutines")
	}
	t.Parallel()
	code, out, errors := call("-json", "-phases", phases("60", "200"))
	require.Zero(t, code, errors)
	var c report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	assert.Len(t, c.Policies, len(compare.Entries()))
	require.Equal(t, []string{"least-cost", "mantri"}, []string{c.Policies[0].Name, c.Policies[1].Name})
	for _, ours := range c.Policies[:2] {
		assert.GreaterOrEqual(t, ours.Resource.Mean, 0.0, ours.Name)
		assert.Positive(t, ours.P50.Mean, ours.Name)
		for _, o := range c.Policies[2:] {
			assert.Less(t, o.P50.Mean, ours.P50.Mean, o.Name)
			assert.Less(t, o.All.Mean, ours.All.Mean, o.Name)
			assert.LessOrEqual(t, o.P50.Mean, o.P75.Mean, o.Name)
			assert.LessOrEqual(t, o.PlainP50.Mean, o.PlainP75.Mean, o.Name)
		}
	}
	assert.Positive(t, c.Work.Rate)
	assert.NotEmpty(t, c.Assumptions)
}

func TestSameSeedSameNumbers(t *testing.T) {
	t.Parallel()
	numbers := func(args ...string) []report.Policy {
		code, out, errors := call(append([]string{"-json", "-phases", phases("6", "40")}, args...)...)
		require.Zero(t, code, errors)
		var c report.Report
		require.NoError(t, json.Unmarshal([]byte(out), &c))
		return c.Policies
	}
	once := numbers()
	assert.Equal(t, once, numbers())
	assert.NotEqual(t, once[:1], numbers("-policy", "least-cost", "-seed", "2"))
	assert.Equal(t, once[:1], numbers("-policy", "least-cost"),
		"the numbers of a policy do not depend on the other policies")
}

// healthy is a log without faults: one phase of three tasks, of which one is a straggler.
const healthy = `{"phase":"p","task":0,"start":0,"finish":3000,"host":"a"}
{"phase":"p","task":1,"start":0,"finish":3000,"host":"a"}
{"phase":"p","task":2,"start":0,"finish":60000,"host":"b"}
`

func TestTable(t *testing.T) {
	code, out, errors := call(file(t, healthy))
	require.Zero(t, code, errors)
	for _, want := range []string{
		"1 phase, 3 tasks", "no faulty lines", "mantri", "late", "spark", "1 task (33.3%), which takes",
		"differ from the log by 0% in all", "Stragglers cost 57 s of the phases' 60 s (95.0%)", "Assumptions",
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
	assert.Contains(t, out, "copy idle-slot")
	assert.Contains(t, out, "finished")
}

// After a wrong command line or a log that cannot be used, replay prints one line and exits with code 2.
func TestWrongCalls(t *testing.T) {
	log := file(t, healthy)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no such file": {[]string{filepath.Join(t.TempDir(), "absent")}, "absent"},
		"empty":        {[]string{file(t, "")}, "empty"},
		"foreign":      {[]string{file(t, "<html></html>")}, "no execution log"},
		"nothing succeeded": {[]string{file(t, `{"phase":"p","task":0,"start":0,"finish":3000,"state":"failed"}`)},
			"no phase can be replayed: "},
		"empty folder":      {[]string{t.TempDir()}, "the directory is empty"},
		"policy":            {[]string{"-policy", "magic", log}, `unknown policy "magic"; there are least-cost, mantri`},
		"all and one":       {[]string{"-policy", "all,late", log}, "stands alone"},
		"copies":            {[]string{"-copies", "2", log}, "-copies is 2, want a share"},
		"seeds":             {[]string{"-seeds", "0"}, "-seeds is 0, want 1 to 100"},
		"phases of a log":   {[]string{"-phases", "3", log}, "a log is always replayed whole"},
		"page of a list":    {[]string{"-list", "-html", "x", log}, "-html and -svg cannot be combined"},
		"picture of a list": {[]string{"-list", "-svg", "x", log}, "-html and -svg cannot be combined"},
		"no such folder":    {[]string{"-html", filepath.Join(t.TempDir(), "absent", "page"), log}, "absent"},
		"help":              {[]string{"help", "magic"}, `no help about "magic"`},
		"list of clones":    {[]string{"-list", "-policy", "dolly", log}, "dolly clones whole phases"},
		"unknown flag":      {[]string{"-x"}, "-x"},
		"no number":         {[]string{"-seed", "-1"}, "-seed"},
		"two modes":         {[]string{"-json", "-list", log}, "exclude one another"},
		"too many phases":   {[]string{"-phases", "50001"}, "want 1 to 50000"},
		"only a broken log": {[]string{file(t, `{"phase":"p","ta`)}, "stop halfway, dropped: 1"},
		"decades":           {[]string{file(t, `{"phase":"p","task":0,"start":1,"finish":1700000000000}`)}, "no phase can be replayed: "},
		"empty device":      {[]string{os.DevNull}, "empty"},
		"phases":            {[]string{"-phases", "0"}, "-phases is 0, want 1 to"},
		"explain":           {[]string{"-explain", "first", log}, "want PHASE/TASK"},
		"explain phase":     {[]string{"-explain", "9/0", log}, "phase 9, want 0 to 0"},
		"explain task":      {[]string{"-explain", "0/9", log}, "task 9 of phase 0, want 0 to 2"},
	} {
		code, out, errors := call(c.args...)
		assert.Equal(t, 2, code, name)
		assert.Empty(t, out, name)
		assert.Contains(t, errors, c.want, name)
		assert.Regexp(t, "^replay: [^\n]*\n$", errors, "%s: the error is one line", name)
	}
}

// A directory may contain files that are not logs. The report names the files that it left out.
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
	for _, want := range []string{"c: no execution log", "d: the file is empty", "f: no regular file"} {
		assert.Contains(t, out, want)
	}
	assert.NotContains(t, out, "hidden")

	require.NoError(t, os.Remove(filepath.Join(dir, "a")))
	require.NoError(t, os.Remove(filepath.Join(dir, "b")))
	code, _, errors = call(dir)
	assert.Equal(t, 2, code)
	assert.Contains(t, errors, "left out: ")
	assert.Equal(t, 1, strings.Count(errors, "\n"))
}

// The lines about the logs stay few, however many logs there are.
func TestManyLogs(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("log", i)), []byte(healthy), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("other\x1b[31m", i)), []byte("x"), 0o600))
	}
	code, out, errors := call("-policy", "late", dir)
	require.Zero(t, code, errors)
	assert.Contains(t, out, "  40 logs (attempt lines: 40), 40 phases, 120 attempts; no faulty lines\n")
	assert.Contains(t, out, "  and 37 more: left out\n")
	assert.NotContains(t, out, "\x1b")
}

// An unknown value is not printed as zero.
func TestUnknownIsNotZero(t *testing.T) {
	log := file(t, healthy)
	_, out, _ := call("-policy", "spark,dolly", log)
	assert.Contains(t, out, "How many bytes they read is not known")
	assert.Contains(t, out, "The probability that a task straggles was never known")
	_, out, _ = call("-json", "-policy", "spark,dolly", log)
	assert.Contains(t, out, `"won_share": null`)
	assert.Contains(t, out, `"straggler_probability": null`)
}

// The order of the policies is as in Figures 14 and 15: Hadoop saves less time than Mantri and costs more, LATE wins
// few of its copies, and LATE that acts early saves less time and costs more than LATE [Mantri §6.3].
func TestPaperOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("figures; TestSameSeedSameNumbers runs the same goroutines")
	}
	t.Parallel()
	code, out, errors := call("-json", "-progress", "linear", "-policy", "mantri,hadoop,late,late-early", "-phases", phases("130", "400"))
	require.Zero(t, code, errors)
	var c report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	mantri, hadoop, late, early := c.Policies[0], c.Policies[1], c.Policies[2], c.Policies[3]
	assert.InDelta(t, 0.225, mantri.P50.Mean, 0.075, "21 in the paper")
	assert.InDelta(t, 0.415, mantri.P75.Mean, 0.085, "42 in the paper")
	assert.Greater(t, mantri.All.Mean, 2*hadoop.All.Mean)
	assert.Negative(t, hadoop.Resource.Mean)
	assert.Greater(t, mantri.Won.Mean, 0.6, "70 in the paper")
	assert.Less(t, late.Won.Mean, 0.3, "15 in the paper")
	assert.Less(t, early.All.Mean, late.All.Mean)
	assert.Less(t, early.Resource.Mean, late.Resource.Mean)
}

// Faults inside a log are counted and reported. The rest of the log is replayed.
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
	code, out, errors := call("-h")
	assert.Zero(t, code)
	assert.Empty(t, errors)
	assert.Contains(t, out, "USAGE:")
	assert.LessOrEqual(t, strings.Count(out, "\n"), 40, "the help fits on a screen")
}

// Dolly stays within its budget, prefers small phases, and makes the cloned phases faster [Dolly §3].
func TestDolly(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and without goroutines of its own")
	}
	code, out, errors := call("-json", "-policy", "dolly", "-phases", phases("200", "600"))
	require.Zero(t, code, errors)
	var c report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &c))
	require.Len(t, c.Policies, 1)
	d := c.Policies[0].Cloning
	require.NotNil(t, d)
	assert.Equal(t, 0.05, d.Budget)
	assert.LessOrEqual(t, d.Most, d.Budget)
	assert.Positive(t, d.Held)
	assert.Less(t, d.Held, d.Most)
	assert.Positive(t, d.Reduction)
	assert.Greater(t, float64(d.SmallCloned)/float64(d.Small), float64(d.Phases-d.SmallCloned)/float64(c.Input.Phases-d.Small),
		"a small phase is more likely to be cloned than a large phase")
	assert.Negative(t, c.Policies[0].Resource.Mean, "clones use slot time")

	code, out, _ = call("-policy", "dolly", "-phases", "100")
	require.Zero(t, code)
	assert.Contains(t, out, "dolly cloned ")
	code, out, errors = call("-explain", "0/0", "-policy", "dolly", "-phases", "5")
	require.Equal(t, 2, code, out)
	assert.Contains(t, errors, "dolly")
}

// Options may be before or after a log, with one dash or two.
func TestOptionsAnywhere(t *testing.T) {
	log := file(t, healthy)
	for _, args := range [][]string{{"-json", "-policy", "late", log}, {log, "--json", "--policy=late"}} {
		code, out, errors := call(args...)
		require.Zero(t, code, errors)
		var r report.Report
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		assert.Equal(t, report.Schema, r.Schema)
		require.Len(t, r.Policies, 1)
		assert.Equal(t, "late", r.Policies[0].Name)
	}
}

func TestPage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "page.html")
	code, out, errors := call("-html", name, "-policy", "mantri", file(t, healthy))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "mantri", "the table is printed, too")
	assert.Contains(t, errors, "wrote "+name)
	page, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Contains(t, string(page), "Stragglers cost 57 s of the phases&#39; 60 s (95.0%)")
	entries, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file is left")
}

// The picture in docs/phase.svg is equal to the output of the command in the README.
func TestPictureOfTheREADME(t *testing.T) {
	name := filepath.Join(t.TempDir(), "phase.svg")
	code, _, errors := call("-phases", "1", "-seed", "21", "-policy", "least-cost", "-svg", name)
	require.Zero(t, code, errors)
	drawn, err := os.ReadFile(name)
	require.NoError(t, err)
	shown, err := os.ReadFile("../../docs/phase.svg")
	require.NoError(t, err)
	assert.True(t, string(drawn) == string(shown), "docs/phase.svg is out of date: draw it with the command in the README")
}

// With several seeds, the report has the spread of each figure.
func TestSeeds(t *testing.T) {
	t.Parallel()
	few := phases("20", "60")
	code, out, errors := call("-json", "-seeds", "3", "-phases", few, "-policy", "mantri,late")
	require.Zero(t, code, errors)
	var r report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, 3, r.Input.Seeds)
	all := r.Policies[0].All
	assert.Less(t, all.Low, all.Mean)
	assert.Less(t, all.Mean, all.High)
	code, out, _ = call("-seeds", "3", "-phases", "5", "-policy", "mantri")
	require.Zero(t, code)
	assert.Contains(t, out, "±")
}

// The option -copies bounds the number of copies.
func TestCopiesAreBounded(t *testing.T) {
	t.Parallel()
	spent := func(args ...string) report.Policy {
		code, out, errors := call(append([]string{"-json", "-phases", "60", "-policy", "dryad"}, args...)...)
		require.Zero(t, code, errors)
		var r report.Report
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		return r.Policies[0]
	}
	free, bound := spent(), spent("-copies", "0.05")
	assert.Less(t, bound.Copies.Mean, free.Copies.Mean)
	assert.Positive(t, bound.Copies.Mean)
	assert.Equal(t, free, spent("-copies", "0"))
}

// A log that convert wrote is read as the log from which it was written.
func TestConvert(t *testing.T) {
	log := file(t, healthy)
	code, lines, errors := call("convert", log)
	require.Zero(t, code, errors)
	assert.Contains(t, lines, `"task":2`)
	code, again, _ := call("convert", file(t, lines))
	require.Zero(t, code)
	assert.Equal(t, lines, again)
	code, table, _ := call("convert", "-csv", log)
	require.Zero(t, code)
	code, out, errors := call("-policy", "late", file(t, table))
	require.Zero(t, code, errors)
	assert.Contains(t, out, "3 tasks")
	code, _, errors = call("convert", log, log)
	assert.Equal(t, 2, code)
	assert.Contains(t, errors, "takes one log")
	for _, name := range []string{"swim.tsv", "topology.json", "batch_task.csv"} { // jobs, racks and phases without attempts
		code, out, errors := call("convert", filepath.Join("..", "internal", "trace", "testdata", name))
		assert.Equal(t, 2, code, name)
		assert.Empty(t, out, name)
		assert.Contains(t, errors, "has no attempts, so there is nothing to convert", name)
	}
}

// The list begins with the phase that a policy shortens most, not with the longest phase.
func TestListBeginsWithTheLargestSaving(t *testing.T) {
	var text strings.Builder
	for task := range 12 {
		fmt.Fprintf(&text, `{"phase":"long","task":%d,"start":0,"finish":%d,"host":"h%d"}`+"\n", task, 900_000, task)
		took := 10_000
		if task == 11 {
			took = 400_000
		}
		fmt.Fprintf(&text, `{"phase":"saved","task":%d,"start":0,"finish":%d,"host":"h%d"}`+"\n", task, took, task)
	}
	code, out, errors := call("-list", file(t, text.String()))
	require.Zero(t, code, errors)
	assert.Less(t, strings.Index(out, " saved "), strings.Index(out, " long "), out)
}

// Up to five logs have a line each. Copies on all slots are allowed. A single long task is no jump of a clock.
func TestLimitsThatAreReached(t *testing.T) {
	dir := t.TempDir()
	for i := range 5 {
		log := strings.ReplaceAll(healthy, `"p"`, fmt.Sprintf(`"p%d"`, i))
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("log", i)), []byte(log), 0o600))
	}
	code, out, errors := call("-policy", "late", "-copies", "1", dir)
	require.Zero(t, code, errors)
	assert.Contains(t, out, "log4: attempt lines, 1 phase, 3 attempts")
	_, out, _ = call("-policy", "late", file(t, `{"phase":"q","task":0,"start":0,"finish":31449600000,"host":"c"}`))
	assert.NotContains(t, out, "jumped")
}

// A topology gives racks to the Hadoop logs that are read after it.
func TestTopologyBeforeALog(t *testing.T) {
	open := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "internal", "trace", "testdata", name))
		require.NoError(t, err)
		return string(text)
	}
	read := func(text string) *trace.Log {
		log, err := trace.Read(strings.NewReader(text), "log")
		require.NoError(t, err)
		return log
	}
	l := &loaded{formats: map[trace.Format]int{}, seen: map[uint64]string{}, notRun: map[string]int{}, names: map[string]bool{}}
	l.add("topology", read(open("topology.json")))
	log := read(strings.ReplaceAll(open("rumen.json"), `"/10\\.0\\.0/n1\\.example"`, `"n1\\.example"`))
	l.add("rumen", log)
	for _, h := range log.Hosts {
		if h.Name == "n9.example" {
			assert.Equal(t, "10.0.1", h.Rack)
			return
		}
	}
	t.Error("the log has no host n9.example")
}

// Machine h3 is slow, and h0 and h2 leave early. The default starts no task on h3 while another machine runs one. The last attempt
// there ends on a slot that leaves, and nothing else happens: the slot of h3 is asked again, so the phase ends.
func TestARefusedSlotIsAskedAgain(t *testing.T) {
	var text strings.Builder
	for task, r := range [][4]int{ // start, finish, host, input
		{0, 11882, 0, 960}, {0, 11569, 1, 979}, {0, 11591, 2, 991}, {0, 34737, 3, 947}, {11569, 20215, 1, 966}, {11591, 23532, 2, 943},
		{11882, 23341, 0, 907}, {20215, 30105, 1, 1032}, {23341, 31416, 0, 987}, {23532, 35338, 2, 1065}, {30105, 38746, 1, 954},
		{31416, 42290, 0, 983}, {34737, 75469, 3, 1044}, {35338, 43415, 2, 1001}, {38746, 50488, 1, 978}, {50488, 62077, 1, 992},
		{62077, 71929, 1, 903}, {71929, 81158, 1, 974}, {75469, 117188, 3, 960}, {81158, 91917, 1, 971},
	} {
		fmt.Fprintf(&text, `{"phase":"p","task":%d,"start":%d,"finish":%d,"host":"h%d","input":%d}`+"\n", task, r[0], r[1], r[2], r[3])
	}
	code, _, errors := call("-policy", "least-cost,mantri", file(t, text.String()))
	assert.Zero(t, code, errors)
}
