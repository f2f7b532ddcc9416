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

	"github.com/straggler-go/straggler/examples/internal/words"
)

// record is the command that adds the times of logs to the history. A log without times is an error at the end: the
// other logs are recorded.
func record(ctx context.Context, args []string, s streams) error {
	f := s.flags("record", "[log ...]")
	history := historyOf(f)
	id := f.String("run", "", "the `name` of the run, such as the number of a build; the parts of several "+
		"machines are NAME/1, NAME/2; empty: computed from the log")
	machine := f.String("machine", hostname(), "the `kind` of machine on which the tests ran")
	wall := f.Duration("wall", 0, "the whole time of the machine, with the time before the tests started")
	if err := parse(f, args); err != nil {
		return err
	}
	if bad := badName(*id); bad || badName(*machine) {
		return usage("want names without spaces, tabs and @ in -run and -machine")
	}
	if *wall < 0 {
		return usage("-wall is %v, want 0 or more", *wall)
	}
	h, err := loadHistory(ctx, *history)
	if err != nil {
		return err
	}
	paths := f.Args()
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	var bad []error
	for i, path := range paths {
		of := *id
		if of != "" && len(paths) > 1 {
			of = fmt.Sprintf("%s/%d", of, i+1)
		}
		if err := s.take(h, path, of, *machine, wall.Seconds()); err != nil {
			bad = append(bad, fmt.Errorf("%s: %w", path, err))
		}
	}
	if len(bad) < len(paths) {
		bad = append(bad, h.save(ctx, *history))
	}
	return errors.Join(bad...)
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

// take adds one log, or one history, and prints a line about it.
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
			err = newHistory().read(bytes.NewReader(text)) // a broken history adds nothing
		}
		if err != nil {
			return err
		}
		err = h.read(bytes.NewReader(text))
		fmt.Fprintf(s.out, "%s: a history was merged; the history now has %d parts of runs\n", path, len(h.runs))
		return err
	}
	t, err := readTimings(buffered)
	if err != nil {
		return err
	}
	id = cmp.Or(id, t.digest())
	if _, known := h.runs[id]; known {
		fmt.Fprintf(s.out, "%s: the history already has run %s\n", path, id)
		return nil
	}
	if t.first.IsZero() {
		t.first = at
	}
	odd := len(t.times)
	maps.DeleteFunc(t.times, func(n name, _ took) bool { return !n.fits() })
	if odd -= len(t.times); odd > 0 {
		fmt.Fprintf(s.out, "%s: %s left out, because the name cannot be stored in a history\n", path, words.Counted(odd, "test"))
	}
	r, err := h.take(t, id, machine, wall)
	if err == nil {
		fmt.Fprintf(s.out, "%s: run %s%s\n", path, id, t.summary(r))
	}
	return err
}

// fits reports whether the name can be stored in a line of a history.
func (n name) fits() bool {
	return !strings.HasPrefix(n.pkg, "#") && !strings.HasPrefix(n.test, "-") &&
		!strings.ContainsAny(n.pkg+n.test, "\t\n\r")
}

// summary returns the size and the time of a run, the error of its prediction, and the faults of its log.
func (t *timings) summary(r ran) string {
	packages := 0
	for n := range t.times {
		if n.test == "" {
			packages++
		}
	}
	text := fmt.Sprintf(": %s, %s, ", words.Counted(len(t.times)-packages, "test"), words.Counted(packages, "package"))
	text += duration(cmp.Or(r.wall, r.span))
	if r.said > 0 {
		text += fmt.Sprintf("; the prediction was %s (%+.0f%%)", duration(r.said), 100*(r.wall/r.said-1))
	}
	if t.cached > 0 {
		text += "; " + words.Counted(t.cached, "package") + " came from the cache and took no time: use go test -count=1 to run them"
	}
	if t.skipped > 0 {
		text += "; " + words.Counted(t.skipped, "test") + words.Plural(t.skipped, " was", " were") + " skipped and took no time"
	}
	for _, hint := range t.hints {
		text += "; " + hint
	}
	if t.broken > 0 {
		text += fmt.Sprintf("; %s could not be read", words.Counted(t.broken, "line"))
	}
	return text
}

// take adds the times of a part of a run, and the prediction that the history made for it before.
func (h *history) take(t *timings, id, machine string, wall float64) (ran, error) {
	if len(t.times) == 0 {
		return ran{}, errors.New("the log has no times")
	}
	r := ran{at: t.first.UTC().Truncate(time.Second), machine: cmp.Or(machine, "-"), wall: wall, busy: t.busy(),
		gap: t.gap}
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
	for _, s := range []*float64{&r.span, &r.wall, &r.busy, &r.said, &r.gap} {
		if !(*s >= 0 && *s <= mostSeconds) { // for example, two logs of one name, months apart
			*s = 0
		}
	}
	h.addTimes(t, id)
	h.addRun(id, r)
	return r, nil
}

// addTimes adds the times of a part of a run.
func (h *history) addTimes(t *timings, id string) {
	for n, took := range t.times {
		if !strings.ContainsFunc(n.pkg+n.test, unicode.IsControl) {
			h.add(n, id, took)
		}
	}
}

// foretell predicts the time of a machine for the tests that ran, in seconds. It is 0 if the history lacks one of the
// packages.
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
