package trace_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// Text before a log may have any length. It is counted.
func TestTextBeforeALog(t *testing.T) {
	const tests = `{"Time":"2026-03-01T10:00:05Z","Action":"pass","Package":"p","Test":"TestA","Elapsed":5}
{"Time":"2026-03-01T10:00:06Z","Action":"pass","Package":"p","Elapsed":6}
`
	for _, lines := range []int{1, 49, 50, 2000, 20000} {
		text := strings.Repeat("go: downloading example.com/m v1.2.3\n", lines)
		for format, rest := range map[trace.Format]string{
			trace.GoTest: tests, trace.JUnit: `<testsuite name="s"><testcase name="a" time="2"/></testsuite>` + "\n",
			trace.Table: "phase,task,start,finish\np,0,1000,3000\n",
		} {
			log := read(t, text+rest)
			assert.Equal(t, format, log.Format)
			require.NotEmpty(t, log.Phases, "%v after %d lines", format, lines)
			if format != trace.JUnit {
				assert.Equal(t, lines, log.Faults[trace.Broken], "%v after %d lines", format, lines)
			}
		}
	}
	long := read(t, strings.Repeat("x", 300<<10)+"\n"+tests)
	assert.Equal(t, trace.GoTest, long.Format)
	_, err := trace.Read(strings.NewReader(strings.Repeat("a line\n", 100_000)), "notes")
	assert.ErrorContains(t, err, `text that starts with "a line a line`)
	_, err = trace.Read(strings.NewReader(strings.Repeat(`{"level":"info"}`+"\n", 2000)), "notes")
	assert.ErrorContains(t, err, "JSON that starts with")
}

// A row of SWIM's jobs or of Alibaba's tables has no header. Deep in a text it is a line of numbers, and not a log.
func TestARowWithoutAHeaderIsNearTheStart(t *testing.T) {
	for format, row := range map[trace.Format]string{
		trace.Swim:    "job0\t1\t1\t10\t20\t30\n",
		trace.Alibaba: "ins_1,M1,j_1,1,Terminated,100,200,m_1,1,1,50,60,0.1,0.2\n",
	} {
		assert.Equal(t, format, read(t, strings.Repeat("a line\n", 900)+strings.Repeat(row, 3)).Format)
		_, err := trace.Read(strings.NewReader(strings.Repeat("a line\n", 1000)+row), "notes")
		assert.ErrorContains(t, err, "no execution log of a known format", "%v", format)
	}
}

// An error names the option with which a tool writes a log of a known format.
func TestRefusalsNameTheOption(t *testing.T) {
	for text, want := range map[string]string{
		"JobID           JobName  Partition    Account\n------------ ---------- ---------- ----------\n1 a\n": "run sacct -a -P -D",
		`{"jobs": [{"account": "a", "allocation_nodes": 1}]}`:                                                 "without --json",
		"=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tp\t0.1s\n":                                     "run go test -json",
		"?   \tp\t[no test files]\n": "run go test -json",
		"a,b\n1,2\n":                 "replay help format",
	} {
		_, err := trace.Read(strings.NewReader(text), "x")
		assert.ErrorContains(t, err, want, text)
	}
}

// The error for a table with other names of columns says which names a table of attempts needs.
func TestTableWithOtherColumns(t *testing.T) {
	for text, want := range map[string]string{
		"job,phase,task,begin,end,host\nj,p,0,0,5,m1\n": "the first line must name the columns phase, task, start and finish, " +
			"of which it lacks start and finish; if a row is a worker in a step",
		"Phase;\"task\";begin;finished\np;0;1;2\n": "start and finish, of which it lacks start and finish;",
		"machine,begin,end\nm1,0,5\nm2,0,9\n":      "the columns phase, task, start and finish; if a row is a worker",
		"task,start,finish\n0,0,5\n":               "start and finish, of which it lacks phase; if a row",
	} {
		_, err := trace.Read(strings.NewReader(text), "log")
		assert.ErrorContains(t, err, want, text)
	}
}
