package trace

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Tests has the runs of tests in a log of go test -json, or in a JUnit report.
type Tests struct {
	// Runs are the runs of tests and of whole packages, in the order of the log. Runs of one name are several runs of
	// one test. A package that is known to have no tests is a run of 0 s.
	Runs []TestRun
	// First is when the first package began, and Last when the last package ended, in milliseconds.
	First, Last Opt
	// NotRun, Faults and Hints are those of the [Log].
	NotRun map[string]int
	Faults Faults
	Hints  []string
	run    int // number of the present run of a package
}

// TestRun is one run of a test, or of a whole package if Test is empty. A skipped run has no time.
type TestRun struct {
	Package, Test string  // as in the log
	Seconds       float64 // as the log states it
	Failed        bool    // the time may be too short or too long
	Skipped       bool
	Run           int // number of the run of the package in the log; a test may run several times in it
}

// ReadTests reads the runs of tests of one log as [Read] does. It returns an error as Read does, and also for a log of
// another format. Results from the cache, and packages that were not built, have no runs.
func ReadTests(r io.Reader) (*Tests, error) {
	in, err := newInput(r)
	defer in.close()
	if err != nil {
		return nil, err
	}
	format, err := in.format()
	if err != nil {
		return nil, err
	}
	if format.tests == nil {
		return nil, fmt.Errorf("a log of the format %q has no tests: want the output of go test -json, or a report in "+
			"JUnit's XML", format.format)
	}
	t := &Tests{}
	log := format.tests(in, t).log
	if err := in.end(log); err != nil {
		return nil, err
	}
	t.NotRun, t.Faults, t.Hints = log.NotRun, log.Faults, log.Hints
	return t, nil
}

// ran adds a run, if somebody asks for the tests.
func (t *Tests) ran(r TestRun) {
	if t != nil {
		r.Run = t.run
		t.Runs = append(t.Runs, r)
	}
}

// begin begins a run of a package.
func (t *Tests) begin() {
	if t != nil {
		t.run++
	}
}

// span adds the time of a package.
func (t *Tests) span(from, to Opt) {
	if t == nil {
		return
	}
	if at, ok := from.Get(); ok && at < t.First.Or(maxTime+1) {
		t.First = from
	}
	if at, ok := to.Get(); ok && at > t.Last.Or(-1) {
		t.Last = to
	}
}

// workOf returns the name of the work of a test or package, of which some parts were skipped. A run without a part is
// other work than a run with it, so their times are not compared. The names of the parts are sorted. An example of a name
// is "example.com/b (TestA, TestB skipped)".
func workOf(name string, skipped []string) string {
	if len(skipped) == 0 {
		return name
	}
	return name + " (" + strings.Join(slices.Compact(skipped), ", ") + " skipped)"
}
