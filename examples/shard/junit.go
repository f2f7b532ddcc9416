package main

import (
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/straggler-go/straggler/examples/internal/junit"
)

// junitReport reads a report in JUnit's XML. A suite is a package, as gotestsum and go-junit-report write it.
type junitReport struct {
	*timings
	suite, test name // the suite and the test of the elements that are being read
}

// readJUnit reads the times of a report in JUnit's XML.
func readJUnit(in io.Reader) (*timings, error) {
	r := junitReport{timings: &timings{times: map[name]took{}}}
	mistakes, half := junit.Read(in, r.begin, func(string) {})
	if r.broken = mistakes; half {
		r.broken++
	}
	if len(r.times) == 0 {
		return nil, errors.New("the file has no tests: want a report in JUnit's XML")
	}
	return r.timings, nil
}

// begin reads a start element.
func (r *junitReport) begin(e *xml.StartElement) {
	has := map[string]string{}
	for _, a := range e.Attr {
		has[a.Name.Local] = a.Value
	}
	switch e.Name.Local {
	case junit.Suite:
		r.suite = name{pkg: has["name"]}
		at, err := time.Parse(time.RFC3339, has["timestamp"])
		if err == nil && (r.first.IsZero() || at.Before(r.first)) {
			r.first = at
		}
		r.test = r.suite
	case junit.Case:
		r.test = name{cmp.Or(r.suite.pkg, has["classname"]), has["name"]}
	case "failure", "error":
		for _, n := range []name{r.test, r.suite} {
			if at, ok := r.times[n]; ok {
				r.times[n] = took{at.seconds, true}
			}
		}
		return
	default:
		return
	}
	seconds, err := junit.Seconds(has["time"])
	timed := err == nil && seconds >= 0 && seconds <= mostSeconds && (seconds > 0 || r.test.test != "")
	if timed && r.test.pkg != "" && !strings.Contains(r.test.test, "/") {
		r.times[r.test] = took{seconds, false}
	}
}
