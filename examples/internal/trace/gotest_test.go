package trace_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// goTestLog writes events of go test. A line of script has the milliseconds since 10:00, the action, the package, the
// test, the elapsed seconds and the output; a dash is an absent field.
func goTestLog(script string) string {
	var log strings.Builder
	for line := range strings.Lines(strings.TrimSpace(script)) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 6)
		for len(f) < 6 {
			f = append(f, "-")
		}
		ms, _ := strconv.Atoi(f[0])
		fmt.Fprintf(&log, `{"Time":"2026-03-01T10:%02d:%02d.%03dZ","Action":%q,"Package":%q`, ms/60000, ms/1000%60, ms%1000, f[1], f[2])
		for i, field := range []string{`,"Test":"%s"`, `,"Elapsed":%s`, `,"Output":"%s"`} {
			if f[3+i] != "-" {
				fmt.Fprintf(&log, field, f[3+i])
			}
		}
		log.WriteString("}\n")
	}
	return log.String()
}

// seconds lists the attempts of a log as phase, name, seconds and state.
func seconds(log *trace.Log) (list []string) {
	for i := range log.Phases {
		p := &log.Phases[i]
		for k := range p.Attempts {
			d, _ := p.Attempts[k].Duration()
			list = append(list, fmt.Sprintf("%s: %s %v %v", p.Name, p.TaskName(p.Attempts[k].Task), d.Seconds(), p.Attempts[k].State))
		}
	}
	return list
}

// A duration that the log states is the duration: of a parallel test whose output interleaves with that of others, and
// of a log that was made of another output later. The times of the events are used if they round to it.
func TestStatedDurations(t *testing.T) {
	log := read(t, goTestLog(`
0 start p
0 run p TestFine
4 pass p TestFine 0
4 run p TestParallel
4 pause p TestParallel
1000 cont p TestParallel
5670 cont p TestParallel
6110 pass p TestParallel 5.11
6110 run p TestExact
7110 pass p TestExact 1
7120 pass p - 7.12
0 run q TestLater
1 pass q TestLater 3.18
9 pass q - 3.2
`))
	assert.ElementsMatch(t, []string{
		"packages: p 7.12 succeeded", "packages: q 3.2 succeeded", "tests of p: TestFine 0.004 succeeded",
		"tests of p: TestParallel 5.11 succeeded", "tests of p: TestExact 1 succeeded", "tests of q: TestLater 3.18 succeeded",
	}, seconds(log))
	assert.Zero(t, log.Faults.Total(), log.Faults)
	for _, p := range log.Phases {
		for _, a := range p.Attempts {
			assert.LessOrEqual(t, a.Ready.Or(math.MaxInt64), a.Start.Or(0), "a test is ready before it starts")
		}
	}
}

// Results from a cache, skipped tests, packages without tests and packages that were not built did not run. They are
// counted, and no task has their times.
func TestGoTestsThatDidNotRun(t *testing.T) {
	log := read(t, goTestLog(`
0 start p
0 run p TestA
0 run p TestA/env
0 skip p TestA/env 0
2000 pass p TestA 2
2000 run p TestLong
2000 skip p TestLong 0
2100 pass p - 2.1
0 start cached
0 run cached TestC
0 pass cached TestC 7.5
1 output cached - - ok  \tcached\t(cached)\n
1 pass cached - 0.001
0 start prints
1 output prints - - it is not (cached)\n
9000 output prints - - ok  \tprints\t9.000s\n
9000 pass prints - 9
0 start none
400 output none - - ok  \tnone\t0.400s [no tests to run]\n
400 pass none - 0.4
0 output empty - - ?   \tempty\t[no test files]\n
0 skip empty - 0
0 start unbuilt
0 fail unbuilt - 0
`))
	assert.ElementsMatch(t, []string{
		"packages: p (TestA/env, TestLong skipped) 2.1 succeeded", "packages: prints 9 succeeded",
		"tests of p: TestA (TestA/env skipped) 2 succeeded", "tests of cached: TestC 7.5 cached",
	}, seconds(log))
	assert.Equal(t, map[string]int{
		trace.CachedPackages: 1, trace.CachedTests: 1, trace.SkippedTests: 1, trace.EmptyPackages: 2, trace.UnbuiltPackages: 1,
	}, log.NotRun)
	assert.Empty(t, log.Hints)
}

// A package that claims less time than its longest test is said, and not used.
func TestAPackageThatClaimsTooLittle(t *testing.T) {
	log := read(t, goTestLog("0 run p TestA\n1 pass p TestA 5.22\n9 pass p - 0.009\n0 run q TestA\n10 pass q TestA 0.01\n5 pass q - 0.005"))
	assert.ElementsMatch(t, []string{"tests of p: TestA 5.22 succeeded", "packages: q 0.005 succeeded", "tests of q: TestA 0.01 succeeded"},
		seconds(log), "the time of a test is rounded to hundredths")
	assert.Equal(t, []string{"1 package claims less time than the longest test: the time of the package is not used"}, log.Hints)
	log = read(t, `<testsuite name="s" time="0.1"><testcase name="a" time="2"/></testsuite>`)
	assert.Equal(t, []string{"1 suite claims less time than the longest test: the time of the suite is not used"}, log.Hints)
}

// A package that ends, such as at go test's timeout, ends its tests. A parallel test that waited for its turn has no time.
func TestAPackageEndsItsTests(t *testing.T) {
	log := read(t, goTestLog("0 run p T\n1000 run p U\n1000 pause p U\n2000 fail p - 2\n3000 run p T\n4000 run q T\n4500 pass q T 0.5"))
	assert.Equal(t, []string{
		"packages: p 2 failed", "tests of p: T 2 killed", "tests of p: U 0 killed", "tests of p: T 0 unfinished",
		"tests of q: T 0.5 succeeded",
	}, seconds(log))
	log = read(t, goTestLog("0 run p BenchmarkX\n2000 pass p - 2"))
	assert.Equal(t, []string{"packages: p 2 succeeded", "tests of p: BenchmarkX 0 unfinished"}, seconds(log), "a benchmark has no end")
}

// Go does not count parallel subtests in the time of their test: "--- PASS: T (0.00s)" above "--- PASS: T/x (0.60s)". So such a
// test takes the time from its start to its end, and a test of a JUnit report at least that of its longest part.
func TestParallelSubtestsCount(t *testing.T) {
	for events, want := range map[string]string{ // of test T of package p, after its start
		"0 run p T/x\n0 pause p T/x\n1 cont p T/x\n601 pass p T/x 0.6\n602 pass p T 0":         "T 0.602 succeeded",
		"0 run p T/x\n700 pause p T/x\n700 cont p T/x\n1300 fail p T/x 0.6\n1300 fail p T 0.7": "T 1.3 failed",
		"0 pause p T\n500 cont p T\n500 pause p T/x\n900 pass p T/x 0.4\n900 pass p T 0":       "T 0.4 succeeded",
		"0 run p T/x/y\n600 pass p T/x/y 0.6\n600 pass p T/x 0\n600 pass p T 0":                "T 0.6 succeeded",
		"0 pass p T/x 3.2\n0 pass p T 0":                                                       "T 3.2 succeeded",
	} {
		log := read(t, goTestLog("0 run p T\n"+events))
		assert.Contains(t, seconds(log), "tests of p: "+want)
		assert.Contains(t, log.Hints, "1 test has parallel subtests, which go test does not count: the time from the start of the "+
			"test to its end is used")
	}
	log := read(t, goTestLog("0 run p T\n0 run p T/x\n600 pass p T/x 0.6\n5000 pass p T 0.6\n5000 pass p - 5"))
	assert.Contains(t, seconds(log), "tests of p: T 0.6 succeeded", "go test counts a subtest that is not parallel")
	assert.Empty(t, log.Hints)
	log = read(t, `<testsuite name="s"><testcase name="T" time="0"/><testcase name="T/x" time="0.6"/><testcase name="T/y" time="0.7"/>
<testcase name="U" time="1"><testcase name="in" time="4"/></testcase></testsuite>`)
	assert.Equal(t, []string{"s: T 0.7 succeeded", "s: U 4 succeeded"}, seconds(log))
	assert.Contains(t, log.Hints, "2 tests claim less time than the longest part: the time of the test is that of this part")
}

// A test of a report begins at its own time. Disabled tests did not run. Tests within tests, and tests without a name,
// are said.
func TestJUnitTimes(t *testing.T) {
	const at = `timestamp="2026-03-01T10:00:0`
	log := read(t, `<testsuites><testsuite name="beside" `+at+`0Z">
<testcase name="a" `+at+`0Z" time="3.0"/><testcase name="b" `+at+`0.25Z" time="2.5"/><testcase name="c" time="1"/></testsuite>
<testsuite name="off"><testcase name="A" status="run" result="completed" time="1."/>
<testcase name="B" status="notrun" result="suppressed" time="0."/><testcase name="C" status="disabled" time="0"/>
<testcase name="D" status="run" result="skipped" time="0"/><testcase name="E"><skipped/></testcase></testsuite>
<testsuite name="parts"><testcase classname="k" name="T/x" time="1"/><testcase classname="k" name="T" time="2"/>
<testcase classname="k" name="no/part" time="4"/><testcase classname="k" name="outer"><testcase name="in" time="1.5"><failure/></testcase></testcase>
<testcase time="1"/></testsuite></testsuites>`)
	assert.ElementsMatch(t, []string{
		"beside: a 3 succeeded", "beside: b 2.5 succeeded", "beside: c 1 succeeded", "off: A 1 succeeded", "parts: k.T 2 succeeded",
		"parts: k.no/part 4 succeeded", "parts: k.outer 1.5 failed", "parts: 3 1 succeeded",
	}, seconds(log))
	beside := log.Phases[0].Attempts
	assert.Equal(t, int64(250), beside[1].Start.Or(0)-beside[0].Start.Or(0))
	assert.Equal(t, beside[0].Finish, beside[2].Start, "a test without a time begins after the tests before it")
	assert.Equal(t, map[string]int{trace.SkippedTests: 4}, log.NotRun)
	assert.Equal(t, []string{"2 cases are parts of another test, whose time has theirs"}, log.Hints)
}

// A test whose part was skipped is other work than the whole test, and the part is counted.
func TestJUnitSkippedParts(t *testing.T) {
	log := read(t, `<testsuites><testsuite name="s"><testcase classname="k" name="T" time="2"/>
<testcase classname="k" name="T/slow"><skipped/></testcase><testcase classname="k" name="T/fast" time="1"/>
<testcase classname="k" name="U" time="3"><testcase name="in"><skipped/></testcase></testcase></testsuite></testsuites>`)
	assert.ElementsMatch(t, []string{"s: k.T (T/slow skipped) 2 succeeded", "s: k.U (in skipped) 3 succeeded"}, seconds(log))
	assert.Equal(t, map[string]int{trace.SkippedTests: 2}, log.NotRun)
}

// Packages that ran no test are no runs: a package without test files under -cover passes in 0 s, and a package that
// cannot be built fails in 0 s, though the times of its events differ.
func TestPackagesThatRanNothing(t *testing.T) {
	const day = `{"Time":"2026-03-01T10:00:00`
	log := read(t, day+`.0001Z","Action":"start","Package":"none"}
`+day+`.0009Z","Action":"output","Package":"none","Output":"\tnone\t\tcoverage: 0.0% of statements\n"}
`+day+`.0011Z","Action":"pass","Package":"none","Elapsed":0}
`+day+`.0009Z","Action":"start","Package":"broken"}
`+day+`.0011Z","Action":"output","Package":"broken","Output":"FAIL\tbroken [build failed]\n"}
`+day+`.0011Z","Action":"fail","Package":"broken","Elapsed":0}
`+day+`Z","Action":"start","Package":"p"}
`+day+`.0011Z","Action":"output","Package":"p","Output":"ok  \tp\t2s\tcoverage: 12.0% of statements\n"}
{"Time":"2026-03-01T10:00:02Z","Action":"pass","Package":"p","Elapsed":2}
`)
	assert.Equal(t, []string{"packages: p 2 succeeded"}, seconds(log))
	assert.Equal(t, map[string]int{trace.EmptyPackages: 1, trace.UnbuiltPackages: 1}, log.NotRun)
}

// Attempt lines may say that an attempt did not run.
func TestLinesThatDidNotRun(t *testing.T) {
	log := read(t, `{"phase":"p","task":0,"start":0,"finish":900}
{"phase":"p","task":1,"start":0,"finish":0,"state":"skipped"}
{"phase":"p","task":1,"start":0,"finish":700,"state":"cached"}
{"phase":"p","task":2,"start":0,"state":"DISABLED"}
`)
	assert.Equal(t, []string{"p: 0 0.9 succeeded", "p: 1 0.7 cached"}, seconds(log))
	assert.Len(t, log.NotRun, 3)
	assert.Zero(t, log.Faults.Total(), log.Faults)
}

// Other formats state durations, too: the time that a Slurm job was suspended, and the time that Nextflow polled, is not
// time of the task. Tests that Bazel could not start did not run.
func TestOtherStatedDurations(t *testing.T) {
	for text, want := range map[string]string{
		"JobID|JobName|State|Submit|Start|End|Elapsed\n7|train|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:10|2026-03-01T11:00:10|00:20:00\n":                      "train: train 1200 succeeded",
		"name\tstatus\tsubmit\tstart\tcomplete\tduration\trealtime\nALIGN (s1)\tCOMPLETED\t2026-03-01 10:00:00\t2026-03-01 10:00:01\t2026-03-01 10:00:31\t31s\t22s\n": "ALIGN: s1 22 succeeded",
	} {
		log := read(t, text)
		assert.Equal(t, []string{want}, seconds(log))
		a := log.Phases[0].Attempts[0]
		assert.LessOrEqual(t, a.Ready.Or(0), a.Start.Or(0))
	}
	log := read(t, `{"id":{"testResult":{"label":"//a:t","run":1}},"testResult":{"status":"FAILED_TO_BUILD","testAttemptStartMillisEpoch":"5","testAttemptDurationMillis":"0"}}
{"id":{"testResult":{"label":"//a:u","run":1}},"testResult":{"status":"PASSED","testAttemptStartMillisEpoch":"5","testAttemptDurationMillis":"900"}}
`)
	assert.Equal(t, []string{"tests: //a:u 0.9 succeeded"}, seconds(log))
	assert.Equal(t, map[string]int{"tests with the status FAILED_TO_BUILD": 1}, log.NotRun)
}

// A suite whose tests have names has no hint, and a test without a name has one where its time is asked for.
func TestJUnitWithoutNames(t *testing.T) {
	const named, nameless = `<testcase name="T" time="2"/>`, `<testcase time="2"/>`
	for cases, want := range map[string][]string{
		named + nameless: {"1 case has no name, so its time cannot be used"}, named: nil,
	} {
		text := `<testsuite name="s">` + cases + `</testsuite>`
		tests, err := trace.ReadTests(strings.NewReader(text))
		require.NoError(t, err)
		assert.Equal(t, want, tests.Hints)
		assert.Empty(t, read(t, text).Hints)
	}
}
