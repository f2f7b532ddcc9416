package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/alike"
	"github.com/straggler-go/straggler/examples/internal/trace"
)

// Only a text in the form of an integer is a number: texts with a dot, a leading zero or an exponent are names.
func TestDottedNamesAreNames(t *testing.T) {
	var text strings.Builder
	for _, task := range []string{`"1.1"`, `"1.2"`, `"1.9"`, `"01"`, `"1"`, `3.7`, `3`, `3e0`} {
		fmt.Fprintf(&text, `{"phase":"p","task":%s,"start":0,"finish":1000}`+"\n", task)
	}
	log := read(t, text.String())
	assert.Equal(t, 8, log.Phases[0].Tasks)
	assert.Equal(t, []string{"1.1", "1.2", "1.9", "01", "1", "3.7", "3", "3e0"}, log.Phases[0].Names)
}

// Numbers with gaps are no tasks without a success, unless the log says how many tasks there are.
func TestGapsInventNoTasks(t *testing.T) {
	var text strings.Builder
	for _, task := range []int{100, 101, 105} {
		fmt.Fprintf(&text, `{"phase":"p","task":%d,"start":0,"finish":1000}`+"\n", task)
	}
	log := read(t, text.String())
	assert.Equal(t, 3, log.Phases[0].Tasks)
	assert.Equal(t, []string{"100", "101", "105"}, log.Phases[0].Names)
	log = read(t, `{"phase":"p","tasks":200}`+"\n"+text.String())
	assert.Equal(t, 200, log.Phases[0].Tasks)
}

// A number in quotes is a number. A text that is not a number is not read as 0.
func TestTextsInTimelines(t *testing.T) {
	log := read(t, `[{"name":"f","ph":"X","pid":1,"tid":1,"ts":"1700000000000000","dur":"5000000"}]`)
	a := log.Phases[0].Attempts[0]
	assert.Equal(t, []trace.Opt{trace.Known(1700000000000), trace.Known(1700000005000)}, []trace.Opt{a.Start, a.Finish})
	for _, bad := range []string{`NaN`, `"soon"`, `null`, `1e300`, `{}`} {
		log := read(t, `[{"name":"f","ph":"X","pid":1,"tid":1,"ts":`+bad+`,"dur":5}]`)
		a := log.Phases[0].Attempts[0]
		assert.False(t, a.Start.Known() || a.Finish.Known(), bad)
		assert.Equal(t, 1, log.Faults[trace.BadTime], bad)
	}
}

// Tasks that did not run are counted by kind, and the report tells the user.
func TestWhatDidNotRun(t *testing.T) {
	for text, want := range map[string]map[string]int{
		`{"id":{"testResult":{"label":"//a"}},"aborted":{"reason":"INCOMPLETE"}}`:          {"aborted results": 1},
		`{"id":{"testResult":{"label":"//a"}},"testResult":{"cachedLocally":true}}`:        {"results from a cache": 1},
		argo(`{"a":{"type":"HTTP"},"b":{"type":"Plugin"},"c":{"type":"DAG"}}`):             {"nodes of the kind HTTP": 1, "nodes of the kind Plugin": 1},
		argo(`{"a":{"type":"Pod","templateName":"t","startedAt":"2026-03-01T10:00:00Z"}}`): {},
	} {
		assert.Equal(t, want, read(t, text).NotRun, text)
	}
	for _, packed := range []string{`"compressedNodes":"H4sIAAAA"`, `"offloadNodeStatusVersion":"fnv:1"`} {
		log := read(t, `{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"name":"w"},"status":{`+packed+`}}`)
		require.Len(t, log.Hints, 1)
		assert.Contains(t, log.Hints[0], "argo get NAME -o json")
	}
}

func argo(nodes string) string {
	return `{"apiVersion":"argoproj.io/v1alpha1","kind":"Workflow","metadata":{"name":"w"},"status":{"nodes":` + nodes + `}}`
}

const pod = `"metadata":{"name":"a-%d","labels":{"job-name":"j"}},"spec":{"nodeName":"n"},"status":{"phase":"%s",` +
	`"containerStatuses":[{"state":{"terminated":{"startedAt":"2026-03-01T10:00:00Z","finishedAt":"2026-03-01T10:00:09Z"}}}]}`

// The items of a list are of the list's kind, and what a watch shows twice is one pod.
func TestPodsOfTheRawInterface(t *testing.T) {
	list := fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","items":[{`+pod+`},{`+pod+`}]}`, 1, "Succeeded", 2, "Succeeded")
	log := read(t, list)
	require.Len(t, log.Phases, 1)
	assert.Len(t, log.Phases[0].Attempts, 2)
	assert.Equal(t, alike.Alike, log.Phases[0].Kin, "pods of a job")

	event := func(kind, phase string) string {
		return `{"type":"` + kind + `","object":{"apiVersion":"v1","kind":"Pod",` + fmt.Sprintf(pod, 1, phase) + "}}\n"
	}
	log = read(t, event("ADDED", "Running")+event("MODIFIED", "Succeeded")+event("DELETED", "Succeeded"))
	require.Len(t, log.Phases[0].Attempts, 1)
	assert.Equal(t, trace.Succeeded, log.Phases[0].Attempts[0].State)
}

// White space does not matter: not behind a colon, and not between the records.
func TestWhiteSpaceDoesNotMatter(t *testing.T) {
	for _, name := range []string{"jhist", "Bazel", "Spark", "go test"} {
		s := samples()[name]
		want := held(read(t, s.text))
		require.Len(t, want, recordsOfSample)
		head, records := "", strings.Fields(s.text)
		if name == "jhist" {
			head, records = "Avro-Json\n", strings.Split(strings.TrimPrefix(s.text, "Avro-Json\n"), "\n\n")
		} else if name == "Spark" {
			records = strings.Split(strings.TrimSpace(s.text), "\n")
		}
		blank := strings.NewReplacer(`":`, `": `, `,"`, `, "`, `{"`, `{ "`)
		spaced := make([]string, len(records))
		for i := range records {
			spaced[i] = blank.Replace(records[i])
		}
		assert.Equal(t, want, held(read(t, head+strings.Join(spaced, "\n"))), name)
		if name == "jhist" {
			continue // a line of its own each, by its writer
		}
		pretty := strings.NewReplacer(`{"`, "{\n  \"", `,"`, ",\n  \"", `}`, "\n}")
		for i := range records {
			spaced[i] = pretty.Replace(records[i])
		}
		assert.Equal(t, want, held(read(t, strings.Join(spaced, "\n"))), "%s, pretty", name)
		assert.Equal(t, want, held(read(t, "[\n"+strings.Join(spaced, ",\n")+"\n]")), "%s, pretty array", name)
		assert.Equal(t, want, held(read(t, "["+strings.Join(records, ",")+"]")), "%s, array", name)
	}
}

// Times as Python and databases print them have no zone. They are read as UTC, and counted as faults.
func TestTimesWithoutAZone(t *testing.T) {
	for text, zone := range map[string]bool{
		"2026-03-01T10:00:00.123": false, "2026-03-01 10:00:00.123": false, "2026-03-01 10:00:00.123+00:00": true,
		"2026-03-01 11:00:00.123+01:00": true, "2026-03-01T10:00:00.123+0000": true, "2026-03-01T10:00:00.123Z": true,
		"2026-03-01 10:00:00.123 +0000 UTC": true,
	} {
		log := read(t, `{"phase":"p","task":0,"start":"`+text+`","finish":1772359201123}`)
		assert.Equal(t, trace.Known(1772359200123), log.Phases[0].Attempts[0].Start, text)
		assert.Equal(t, !zone, log.Faults[trace.NoZone] == 1, text)
		assert.Empty(t, log.Hints, text)
	}
	log := read(t, `{"phase":"p","task":0,"start":-5000,"finish":-4000}`)
	require.Len(t, log.Hints, 1)
	assert.Contains(t, log.Hints[0], "are negative, or are after")
}

// States by any of their words, and fields by no other name than their own.
func TestWordsOfConverters(t *testing.T) {
	for word, want := range map[string]trace.State{
		"SUCCEEDED": trace.Succeeded, "success": trace.Succeeded, "ok": trace.Succeeded, "COMPLETED": trace.Succeeded,
		"done": trace.Succeeded, "FAILED": trace.Failed, "TIMEOUT": trace.Failed, "CANCELLED by 1000": trace.Killed,
		"running": trace.Unfinished, "Lost": trace.Lost,
	} {
		log := read(t, `{"phase":"p","task":0,"start":0,"finish":9000,"state":"`+word+`"}`)
		assert.Equal(t, want, log.Phases[0].Attempts[0].State, word)
		assert.Zero(t, log.Faults.Total(), word)
	}
	log := read(t, `{"phase":"p","Task":1,"startTime":0,"finish":9000}`)
	require.Len(t, log.Hints, 1)
	assert.Contains(t, log.Hints[0], `unknown fields, ignored: "Task", "startTime"; the known fields are job, phase, task,`)
}

// A time that cannot be read is counted, in lines and in tables. An attempt with such a finish has ended: it did not hang.
func TestUnreadableTimes(t *testing.T) {
	for value, want := range map[string]trace.State{
		`1e300`: trace.Succeeded, `1e19`: trace.Succeeded, `1e18`: trace.Succeeded, `true`: trace.Succeeded, `[1]`: trace.Succeeded,
		`{"a":1}`: trace.Succeeded, `"soon"`: trace.Succeeded, `-5`: trace.Succeeded,
		`null`: trace.Unfinished, `""`: trace.Unfinished, `-1`: trace.Unfinished, `0`: trace.Unfinished,
		`"0001-01-01T00:00:00Z"`: trace.Unfinished,
	} {
		field := strings.Trim(value, `"`)
		for _, text := range []string{`{"phase":"p","task":0,"start":1000,"finish":` + value + `}`, "phase,task,start,finish\np,0,1000," + field} {
			log := read(t, text)
			a, impossible := log.Phases[0].Attempts[0], 0
			if want == trace.Succeeded {
				impossible = 1
			}
			assert.Equal(t, want, a.State, text)
			assert.False(t, a.Finish.Known(), text)
			assert.Equal(t, impossible, log.Faults[trace.BadTime], text)
		}
	}
	for _, key := range []string{"start", "ready", "submitted"} {
		log := read(t, `{"phase":"p","task":0,"finish":9,"`+key+`":1e300}`+"\n"+`{"phase":"p","task":1,"finish":9,"`+key+`":[1]}`)
		assert.Equal(t, 2, log.Faults[trace.BadTime], key)
	}
	a := read(t, `{"phase":"p","task":0,"start":0,"finish":0}`).Phases[0].Attempts[0]
	assert.Equal(t, trace.Known(0), a.Finish, "a task of 0 s at the beginning of the log's own time")
}

// A table may have tabs or semicolons; a column that stands twice is said.
func TestTablesOfAnyKind(t *testing.T) {
	for _, sep := range []string{",", "\t", ";"} {
		rows := []string{"phase,task,start,finish,host", "p,0,0,1000,", "p,1,0,2000,n"}
		log := read(t, strings.ReplaceAll(strings.Join(rows, "\n"), ",", sep))
		require.Len(t, log.Phases, 1, sep)
		assert.Len(t, log.Phases[0].Attempts, 2, sep)
		assert.Zero(t, log.Faults.Total(), sep)
	}
	log := read(t, "phase,task,start,start,finish\np,0,1,2,5000\n")
	assert.Equal(t, trace.Known(2), log.Phases[0].Attempts[0].Start)
	require.NotEmpty(t, log.Hints)
	assert.Contains(t, log.Hints[0], `has the column "start" twice`)
}

// A span within another is not counted beside it: the outermost are the tasks, or, where a thread has but one, those
// that hold no other.
func TestNestedSpans(t *testing.T) {
	span := func(name string, tid, ts, dur int) string {
		return fmt.Sprintf(`{"name":"%s","ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d}`, name, tid, ts*1000, dur*1000)
	}
	names := func(spans ...string) (list []string) {
		log := read(t, "["+strings.Join(spans, ",\n")+"]")
		for _, p := range log.Phases {
			for range p.Attempts {
				list = append(list, p.Name)
			}
		}
		return append(list, log.Hints...)
	}
	assert.Equal(t, []string{"a", "a", "left out: 2 of 4 spans: other spans of their thread contain them"},
		names(span("a", 1, 0, 9), span("b", 1, 1, 5), span("c", 1, 2, 1), span("a", 1, 9, 9)))
	assert.Equal(t, []string{"b", "b", "left out: 1 of 3 spans: they contain other spans of their thread"},
		names(span("main", 1, 0, 99), span("b", 1, 1, 5), span("b", 1, 7, 5)))
	assert.Equal(t, []string{"a", "b"}, names(span("a", 1, 0, 9), span("b", 1, 5, 9)), "who only overlaps is not within")

	many := make([]string, 40)
	for i := range many {
		many[i] = strings.Replace(span(fmt.Sprint("//path/", i), i%4, 10*i, 9), `{`, `{"cat":"build",`, 1)
	}
	log := read(t, "["+strings.Join(many, ",\n")+"]")
	require.Len(t, log.Phases, 1, "names that do not repeat are no phases")
	assert.Equal(t, "build", log.Phases[0].Name)
	assert.Equal(t, "//path/0", log.Phases[0].Names[0])
}

// What else is packed or written is named for what it is.
func TestWideText(t *testing.T) {
	for mark, want := range map[string]string{"\xff\xfe\x00\x00": "UTF-32", "\x00\x00\xfe\xff": "UTF-32", "\xff\xfe{": "UTF-16"} {
		_, err := trace.Read(strings.NewReader(mark), "x")
		assert.ErrorContains(t, err, "text in "+want+":")
	}
}

// Two attempts of one task that have the same number are said, if the log numbers its attempts.
func TestAttemptsOfOneNumber(t *testing.T) {
	line := `{"phase":"p","task":%d%s,"start":%d,"finish":%d}` + "\n"
	for _, c := range []struct {
		numbers [3]string // of a task's attempts; the third is another task's
		want    int
	}{
		{[3]string{`,"attempt":0`, `,"attempt":0`, `,"attempt":0`}, 1},
		{[3]string{`,"attempt":0`, `,"attempt":1`, `,"attempt":0`}, 0},
		{[3]string{"", `,"attempt":0`, ""}, 1},
		{[3]string{"", "", ""}, 0},
	} {
		text := ""
		for i, number := range c.numbers {
			text += fmt.Sprintf(line, i/2, number, 1000*i, 1000*i+500)
		}
		log := read(t, text)
		assert.Equal(t, c.want, log.Faults[trace.SameNumber], text)
		assert.Equal(t, c.want, log.Faults.Total(), text)
		assert.Len(t, log.Phases[0].Attempts, 3)
	}
	log := read(t, "phase,task,attempt,start,finish\np,0,2,0,5\np,0,2,7,9\n")
	assert.Equal(t, 1, log.Faults[trace.SameNumber], "of a table, too")
}

// A log that was joined with itself has each attempt once, and says how many are repeated. Attempts that differ in anything are
// several attempts.
func TestALogJoinedWithItself(t *testing.T) {
	for _, name := range []string{"lines", "array, lines", "table", "Alibaba", "Argo", "Bazel", "Spark", "Shark", "Hadoop 1"} {
		once := read(t, samples()[name].text)
		twice := read(t, samples()[name].text+"\n"+samples()[name].text)
		assert.Equal(t, held(once), held(twice), name)
		assert.Equal(t, recordsOfSample, twice.Faults[trace.Repeated], name)
	}
	const rows = "step,worker,seconds\n0,a,1\n0,b,2\n"
	steps, err := trace.ReadSteps(strings.NewReader(rows+rows), "x", trace.Columns{Step: "step", Worker: "worker", Seconds: "seconds"})
	require.NoError(t, err)
	assert.Equal(t, trace.Faults{trace.Repeated: 2}, steps.Faults)
	assert.Empty(t, steps.Lacking)
	log := read(t, strings.Repeat(`{"phase":"p","task":0,"start":0,"finish":9,"host":"n"}`+"\n"+`{"phase":"p","task":0,"start":0,"finish":9,"host":"m"}`+"\n", 2))
	assert.Len(t, log.Phases[0].Attempts, 2, "two copies that began and ended together")
	const line = `{"phase":"p","task":0,"start":0,"finish":9,"host":"n","preferred":["a","b"],"splits":[4,5]}` + "\n"
	for _, other := range []string{
		strings.Replace(line, `"finish":9`, `"finish":8`, 1), strings.Replace(line, `"n"`, `"m"`, 1), strings.Replace(line, "[4", "[3", 1),
		strings.Replace(line, `"b"`, `"c"`, 1), strings.Replace(line, `"start"`, `"attempt":1,"start"`, 1),
	} {
		log := read(t, line+line+other+other)
		assert.Equal(t, 2, log.Faults[trace.Repeated], other)
		assert.Len(t, log.Phases[0].Attempts, 2, other)
	}
}

// A log that can't be used says why: rows of another width, decimal commas, unknown words for a state, and lines of test2json
// without times.
func TestReasonsWhyALogIsOfNoUse(t *testing.T) {
	log := read(t, "phase,task,start,finish,host\np,0,0,900\np,1,0,900,n,x\np,2,0,900,n\n")
	assert.Equal(t, trace.Faults{trace.WrongWidth: 2}, log.Faults)
	log = read(t, "phase;task;start;finish\np;0;0,5;900,5\n")
	assert.Equal(t, 2, log.Faults[trace.DecimalComma])
	assert.Zero(t, log.Faults[trace.BadTime])
	assert.Equal(t, trace.Succeeded, log.Phases[0].Attempts[0].State)
	assert.Empty(t, log.Hints, "they are no microseconds")
	log = read(t, `{"phase":"p","task":0,"start":0,"finish":9000,"state":"finito"}
{"phase":"p","task":1,"start":0,"finish":9000,"state":"FINITO"}
{"phase":"p","task":2,"start":0,"finish":9000,"state":"vorbei"}`)
	assert.Equal(t, trace.Faults{trace.UnknownState: 3}, log.Faults)
	assert.Equal(t, []string{`unknown states: "finito", "vorbei"; the known states are succeeded, failed, killed, lost, cached, skipped ` +
		"and unfinished"}, log.Hints)
	log = read(t, "JobID|JobName|State|Submit|Start|End\n7|train|WONDERFUL|2026-03-01T10:00:00|2026-03-01T10:00:10|2026-03-01T11:00:10\n")
	require.Len(t, log.Hints, 1)
	assert.Contains(t, log.Hints[0], `unknown states: "wonderful";`)
	log = read(t, `{"Action":"run","Package":"p","Test":"T"}`+"\n"+`{"Action":"pass","Package":"p","Test":"T","Elapsed":1}`)
	assert.Contains(t, log.Hints, "the events have no Time: use go test -json, or go tool test2json -t")
	for table, want := range map[string]string{"0;a;1,5\n0;b;2,5\n": "decimal comma instead of a point, treated as unknown: 2", "0;a\n0;b\n": "rows with more or fewer values than the first line has columns, dropped: 2"} {
		_, err := trace.ReadSteps(strings.NewReader("step;rank;s\n"+table), "x", trace.Columns{Step: "step", Worker: "rank", Seconds: "s"})
		assert.ErrorContains(t, err, want)
	}
}

// A log that stops while packages run says so. A test that did not end is no such sign if its package ended: it
// panicked.
func TestAGoTestLogThatStopsHalfway(t *testing.T) {
	event := func(action, pkg, test string) string {
		return fmt.Sprintf(`{"Time":"2026-03-01T10:00:00Z","Action":%q,"Package":%q,"Test":%q}`+"\n", action, pkg, test)
	}
	whole := event("start", "a", "") + event("run", "a", "T") + event("fail", "a", "")
	assert.Empty(t, read(t, whole).Hints)
	for _, more := range []string{
		event("start", "b", ""), event("run", "b", "T"), event("start", "b", "") + event("run", "b", "T") + event("pass", "b", "T"),
	} {
		hints := read(t, whole+more).Hints
		require.Len(t, hints, 1, more)
		assert.Contains(t, hints[0], "1 package in it has not ended")
	}
}

// A part of a rolled log is known by its number, however long that is.
func TestAPartWithTenDigits(t *testing.T) {
	event := func(index int) string {
		return fmt.Sprintf(`{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task Info":{"Index":%d,"Launch Time":1000,"Finish Time":2000}}`+"\n",
			index)
	}
	log, err := trace.Open(folder(t, map[string]string{
		"events_1_app": event(0), "events_1000000000_app": event(1), "events_2_app": event(2),
	}))
	require.NoError(t, err)
	assert.Len(t, log.Phases[0].Attempts, 3)
	assert.Equal(t, 1_000_000_000-3, log.Faults[trace.MissingLog], "they are not one log's neighbours")
}

// A report may be in ISO-8859-1, and may be so without a word.
func TestJUnitInLatin1(t *testing.T) {
	const suite = `<testsuite name="s"><testcase name="caf` + "\xe9" + `" time="1"/><testcase name="b" time="2"/></testsuite>`
	for _, head := range []string{`<?xml version="1.0" encoding="ISO-8859-1"?>`, `<?xml version="1.0"?>`, ""} {
		log := read(t, head+suite)
		assert.Zero(t, log.Faults.Total(), "%s: %v", head, log.Faults)
		assert.Equal(t, []string{"café", "b"}, log.Phases[0].Names, head)
	}
}
