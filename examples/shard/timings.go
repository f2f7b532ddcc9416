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

// name is a test of a package, or with an empty test the package.
type name struct{ pkg, test string }

func (n name) compare(o name) int {
	return cmp.Or(cmp.Compare(n.pkg, o.pkg), cmp.Compare(n.test, o.test))
}

// took is how long something took in a run.
type took struct {
	seconds float64
	failed  bool // then it may have ended early, or late
}

// mostSeconds is the longest time that is believed.
const mostSeconds = 1e7

// timings is what a log says.
type timings struct {
	times       map[name]took
	first, last time.Time // when the first package began and the last ended; zero if the log does not tell
	cached      int       // packages that did not run
	broken      int       // lines that were not read
	open        int       // packages that began and did not end
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

// digest is the name of a run that was given none: that of what it took, so that one log is one run.
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

// String is the form in the history: seconds, to the millisecond, and an exclamation mark if it failed.
func (t took) String() string {
	text := strconv.FormatFloat(math.Round(t.seconds*1000)/1000, 'f', -1, 64)
	if t.failed {
		text += "!"
	}
	return text
}

// readTimings reads a log, whose format it tells by its first character.
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
		return nil, errors.New("there is nothing in it")
	case err != nil:
		return nil, err
	case start[0] == '<':
		return readJUnit(in)
	}
	return readEvents(in)
}

// event is what is needed of one of go test -json.
type event struct {
	Time                  time.Time
	Action, Package, Test string
	Elapsed               float64
	Output                string
}

// events is what has begun, by name.
type events struct {
	*timings
	begun  map[name]time.Time // zero once it has waited to run beside others
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
			return nil, fmt.Errorf("no test has ended in it: is it what go test -json prints?")
		case errors.Is(err, io.EOF):
			e.timings.open = len(e.open)
			return e.timings, nil
		case err != nil:
			return nil, err
		}
	}
}

// worth says whether a line may be more than a test's output.
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

// opens notes whether the package of what the event is about has ended. Before Go 1.20 packages had no start.
func (e *events) opens(n name, action string) {
	switch {
	case n.test != "", action == "start", action == "run":
		e.open[n.pkg] = true
	case action == "pass", action == "fail", action == "skip":
		delete(e.open, n.pkg)
	}
}

// end takes that something has ended. What ran several times took the mean.
func (e *events) end(n name, v event) {
	if n.test == "" {
		if v.Time.After(e.last) {
			e.last = v.Time
		}
		if v.Action == "fail" && v.Elapsed == 0 || e.cached[n.pkg] {
			return // it was not built, or is as old as another run
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
