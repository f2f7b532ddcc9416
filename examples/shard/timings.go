package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
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
}

// mostSeconds is the longest valid time, in seconds; a longer time is an error.
const mostSeconds = 1e7

// timings contains the times in a log.
type timings struct {
	times       map[name]took
	first, last time.Time // when the first package began and the last ended; zero if the log does not tell
	cached      int       // packages that did not run, because go test had their results in its cache
	broken      int       // lines that could not be read
	open        int       // packages that began and did not end
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
// failed.
func (t took) String() string {
	text := strconv.FormatFloat(math.Round(t.seconds*1000)/1000, 'f', -1, 64)
	if t.failed {
		text += "!"
	}
	return text
}

// readTimings reads a log. The first character shows whether it is XML or JSON.
func readTimings(in *bufio.Reader) (*timings, error) {
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	start, err := in.Peek(1)
	for err == nil && strings.IndexByte(" \t\r\n", start[0]) >= 0 {
		_, _ = in.ReadByte()
		start, err = in.Peek(1)
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("the log is empty")
	case err != nil:
		return nil, err
	case start[0] == '<':
		return readJUnit(in)
	}
	return readEvents(in)
}

// event has the fields of an event of go test -json that shard reads.
type event struct {
	Time                  time.Time
	Action, Package, Test string
	Elapsed               float64
	Output                string
}

// events collects the times from the events of go test -json.
type events struct {
	*timings
	begun  map[name]time.Time // when the test began; zero after a pause, in which a parallel test waits
	runs   map[name]int
	cached map[string]bool
	open   map[string]bool // packages that have begun and not ended
}

func readEvents(in *bufio.Reader) (*timings, error) {
	e := events{&timings{times: map[name]took{}}, map[name]time.Time{}, map[name]int{}, map[string]bool{}, map[string]bool{}}
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 && worth(line) {
			var v event
			if line[0] != '{' || json.Unmarshal(line, &v) != nil {
				e.broken++
			} else {
				e.take(v)
			}
		}
		switch {
		case errors.Is(err, io.EOF) && len(e.times) == 0:
			return nil, fmt.Errorf("no test ends in the log: want the output of go test -json")
		case errors.Is(err, io.EOF):
			e.timings.open = len(e.open)
			return e.timings, nil
		case err != nil:
			return nil, err
		}
	}
}

// worth reports whether a line may be more than the output of a test, so that it must be decoded.
func worth(line []byte) bool {
	return !bytes.Contains(line, []byte(`"Action":"output"`)) || bytes.Contains(line, []byte(`(cached)`))
}

func (e *events) take(v event) {
	n := name{v.Package, v.Test}
	if v.Package == "" || strings.Contains(v.Test, "/") {
		return
	}
	e.opens(n, v.Action)
	switch v.Action {
	case "start", "run":
		e.begun[n] = v.Time
		if n.test == "" && (e.first.IsZero() || v.Time.Before(e.first)) {
			e.first = v.Time
		}
	case "pause":
		e.begun[n] = time.Time{}
	case "output":
		if strings.HasPrefix(v.Output, "ok  \t") && strings.Contains(v.Output, "\t(cached)") && !e.cached[v.Package] {
			e.cached[v.Package] = true
			e.timings.cached++
		}
	case "pass", "fail", "skip":
		e.end(n, v)
	}
}

// opens keeps the list of packages that have begun and not ended. Before Go 1.20, packages had no start event, so an
// event of a test also shows that its package has begun.
func (e *events) opens(n name, action string) {
	switch {
	case n.test != "", action == "start", action == "run":
		e.open[n.pkg] = true
	case action == "pass", action == "fail", action == "skip":
		delete(e.open, n.pkg)
	}
}

// end records the time of a test or package that has ended. If it ran several times, its time is the mean.
func (e *events) end(n name, v event) {
	if n.test == "" {
		if v.Time.After(e.last) {
			e.last = v.Time
		}
		if v.Action == "fail" && v.Elapsed == 0 || e.cached[n.pkg] {
			return // the package was not built, or its result comes from the cache
		}
	}
	seconds := v.Elapsed
	if !(seconds >= 0 && seconds <= mostSeconds) {
		e.broken++
		return
	}
	if begun := e.begun[n]; !begun.IsZero() && math.Abs(v.Time.Sub(begun).Seconds()-seconds) < .02 {
		seconds = v.Time.Sub(begun).Seconds() // Elapsed is in hundredths
	}
	runs := float64(e.runs[n])
	before := e.times[n]
	e.times[n] = took{(float64(before.seconds*runs) + seconds) / (runs + 1), before.failed || v.Action == "fail"}
	e.runs[n]++
}
