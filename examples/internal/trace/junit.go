package trace

import (
	"cmp"
	"encoding/xml"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/junit"
	"github.com/straggler-go/straggler/examples/internal/words"
)

// readJUnit reads test reports in JUnit's XML. A suite is a phase. A test of one name is the same work in every report.
//
// A test begins at its own time, if the report has it. Otherwise the tests of a suite are taken to run one after the
// other, from the time of the suite. If suites have no time, each begins at the end of the suite before. Tests that
// were skipped or disabled did not run. A test with the name of another test of its suite, a slash and more is a part
// of that test, and so is a test inside another.
func readJUnit(in io.Reader, tests *Tests) *builder {
	j := &junitReport{builder: newBuilder(JUnit), report: tests}
	mistakes, half := junit.Read(in, j.begin, j.end)
	for range j.suites {
		j.end(junit.Suite)
	}
	j.hintShort("suite", "test", j.short, "not used")
	j.hintShort("test", "part", j.shortTests, "that of this part")
	if j.parts > 0 {
		j.hint(words.Counted(j.parts, "case") + words.Plural(j.parts, " is a part", " are parts") +
			" of another test, whose time has theirs")
	}
	if j.nameless > 0 && tests != nil {
		j.hint(words.Counted(j.nameless, "case") +
			words.Plural(j.nameless, " has no name, so its time", " have no name, so their times") + " cannot be used")
	}
	if half {
		j.log.Faults[HalfLast]++
	}
	j.log.Faults[Broken] += mistakes
	return j.builder
}

type junitReport struct {
	*builder
	report *Tests // nil if nobody asks for the tests
	suites []*junitSuite
	clock  int64        // end of the last test
	open   []*junitTest // the open tests, the outermost first
	// short counts suites that claim less time than their longest test, and shortTests tests that claim less than their
	// longest part, such as Go's tests with parallel subtests. parts counts tests within tests, and nameless the tests without
	// a name.
	short, shortTests, parts, nameless int
}

type junitSuite struct {
	name, host string
	at         int64
	begun      Opt
	seconds    float64 // that the suite states; negative if it states none
	tests      []junitTest
}

type junitTest struct {
	class, name string
	start       Opt
	seconds     float64 // negative if the report does not tell
	timed       bool    // the report has the time of the test itself, not only of tests within it
	state       State
	ran, short  bool     // short says that the report states less time than that of a part
	skipped     []string // parts of the test that did not run
}

func attribute(e *xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// secondsOf returns the time of an element; negative if it has none.
func secondsOf(e *xml.StartElement) float64 {
	seconds, err := junit.Seconds(attribute(e, "time"))
	if err != nil || !(seconds >= 0 && seconds*1000 < maxTime) {
		return -1
	}
	return seconds
}

func (j *junitReport) begin(e *xml.StartElement) {
	switch e.Name.Local {
	case junit.Suite:
		j.log.Records++
		s := &junitSuite{name: attribute(e, "name"), host: attribute(e, "hostname"), at: j.clock, seconds: secondsOf(e)}
		if n := len(j.suites); n > 0 && s.name == "" {
			s.name = j.suites[n-1].name
		}
		s.begun = momentOf([]byte(attribute(e, "timestamp")), &j.log.Faults)
		s.at = s.begun.Or(s.at)
		j.suites = append(j.suites, s)
	case junit.Case:
		j.log.Records++
		seconds := secondsOf(e)
		j.open = append(j.open, &junitTest{
			class: attribute(e, "classname"), name: attribute(e, "name"), seconds: seconds, timed: seconds >= 0,
			state: Succeeded, ran: didRun(e), start: momentOf([]byte(attribute(e, "timestamp")), &j.log.Faults),
		})
	case "failure", "error":
		if n := len(j.open); n > 0 {
			j.open[n-1].state = Failed
		}
	case "skipped", "disabled":
		if n := len(j.open); n > 0 {
			j.open[n-1].ran = false
		}
	}
}

// didRun reports whether a test ran, as far as its attributes tell. GoogleTest and CTest write them.
func didRun(e *xml.StartElement) bool {
	switch strings.ToLower(attribute(e, "status")) {
	case "notrun", "disabled", "skipped":
		return false
	}
	switch strings.ToLower(attribute(e, "result")) {
	case "suppressed", "skipped", "disabled":
		return false
	}
	return true
}

func (j *junitReport) end(name string) {
	switch n := len(j.suites); {
	case name == junit.Suite && n > 0:
		s := j.suites[n-1]
		j.suites = j.suites[:n-1]
		j.take(s)
	case name == junit.Case && len(j.open) > 0:
		t := j.open[len(j.open)-1]
		j.open = j.open[:len(j.open)-1]
		switch {
		case len(j.open) > 0:
			outer := j.open[len(j.open)-1]
			j.part(outer, t)
			if t.state == Failed {
				outer.state = Failed
			}
			if !outer.timed && t.seconds >= 0 {
				outer.seconds = max(outer.seconds, 0) + t.seconds
			}
		case n > 0:
			j.suites[n-1].tests = append(j.suites[n-1].tests, *t)
		default:
			j.take(&junitSuite{at: j.clock, seconds: -1, tests: []junitTest{*t}})
		}
	}
}

// part counts a test within a test. If the part did not run, it is named, because a test without it is other work. A test
// takes at least the time of its part.
func (j *junitReport) part(of, t *junitTest) {
	j.pass([]byte("of tests within tests"))
	j.parts++
	if of.timed && t.ran && t.seconds > of.seconds+2*statedError {
		if of.seconds = t.seconds; !of.short {
			j.shortTests++
		}
		of.short = true
	}
	if !t.ran {
		j.notRun(SkippedTests)
		of.skipped = append(of.skipped, t.name)
	}
	of.skipped = append(of.skipped, t.skipped...)
}

// take adds the tests of a suite. The suites inside it were added before.
func (j *junitReport) take(s *junitSuite) {
	j.report.begin()
	if !s.begun.Known() {
		s.at = max(s.at, j.clock)
	}
	whole := map[[2]string]*junitTest{} // tests that may have parts
	for i := range s.tests {
		whole[[2]string{s.tests[i].class, s.tests[i].name}] = &s.tests[i]
	}
	own := make([]*junitTest, 0, len(s.tests)) // tests that are no part of another
	for i := range s.tests {
		t := &s.tests[i]
		of, _, within := strings.Cut(t.name, "/")
		if test := whole[[2]string{t.class, of}]; within && test != nil {
			j.part(test, t)
			continue
		}
		own = append(own, t)
	}
	phase, longest, failed := -1, -1., false
	for _, t := range own {
		j.tell(s, t)
		if !t.ran {
			j.notRun(SkippedTests)
			continue
		}
		if phase < 0 {
			phase = j.phase("tests", nameOf([]byte(s.name)))
		}
		j.takeTest(phase, s, t)
		longest, failed = max(longest, t.seconds), failed || t.state == Failed
	}
	j.clock = max(j.clock, s.at)
	if phase < 0 {
		return
	}
	j.report.span(s.begun, Opt{}) // the end of the tests is not known: they may have run side by side
	switch {
	case s.seconds > 0 && s.seconds+2*statedError < longest:
		j.short++
	case s.seconds > 0 && s.name != "":
		j.report.ran(TestRun{Package: s.name, Seconds: s.seconds, Failed: failed})
	}
}

// tell adds the run of a test for those who ask for the tests.
func (j *junitReport) tell(s *junitSuite, t *junitTest) {
	r := TestRun{Package: cmp.Or(s.name, t.class), Test: cmp.Or(t.name, t.class), Seconds: t.seconds, Skipped: !t.ran}
	switch {
	case r.Test == "":
		j.nameless++
	case r.Skipped:
		r.Seconds = 0
		j.report.ran(r)
	case r.Seconds >= 0:
		r.Failed = t.state == Failed
		j.report.ran(r)
	}
}

// takeTest adds a test that ran. It begins at its own time, or at the end of the test before.
func (j *junitReport) takeTest(phase int, s *junitSuite, t *junitTest) {
	start := t.start.Or(s.at)
	a := Attempt{Task: j.count(phase), Start: Known(start), State: t.state, Host: j.host([]byte(s.host), nil)}
	a.Executor = j.executor([]byte(s.name), a.Host, 0)
	if t.seconds >= 0 {
		end := start + int64(math.Round(t.seconds*1000))
		a.Finish = Known(end)
		s.at = max(s.at, end)
	}
	slices.Sort(t.skipped)
	j.nameTask(phase, a.Task, []byte(workOf(strings.TrimPrefix(t.class+"."+t.name, "."), t.skipped)))
	j.add(phase, a)
}
