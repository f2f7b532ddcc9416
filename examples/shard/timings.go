package main

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// name is the name of a test of a package. If test is empty, it is the name of the package.
type name struct{ pkg, test string }

func (n name) String() string {
	if n.test == "" {
		return n.pkg
	}
	return n.test + " of " + n.pkg
}

func (n name) compare(o name) int {
	return cmp.Or(cmp.Compare(n.pkg, o.pkg), cmp.Compare(n.test, o.test))
}

// took is the time of a test or package in a run.
type took struct {
	seconds float64
	failed  bool // the test failed, so that the time may be too short or too long
	skipped bool // the test did not run, so it has no time
}

// mostSeconds is the longest valid time, in seconds; a longer time is an error.
const mostSeconds = 1e7

// timings contains the times in a log.
type timings struct {
	times       map[name]took
	first, last time.Time // when the first package began and the last ended; zero if the log does not tell
	cached      int       // packages that did not run, because go test had their results in its cache
	skipped     int       // tests that did not run in any of their runs
	broken      int       // lines that could not be read
	hints       []string  // sentences about doubtful data
	gap         float64   // the overhead of a call of go test, in seconds; 0: unknown
}

// busy returns the time of all packages, in seconds.
func (t *timings) busy() (sum float64) {
	for _, n := range sortedNames(t.times) {
		if n.test == "" {
			sum += t.times[n].seconds
		}
	}
	return sum
}

// digest returns the name of a run for which the user gives no name. It is a hash of the times, so that the same log
// always has the same name.
func (t *timings) digest() string {
	h := fnv.New64a()
	for _, n := range sortedNames(t.times) {
		fmt.Fprintf(h, "%s\t%s\t%s\n", n.pkg, n.test, t.times[n])
	}
	fmt.Fprint(h, t.first.UnixMilli())
	return fmt.Sprintf("%016x", h.Sum64())[:12]
}

func sortedNames[V any](m map[name]V) []name {
	names := make([]name, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.SortFunc(names, name.compare)
	return names
}

// String returns the form in the history: seconds, rounded to milliseconds, then an exclamation mark if the test
// failed. A skipped test has a dash.
func (t took) String() string {
	if t.skipped {
		return "-"
	}
	text := strconv.FormatFloat(math.Round(t.seconds*1000)/1000, 'f', -1, 64)
	if t.failed {
		text += "!"
	}
	return text
}

// readTimings reads the times in a log of go test -json, or in a report in JUnit's XML, plain or compressed. If a test
// ran several times in one run of its package, as with -count=2, its time is the sum, as the time of the package is. If
// its package ran several times, its time is the mean. Tests within tests are left out.
func readTimings(in io.Reader) (*timings, error) {
	log, err := trace.ReadTests(in)
	if err != nil {
		return nil, err
	}
	if len(log.Runs) == 0 && log.NotRun[trace.CachedPackages] == 0 {
		return nil, errors.New("no test ends in the log")
	}
	broken := log.Faults[trace.Broken] + log.Faults[trace.HalfLast] + log.Faults[trace.TooLong] + log.Faults[trace.CutStream]
	t := &timings{times: map[name]took{}, first: moment(log.First), last: moment(log.Last), broken: broken,
		cached: log.NotRun[trace.CachedPackages], hints: log.Hints}
	type packageRuns struct{ count, last int } // runs of the package in which a test ran, and the last of them
	runs := map[name]packageRuns{}
	for _, r := range log.Runs {
		n := name{r.Package, r.Test}
		switch before, known := t.times[n]; {
		case strings.Contains(r.Test, "/"):
		case !(r.Seconds <= mostSeconds):
			t.broken++
		case !r.Skipped:
			t.times[n] = took{seconds: before.seconds + r.Seconds, failed: before.failed || r.Failed}
			if of := runs[n]; of.last != r.Run {
				runs[n] = packageRuns{of.count + 1, r.Run}
			}
		case !known:
			t.times[n] = took{skipped: true}
		}
	}
	for n, of := range t.times {
		if of.skipped {
			t.skipped++
		} else {
			of.seconds /= float64(runs[n].count)
			t.times[n] = of
		}
	}
	return t, nil
}

// moment returns a time of a log; the zero time if it is not known.
func moment(at trace.Opt) time.Time {
	if millis, ok := at.Get(); ok {
		return time.UnixMilli(millis).UTC()
	}
	return time.Time{}
}
