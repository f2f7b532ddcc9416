package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"time"
	"unicode"
)

// record is the command that takes logs into the history.
func record(_ context.Context, args []string, s streams) error {
	f, history := s.flags("record", "[log ...]")
	id := f.String("run", "", "the `name` of the run, such as the number of a build; the parts of several "+
		"machines are NAME/1, NAME/2; empty: made from the log")
	machine := f.String("machine", hostname(), "the `kind` of machine that it ran on")
	wall := f.Duration("wall", 0, "how long the machine took in all, the start of the tests included")
	if err := parse(f, args); err != nil {
		return err
	}
	if bad := badName(*id); bad || badName(*machine) {
		return usage("-run and -machine take names without blanks, @ and tabs")
	}
	if *wall < 0 {
		return usage("-wall is %v, want 0 or more", *wall)
	}
	h, err := loadHistory(*history)
	if err != nil {
		return err
	}
	paths := f.Args()
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	for i, path := range paths {
		of := *id
		if of != "" && len(paths) > 1 {
			of = fmt.Sprintf("%s/%d", of, i+1)
		}
		if err := s.take(h, path, of, *machine, wall.Seconds()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return h.save(*history)
}

func hostname() string {
	name, _ := os.Hostname()
	return name
}

func badName(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || r == '@' || unicode.IsControl(r)
	})
}

// take takes in one log, or one history, and says what was in it.
func (s streams) take(h *history, path, id, machine string, wall float64) error {
	in, at := s.in, time.Now()
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		if info, err := file.Stat(); err == nil {
			at = info.ModTime()
		}
		in = file
	}
	buffered := bufio.NewReaderSize(in, 1<<16)
	if start, _ := buffered.Peek(len(magic)); string(start) == magic {
		text, err := io.ReadAll(buffered)
		if err == nil {
			err = h.read(bytes.NewReader(text))
		}
		fmt.Fprintf(s.out, "%s: a history; there are %d parts of runs now\n", path, len(h.runs))
		return err
	}
	t, err := readTimings(buffered)
	if err != nil {
		return err
	}
	id = cmp.Or(id, t.digest())
	if _, known := h.runs[id]; known {
		fmt.Fprintf(s.out, "%s: run %s is known\n", path, id)
		return nil
	}
	if t.first.IsZero() {
		t.first = at
	}
	odd := len(t.times)
	maps.DeleteFunc(t.times, func(n name, _ took) bool { return !n.fits() })
	if odd -= len(t.times); odd > 0 {
		fmt.Fprintf(s.out, "%s: %s left out, since a history can't hold the name\n", path, count(odd, "test"))
	}
	r, err := h.take(t, id, machine, wall)
	if err == nil {
		fmt.Fprintf(s.out, "%s: run %s%s\n", path, id, t.summary(r))
	}
	return err
}

// fits reports whether a line of a history can hold the name.
func (n name) fits() bool {
	return !strings.HasPrefix(n.pkg, "#") && !strings.HasPrefix(n.test, "-") &&
		!strings.ContainsAny(n.pkg+n.test, "\t\n\r")
}

// summary says what a run had, and how far what was said of it was off.
func (t *timings) summary(r ran) string {
	packages := 0
	for n := range t.times {
		if n.test == "" {
			packages++
		}
	}
	text := fmt.Sprintf(": %s, %s, ", count(len(t.times)-packages, "test"), count(packages, "package"))
	text += duration(cmp.Or(r.wall, r.span))
	if r.said > 0 {
		text += fmt.Sprintf(" where %s was said (%+.0f%%)", duration(r.said), 100*(r.wall/r.said-1))
	}
	if t.cached > 0 {
		text += "; " + count(t.cached, "package") + " came from the cache and took no time: go test -count=1 runs them"
	}
	if t.open > 0 {
		text += fmt.Sprintf("; it stops halfway: %s had not ended, and others may be missing", count(t.open, "package"))
	}
	if t.broken > 0 {
		text += fmt.Sprintf("; %s could not be read", count(t.broken, "line"))
	}
	return text
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// take takes in what a part of a run took, and what would have been said of that before.
func (h *history) take(t *timings, id, machine string, wall float64) (ran, error) {
	if len(t.times) == 0 {
		return ran{}, errors.New("nothing in it took any time")
	}
	r := ran{at: t.first.UTC().Truncate(time.Second), machine: cmp.Or(machine, "-"), wall: wall, busy: t.busy()}
	r.span = max(t.last.Sub(t.first).Seconds(), 0)
	m, err := newModel(h)
	if err != nil {
		return r, err
	}
	if r.said = m.foretell(t, r.machine); r.wall == 0 {
		r.wall = r.span
	}
	if r.wall == 0 {
		r.said = 0
	}
	for _, s := range []*float64{&r.span, &r.wall, &r.busy, &r.said} {
		if !(*s >= 0 && *s <= mostSeconds) { // as of two logs of one name, months apart
			*s = 0
		}
	}
	for n, took := range t.times {
		if !strings.ContainsFunc(n.pkg+n.test, unicode.IsControl) {
			h.add(n, id, took)
		}
	}
	h.addRun(id, r)
	return r, nil
}

// foretell says how long a machine takes for what ran, or 0 if any package of it is new.
func (m *model) foretell(t *timings, on string) float64 {
	of := map[string]map[string]bool{}
	for n := range t.times {
		if of[n.pkg] == nil {
			of[n.pkg] = map[string]bool{}
		}
		of[n.pkg][n.test] = true
	}
	s := shard{machine: m.machine(on)}
	for pkg, ran := range of {
		suite := m.suite(source{path: pkg})
		if !suite.known {
			return 0
		}
		p := part{suite: &suite}
		for _, test := range suite.tests {
			if ran[test.name] {
				p.tests = append(p.tests, test)
			}
		}
		p.seconds = suite.of(p.tests)
		s.parts = append(s.parts, p)
	}
	s.finish()
	return s.end
}

func (m *model) machine(name string) machine {
	return machine{name, m.factor(name), m.width(name), m.start(name)}
}
