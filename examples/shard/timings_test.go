package main

import (
	"bufio"
	"fmt"
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
		got, err := readTimings(bufio.NewReader(strings.NewReader(log)))
		require.NoError(t, err)
		assert.Equal(t, map[name]took{
			{"m/a", ""}: {4, true}, {"m/a", "TestA"}: {.012, false}, {"m/a", "TestB"}: {1, true},
			{"m/cached", "TestC"}: {7.5, false}, {"m/none", ""}: {0, false},
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
		got, err := readTimings(bufio.NewReader(strings.NewReader(whole + more)))
		require.NoError(t, err)
		assert.Equal(t, want, got.open, more)
		assert.Equal(t, want > 0, strings.Contains(got.summary(ran{}), "the log stops halfway"), got.summary(ran{}))
	}
}

func TestReadJUnit(t *testing.T) {
	const report = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3">
	<testsuite tests="3" failures="1" time="4.500000" name="m/a" timestamp="2026-01-01T00:00:00Z">
		<properties><property name="go.version" value="go1.26"></property></properties>
		<testcase classname="m/a" name="TestA" time="1,000.25"></testcase>
		<testcase classname="m/a" name="TestA/sub" time="1"></testcase>
		<testcase classname="m/a" name="TestB" time="2"><failure message="Failed" type="">x</failure></testcase>
		<testcase classname="m/a" name="TestC" time="?"></testcase>
	</testsuite>
	<testsuite name="m/b" time="0"><testcase classname="b" name="TestD" time="0.5"><skipped/></testcase></testsuite>
`
	got, err := readTimings(bufio.NewReader(strings.NewReader(report)))
	require.NoError(t, err)
	assert.Equal(t, map[name]took{
		{"m/a", ""}: {4.5, true}, {"m/a", "TestA"}: {1000.25, false}, {"m/a", "TestB"}: {2, true}, {"m/b", "TestD"}: {.5, false},
	}, got.times)
	assert.Equal(t, 1, got.broken, "the report stops before its end")
}

func TestWhatIsNoLog(t *testing.T) {
	for text, want := range map[string]string{
		"": "the log is empty", "  \n": "the log is empty", "<html></html>": "the file has no tests",
		"ok  \tm/a\t0.1s\n": "no test ends in the log",
	} {
		_, err := readTimings(bufio.NewReader(strings.NewReader(text)))
		assert.ErrorContains(t, err, want)
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
