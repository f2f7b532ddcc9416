package trace

import (
	"encoding/xml"
	"io"
	"math"
	"strings"

	"github.com/straggler-go/straggler/examples/internal/junit"
)

// readJUnit reads test reports in JUnit's XML. A suite is a phase. Its tests are taken to run one after the other,
// from the time of the suite. A test of one name is the same work in every report. If suites have no time, each
// begins at the end of the suite before.
func readJUnit(in io.Reader) *builder {
	j := &junitReport{builder: newBuilder(JUnit)}
	mistakes, half := junit.Read(in, j.begin, j.end)
	if half {
		j.log.Faults[HalfLast]++
	}
	j.log.Faults[Broken] += mistakes
	return j.builder
}

type junitReport struct {
	*builder
	suites []junitSuite // the open suites
	clock  int64        // end of the last test
	test   *junitTest
}

type junitSuite struct {
	name, host string
	phase      int // -1 until it has a test
	at         int64
}

type junitTest struct {
	name   string
	millis int64
	timed  bool
	state  State
	ran    bool
}

func attribute(e *xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (j *junitReport) begin(e *xml.StartElement) {
	switch e.Name.Local {
	case "testsuite":
		j.log.Records++
		s := junitSuite{name: attribute(e, "name"), host: attribute(e, "hostname"), phase: -1, at: j.clock}
		if n := len(j.suites); n > 0 && s.name == "" {
			s.name = j.suites[n-1].name
		}
		if at, ok := momentOf([]byte(attribute(e, "timestamp")), &j.log.Faults).Get(); ok {
			s.at = at
		}
		j.suites = append(j.suites, s)
	case "testcase":
		j.log.Records++
		t := &junitTest{name: strings.TrimPrefix(attribute(e, "classname")+"."+attribute(e, "name"), "."), state: Succeeded, ran: true}
		seconds, err := junit.Seconds(attribute(e, "time"))
		if t.timed = err == nil && seconds >= 0 && seconds*1000 < maxTime; t.timed {
			t.millis = int64(math.Round(seconds * 1000))
		}
		j.test = t
	case "failure", "error":
		if j.test != nil {
			j.test.state = Failed
		}
	case "skipped", "disabled":
		if j.test != nil {
			j.test.ran = false
		}
	}
}

func (j *junitReport) end(name string) {
	switch n := len(j.suites); {
	case name == "testsuite" && n > 0:
		j.clock = max(j.clock, j.suites[n-1].at)
		j.suites = j.suites[:n-1]
	case name == "testcase" && j.test != nil:
		if n == 0 {
			j.suites = append(j.suites, junitSuite{phase: -1, at: j.clock})
			defer func() { j.clock = j.suites[0].at; j.suites = j.suites[:0] }()
		}
		j.take(&j.suites[len(j.suites)-1])
		j.test = nil
	}
}

// take adds the test to its suite.
func (j *junitReport) take(s *junitSuite) {
	t := j.test
	if !t.ran {
		j.notRun("skipped tests")
		return
	}
	if s.phase < 0 {
		s.phase = j.phase("tests", nameOf([]byte(s.name)))
	}
	a := Attempt{Task: j.count(s.phase), Start: Known(s.at), State: t.state, Host: j.host([]byte(s.host), nil)}
	a.Executor = j.executor([]byte(s.name), a.Host, 0)
	if t.timed {
		s.at += t.millis
		a.Finish = Known(s.at)
		j.clock = max(j.clock, s.at)
	}
	j.nameTask(s.phase, a.Task, []byte(t.name))
	j.add(s.phase, a)
}
