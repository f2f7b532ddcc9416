package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadEvents(t *testing.T) {
	const log = `
{"Time":"2026-01-01T00:00:00Z","Action":"start","Package":"m/a"}
{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"m/a","Test":"TestA"}
{"Time":"2026-01-01T00:00:00.001Z","Action":"run","Package":"m/a","Test":"TestA/sub"}
{"Time":"2026-01-01T00:00:00.004Z","Action":"pass","Package":"m/a","Test":"TestA/sub","Elapsed":0}
{"Time":"2026-01-01T00:00:00.006Z","Action":"pass","Package":"m/a","Test":"TestA","Elapsed":0.01}
{"Time":"2026-01-01T00:00:00.006Z","Action":"run","Package":"m/a","Test":"TestB"}
{"Time":"2026-01-01T00:00:00.006Z","Action":"pause","Package":"m/a","Test":"TestB"}
{"Time":"2026-01-01T00:00:02Z","Action":"cont","Package":"m/a","Test":"TestB"}
{"Time":"2026-01-01T00:00:03Z","Action":"fail","Package":"m/a","Test":"TestB","Elapsed":1}
{"Time":"2026-01-01T00:00:03Z","Action":"run","Package":"m/a","Test":"TestA"}
{"Time":"2026-01-01T00:00:03.018Z","Action":"pass","Package":"m/a","Test":"TestA","Elapsed":0.02}
{"Time":"2026-01-01T00:00:04Z","Action":"output","Package":"m/a","Output":"not json {\n"}
{"Time":"2026-01-01T00:00:04Z","Action":"fail","Package":"m/a","Elapsed":4}
{"Time":"2026-01-01T00:00:01Z","Action":"start","Package":"m/cached"}
{"Time":"2026-01-01T00:00:01Z","Action":"run","Package":"m/cached","Test":"TestC"}
{"Time":"2026-01-01T00:00:01Z","Action":"pass","Package":"m/cached","Test":"TestC","Elapsed":7.5}
{"Time":"2026-01-01T00:00:01Z","Action":"output","Package":"m/cached","Output":"ok  \tm/cached\t(cached)\n"}
{"Time":"2026-01-01T00:00:01Z","Action":"pass","Package":"m/cached","Elapsed":0}
{"ImportPath":"m/broken","Action":"build-output","Output":"x\n"}
{"Time":"2026-01-01T00:00:01Z","Action":"start","Package":"m/broken"}
{"Time":"2026-01-01T00:00:01Z","Action":"fail","Package":"m/broken","Elapsed":0,"FailedBuild":"m/broken"}
{"Time":"2026-01-01T00:00:01Z","Action":"skip","Package":"m/none","Elapsed":0}
no json
{"Time":"2026-01-01T00:00:
`
	for _, log := range []string{log, "\ufeff" + strings.ReplaceAll(log, "\n", "\r\n")} {
		got, err := readTimings(strings.NewReader(log))
		require.NoError(t, err)
		assert.Equal(t, map[name]took{
			{"m/a", ""}: {seconds: 4, failed: true}, {"m/a", "TestA"}: {seconds: .024},
			{"m/a", "TestB"}: {seconds: 1, failed: true}, {"m/none", ""}: {},
		}, got.times)
		assert.Equal(t, 4., got.last.Sub(got.first).Seconds())
		assert.Equal(t, 1, got.cached)
		assert.Equal(t, 2, got.broken)
	}
}

// If a log stops while packages run, the summary tells that the log stops halfway.
func TestALogThatStopsHalfway(t *testing.T) {
	event := func(action, pkg, test string) string {
		return fmt.Sprintf(`{"Time":"2026-01-01T00:00:00Z","Action":%q,"Package":%q,"Test":%q,"Elapsed":1}`+"\n", action,
			pkg, test)
	}
	whole := event("start", "a", "") + event("run", "a", "T") + event("fail", "a", "")
	for more, want := range map[string]int{
		"": 0, event("start", "b", ""): 1, event("run", "b", "T") + event("pass", "b", "T"): 1,
		event("start", "b", "") + event("start", "c", "") + event("pass", "b", ""): 1,
		event("start", "b", "") + event("start", "c", ""):                          2, event("skip", "b", ""): 0,
	} {
		got, err := readTimings(strings.NewReader(whole + more))
		require.NoError(t, err)
		assert.Equal(t, want > 0, strings.Contains(got.summary(ran{}),
			fmt.Sprintf("the log stops halfway: %d package", want)), got.summary(ran{}))
	}
}

func TestReadJUnit(t *testing.T) {
	const report = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3">
	<testsuite tests="3" failures="1" time="4.500000" name="m/a" timestamp="2026-01-01T00:00:00Z">
		<properties><property name="go.version" value="go1.26"></property></properties>
		<testcase classname="m/a" name="TestA" time="3.25"></testcase>
		<testcase classname="m/a" name="TestA/sub" time="1"></testcase>
		<testcase classname="m/a" name="TestB" time="1"><failure message="Failed" type="">x</failure></testcase>
		<testcase classname="m/a" name="TestC" time="?"></testcase>
	</testsuite>
	<testsuite name="m/b" time="0"><testcase classname="b" name="TestD" time="0.5"><skipped/></testcase></testsuite>
`
	got, err := readTimings(strings.NewReader(report))
	require.NoError(t, err)
	assert.Equal(t, map[name]took{
		{"m/a", "TestA"}: {seconds: 3.25}, {"m/a", ""}: {seconds: 4.5, failed: true},
		{"m/a", "TestB"}: {seconds: 1, failed: true}, {"m/b", "TestD"}: {skipped: true},
	}, got.times)
	assert.Equal(t, 1, got.skipped)
	assert.Equal(t, 1, got.broken, "the report stops before its end")
}

func TestWhatIsNoLog(t *testing.T) {
	for text, want := range map[string]string{
		"": "the file is empty", "  \n": "the file has only blank lines", "<html></html>": "no execution log of a known format",
		"ok  \tm/a\t0.1s\n": "go test -json",
		`{"Time":"2026-01-01T00:00:00Z","Action":"start","Package":"m/a"}`: "no test ends in the log",
		"phase,task,start,finish\np,0,1,2\n":                               `the format "attempt table" has no tests`,
	} {
		_, err := readTimings(strings.NewReader(text))
		assert.ErrorContains(t, err, want)
	}
}

// execCommand runs a command, and returns its exit code and output.
func execCommand(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaint bytes.Buffer
	code = command(t.Context(), args, strings.NewReader(""), &out, &complaint)
	return code, out.String(), complaint.String()
}

// One log without times does not throw the times of the other logs away. The error names it, and comes at the end.
func TestRecordKeepsTheOtherLogs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	good := write("good.json", `{"Time":"2026-01-01T00:00:00Z","Action":"start","Package":"m/a"}
{"Time":"2026-01-01T00:00:04Z","Action":"pass","Package":"m/a","Elapsed":4}
`)
	bad := []string{
		write("empty.json", ""),
		write("unbuilt.json", `{"Time":"2026-01-01T00:00:00Z","Action":"start","Package":"m/b"}
{"Time":"2026-01-01T00:00:01Z","Action":"fail","Package":"m/b","Elapsed":0,"FailedBuild":"m/b"}
`),
		write("conflict.shard", magic+"\nm/c\t-\t3@r\n<<<<<<< ours\n"),
		filepath.Join(dir, "absent.json"),
	}
	into := filepath.Join(dir, "history")
	code, out, errors := execCommand(t, "record", "-history", into, bad[0], good, bad[1], bad[2], bad[3])
	assert.Equal(t, 1, code)
	assert.Contains(t, out, good+": run")
	for _, path := range bad {
		assert.Contains(t, errors, path+":")
	}
	text, err := os.ReadFile(into)
	require.NoError(t, err)
	assert.Contains(t, string(text), "m/a\t-\t4@")
	assert.NotContains(t, string(text), "m/c", "a broken history adds nothing")

	code, _, _ = execCommand(t, "record", "-history", filepath.Join(dir, "other"), bad[0])
	assert.Equal(t, 1, code)
	assert.NoFileExists(t, filepath.Join(dir, "other"), "nothing was recorded")
}

// A skipped test has no time. The plan takes the time of the runs in which the test ran.
func TestSkippedTestsHaveNoTime(t *testing.T) {
	dir := t.TempDir()
	args := []string{"record", "-history", filepath.Join(dir, "history")}
	for day := 1; day <= 5; day++ {
		action, seconds := "skip", 0
		if day > 3 {
			action, seconds = "pass", 50
		}
		at := fmt.Sprintf(`"Time":"2026-03-0%dT10:00:`, day)
		log := fmt.Sprintf("{%[1]s00Z\",\"Action\":\"start\",\"Package\":\"p/a\"}\n"+
			"{%[1]s00Z\",\"Action\":\"run\",\"Package\":\"p/a\",\"Test\":\"TestLong\"}\n"+
			"{%[1]s%02[2]dZ\",\"Action\":%[3]q,\"Package\":\"p/a\",\"Test\":\"TestLong\",\"Elapsed\":%[2]d}\n"+
			"{%[1]s51Z\",\"Action\":\"pass\",\"Package\":\"p/a\",\"Elapsed\":%[2]d.1}\n", at, seconds, action)
		path := filepath.Join(dir, fmt.Sprint(day))
		require.NoError(t, os.WriteFile(path, []byte(log), 0o600))
		args = append(args, path)
	}
	code, out, errors := execCommand(t, args...)
	require.Zero(t, code, errors)
	assert.Equal(t, 3, strings.Count(out, "1 test was skipped and took no time"))
	h := newHistory()
	require.NoError(t, h.merge(args[2]))
	m, err := newModel(h)
	require.NoError(t, err)
	long := m.suite(source{path: "p/a"})
	assert.InDelta(t, 50.1, long.whole(), .001)
	again, err := os.ReadFile(args[2])
	require.NoError(t, err)
	assert.Contains(t, string(again), "TestLong\t", "a skipped run is stored")
	assert.Contains(t, string(again), "-@")
}

// A test that was skipped in all its runs takes no time, and does not change the times of new tests.
func TestAlwaysSkipped(t *testing.T) {
	h := newHistory()
	for _, id := range []string{"r", "s"} {
		h.addRun(id, ran{machine: "m"})
		h.add(name{"p", ""}, id, took{seconds: 9})
		h.add(name{"p", "TestA"}, id, took{seconds: 8})
		h.add(name{"p", "TestEnv"}, id, took{skipped: true})
	}
	m, err := newModel(h)
	require.NoError(t, err)
	s := m.suite(source{path: "p", seen: true, tests: []string{"TestA", "TestEnv", "TestNew"}})
	assert.Equal(t, []test{{"TestA", 8}, {"TestNew", 8}, {"TestEnv", 0}}, s.tests)
	assert.False(t, s.split, "one test has a time")
}

// A name that a report has twice has the mean of its times. A test within a test is a part of it.
func TestANameTwice(t *testing.T) {
	got, err := readTimings(strings.NewReader(`<testsuite name="m/a" time="9"><testcase name="TestA" time="1"/>` +
		`<testcase name="TestA" time="3"><failure/></testcase><testcase name="TestA/x" time="2"/>` +
		`<testcase name="TestB" time="2"><testcase name="TestInner" time="1"/></testcase><testcase time="1"/></testsuite>`))
	require.NoError(t, err)
	assert.Equal(t, map[name]took{
		{"m/a", ""}: {seconds: 9, failed: true}, {"m/a", "TestA"}: {seconds: 4, failed: true}, {"m/a", "TestB"}: {seconds: 2},
	}, got.times)
	assert.Contains(t, got.summary(ran{}), "2 cases are parts of another test, whose time has theirs")
	assert.Contains(t, got.summary(ran{}), "1 case has no name, so its time cannot be used")
}

// The time of a test is the sum within one run of its package, as the package's time is, and the mean over the runs.
func TestRunsOfAPackage(t *testing.T) {
	pass := func(test string, seconds float64) string {
		return fmt.Sprintf(`{"Time":"2026-01-01T00:00:00Z","Action":"pass","Package":"m/a"%s,"Elapsed":%g}`+"\n", test, seconds)
	}
	a, b := `,"Test":"TestA"`, `,"Test":"TestB"`
	twice := pass(a, 10) + pass(b, 10) + pass(a, 10) + pass(b, 10) + pass("", 40) // -count=2
	got, err := readTimings(strings.NewReader(twice))
	require.NoError(t, err)
	assert.Equal(t, map[name]took{
		{"m/a", ""}: {seconds: 40}, {"m/a", "TestA"}: {seconds: 20}, {"m/a", "TestB"}: {seconds: 20},
	}, got.times)
	got, err = readTimings(strings.NewReader(twice + pass(a, 10) + pass("", 10))) // and a run of TestA alone
	require.NoError(t, err)
	assert.Equal(t, map[name]took{
		{"m/a", ""}: {seconds: 25}, {"m/a", "TestA"}: {seconds: 15}, {"m/a", "TestB"}: {seconds: 20},
	}, got.times)
}

// A package that claims less time than its longest test is not used. Its tests are.
func TestAPackageThatClaimsTooLittle(t *testing.T) {
	for _, log := range []string{`{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"m/a","Test":"TestA"}
{"Time":"2026-01-01T00:00:00.001Z","Action":"pass","Package":"m/a","Test":"TestA","Elapsed":5.11}
{"Time":"2026-01-01T00:00:00.009Z","Action":"pass","Package":"m/a","Elapsed":0.009}
`, `<testsuite name="m/a" time="0.009"><testcase name="TestA" time="5.11"/></testsuite>`} {
		got, err := readTimings(strings.NewReader(log))
		require.NoError(t, err)
		assert.Equal(t, map[name]took{{"m/a", "TestA"}: {seconds: 5.11}}, got.times)
		assert.Contains(t, got.summary(ran{}), "claims less time than the longest test")
	}
}

func TestListedTests(t *testing.T) {
	s, is := source{}, map[string]bool{}
	s.read([]byte("package x\nfunc TestA(t *testing.T) {}\nfunc Test(t *testing.T) {}\nfunc Testing() {}\nfunc TestMain(m *testing.M) {}\n"+
		"func (s S) TestB() {}\nfunc Example() {}\nfunc Example_c() {}\n"+
		"func FuzzÄ(f *testing.F) {}\nfunc BenchmarkD(b *testing.B) {}\nfunc TestA(t *testing.T) {}\n"), is)
	assert.Equal(t, []string{"TestA", "Test", "Example", "Example_c", "FuzzÄ"}, s.tests)
	assert.Equal(t, 11, s.lines)
}
