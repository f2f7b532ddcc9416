package trace_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain/name.1 <x>": "plain/name.1 <x>", `C:\x`: `C:\x`, "é 日本 😀": "é 日本 😀",
		"a\x1b[31mb\x07": `a\x1b[31mb\a`, "a\r\nb\tc": `a\r\nb\tc`, "\x7f\u0085": `\x7f\u0085`, "a\u202eb\u2028\u200b": `a\u202eb\u2028\u200b`, "\xff": "\uFFFD",
	} {
		assert.Equal(t, want, trace.Printable(text))
		assert.Equal(t, want, trace.Printable(want), "what is printable stays as it is")
	}
	assert.Zero(t, testing.AllocsPerRun(10, func() { trace.Printable("host-1.example") }))
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b]0;t\x07\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range trace.Printable(text) {
			require.True(t, unicode.IsGraphic(r), "%q", r)
		}
	})
}

// Names from a log are harmless, of bounded length, and stay different.
func TestNames(t *testing.T) {
	long := strings.Repeat("é", 50_000)
	log := read(t, `{"job":"\u001b[31mRED","phase":"p\nFAKE","task":0,"start":0,"finish":1,"host":"a\tb","executor":"\u009b"}`+"\n"+
		`{"job":"`+long+`1","phase":"p","task":0}`+"\n"+`{"job":"`+long+`2","phase":"p","task":0}`)
	require.Len(t, log.Phases, 3)
	assert.Equal(t, `\x1b[31mRED p\nFAKE a\tb \u009b`, strings.Join([]string{log.Phases[0].Job, log.Phases[0].Name, log.Hosts[1].Name, log.Executors[1].Name}, " "))
	for _, p := range log.Phases[1:] {
		assert.Less(t, len(p.Job), 256)
	}
	assert.NotEqual(t, log.Phases[1].Job, log.Phases[2].Job)
}

// Who names things by numbers is understood.
func TestNumbersAsNames(t *testing.T) {
	log := read(t, `{"job":0,"phase":3,"task":0,"start":0,"finish":1,"host":5,"executor":7}`+"\n"+
		`{"job":1,"phase":3,"task":"1","start":"0","finish":"2024-05-01T10:00:00.5Z","host":5,"executor":7}`)
	require.Len(t, log.Phases, 2)
	assert.Equal(t, []string{"0", "3", "1", "3"}, []string{log.Phases[0].Job, log.Phases[0].Name, log.Phases[1].Job, log.Phases[1].Name})
	assert.Equal(t, []trace.Host{{}, {Name: "5"}}, log.Hosts)
	assert.Equal(t, []trace.Executor{{}, {Name: "7", Host: 1}}, log.Executors)
	assert.Equal(t, trace.Known(1714557600500), log.Phases[1].Attempts[0].Finish)
	assert.Equal(t, []string{"1"}, log.Phases[1].Names)
	assert.Zero(t, log.Faults.Total(), log.Faults)
}

// A task may have a name; the tasks of a phase get their indices in the order in which they occur.
func TestNamedTasks(t *testing.T) {
	log := read(t, strings.Join([]string{
		`{"phase":"p","task":7,"start":0}`, `{"phase":"p","task":"b","start":1}`, `{"phase":"p","task":"a","start":2}`,
		`{"phase":"p","task":8,"start":3}`, `{"phase":"p","task":"b","start":4}`, `{"phase":"p","task":7,"start":5}`,
		`{"phase":"q","task":"b","start":6}`,
	}, "\n"))
	var tasks []int32
	for _, p := range log.Phases {
		for _, a := range p.Attempts {
			tasks = append(tasks, a.Task)
		}
	}
	assert.Equal(t, []int32{0, 1, 2, 3, 1, 0, 0}, tasks)
	assert.Equal(t, []string{"7", "b", "a", "8"}, log.Phases[0].Names)
}

// A log of one's own whose times look like another unit is taken as it is, and says so.
func TestUnits(t *testing.T) {
	for text, want := range map[string]string{
		`"start":1700000000.5,"finish":1700000009`:                   "January and February 1970: are they in seconds?",
		`"start":0.5,"finish":4`:                                     "at most 4 ms: are the times in seconds?",
		`"start":0,"finish":60000000`:                                "at least 16h40m0s: are the times in microseconds?",
		`"start":1700000000000000,"finish":1700000001000000`:         "after the year 2248: are they in microseconds or nanoseconds?",
		`"start":1700000000000000000,"finish":1700000001000000000`:   "after the year 2248",
		`"start":1700000000000,"finish":1700000001000`:               "",
		`"start":0,"finish":5000`:                                    "",
		`"start":"2024-05-01T10:00:00Z","finish":1714557601000`:      "",
		`"start":5000000000,"finish":5000001000,"state":"succeeded"`: "",
	} {
		log := read(t, `{"phase":"p","task":0,`+text+`}`)
		if want == "" {
			assert.Empty(t, log.Hints, text)
			continue
		}
		require.Len(t, log.Hints, 1, text)
		assert.Contains(t, log.Hints[0], want, text)
	}
	line := `{"phase":"p","task":%d,"start":%d,"finish":%d}` + "\n"
	log := read(t, fmt.Sprintf(line+line+line, 0, 1700000000000, 1700000009000, 1, 1700000000, 1700000009, 2, 1700000000007, 1700000009000))
	assert.Equal(t, []string{"1 of 3 attempts start in January or February 1970, and others after 2001: are their times in seconds? Times " +
		"must be milliseconds, or text as in RFC 3339"}, log.Hints)
	log = read(t, fmt.Sprintf(line+line, 0, 5, 9000000, 1, 1300000000, 1300009000))
	assert.Empty(t, log.Hints, "milliseconds since the log's own start, over 15 days")
	log = read(t, fmt.Sprintf(line+line+line, 0, 1700000000000, 1700000000000, 1, 1700000000000, 1700000000000, 2, 1700000001000, 1700000009000))
	assert.Equal(t, []string{"half of the attempts take 0 s in a log of whole seconds: their times are not known"}, log.Hints)
}

// An absurd number of a task, or an absurd declared number of tasks, does not make a reader store millions of tasks.
func TestFarTaskNumbers(t *testing.T) {
	log := read(t, `{"phase":"p","task":16777215,"start":0}`+"\n"+`{"phase":"p","task":7,"start":1}`+"\n"+`{"phase":"p","task":16777215,"start":2}`+"\n"+
		`{"phase":"q","tasks":16777215}`+"\n"+`{"phase":"q","task":9,"start":0}`+"\n"+`{"phase":"r","tasks":200000}`)
	assert.Equal(t, []int{2, 1, 200000}, []int{log.Phases[0].Tasks, log.Phases[1].Tasks, log.Phases[2].Tasks})
	assert.Equal(t, []int32{1, 0, 1}, []int32{log.Phases[0].Attempts[0].Task, log.Phases[0].Attempts[1].Task, log.Phases[0].Attempts[2].Task})
	assert.Zero(t, log.Faults.Total(), log.Faults)
}
