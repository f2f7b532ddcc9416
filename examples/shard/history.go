package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// keep is the number of runs in the history; older runs are removed.
const keep = 10

// magic is the first line of a history. A file may contain several histories one after the other; reading merges them.
const magic = "# shard history 1: merge by union of lines"

// history contains the times of earlier runs. In the file it is a set of lines,
//
//	run	ID	TIME	MACHINE	WALL	SPAN	BUSY	SAID	GAP
//	PACKAGE	TEST or -	SECONDS@ID SECONDS@ID ...
//
// GAP may be missing. SECONDS ends with an exclamation mark if the test failed, and is a dash if it was skipped. Two
// histories are merged by taking the lines of both, in any order. A line that is in both is used once.
type history struct {
	runs    map[string]ran
	samples map[name]map[string]took // by the name of the run
}

// ran is the part of one machine in a run. Times are in seconds.
type ran struct {
	at      time.Time
	machine string
	wall    float64 // from the call to the end
	span    float64 // from the beginning of the first package to the end of the last package
	busy    float64 // sum of the times of all packages
	said    float64 // the predicted value of wall; 0: there was no prediction
	gap     float64 // the median over the calls of go test: the real time minus the time that go test reports; 0: unknown
}

func newHistory() *history {
	return &history{map[string]ran{}, map[name]map[string]took{}}
}

// whole returns the name of the run to which the part of a machine belongs: the text before the last slash.
func whole(id string) string {
	if at := strings.LastIndexByte(id, '/'); at > 0 {
		return id[:at]
	}
	return id
}

// loadHistory reads the history of a file or a server; a missing file is an empty history.
func loadHistory(ctx context.Context, file string) (*history, error) {
	h := newHistory()
	if isRemote(file) {
		_, err := newRemote(file).send(ctx, http.MethodGet, nil, func(text []byte) error {
			return h.read(bytes.NewReader(text))
		})
		return h, err
	}
	return h, h.merge(file)
}

// merge adds the lines of a history file; a missing file has none.
func (h *history) merge(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if bad := h.read(bytes.NewReader(text)); bad != nil {
		return fmt.Errorf("%s: %w", file, bad)
	}
	return nil
}

// read adds the lines of a history file.
func (h *history) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<26)
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		var err error
		switch {
		case fields[0] == "run" && (len(fields) == 8 || len(fields) == 9):
			err = h.readRun(fields[1:])
		case len(fields) == 3:
			err = h.readSamples(fields)
		default:
			err = errors.New("is not a line of a history; it may be a conflict of a merge")
		}
		if err != nil {
			return fmt.Errorf("line %d %w", number, err)
		}
	}
	return lines.Err()
}

func (h *history) readRun(fields []string) error {
	at, err := time.Parse(time.RFC3339, fields[1])
	if err != nil {
		return errors.New("has no valid time")
	}
	r := ran{at: at, machine: fields[2]}
	for i, to := range []*float64{&r.wall, &r.span, &r.busy, &r.said, &r.gap}[:len(fields)-3] {
		if *to, err = strconv.ParseFloat(fields[3+i], 64); err != nil || !(*to >= 0 && *to <= mostSeconds) {
			return errors.New("has no valid number of seconds")
		}
	}
	h.addRun(fields[0], r)
	return nil
}

// addRun adds a run. If the history already has a run of this name, it keeps the run with the larger line of text, so
// that the order of merging does not matter.
func (h *history) addRun(id string, r ran) {
	if before, ok := h.runs[id]; !ok || before.line(id) < r.line(id) {
		h.runs[id] = r
	}
}

func (h *history) readSamples(fields []string) error {
	n := name{fields[0], strings.TrimPrefix(fields[1], "-")}
	for _, sample := range strings.Fields(fields[2]) {
		text, id, _ := strings.Cut(sample, "@")
		seconds, failed := strings.CutSuffix(text, "!")
		t := took{failed: failed, skipped: text == "-"}
		var err error
		if !t.skipped {
			t.seconds, err = strconv.ParseFloat(seconds, 64)
		}
		if err != nil || id == "" || !(t.seconds >= 0 && t.seconds <= mostSeconds) {
			return fmt.Errorf("has no valid time in %q", sample)
		}
		h.add(n, id, t)
	}
	return nil
}

// add adds a time. Of two times of one test in one run it keeps the longer time, and of two equal times the failed one.
// Any time replaces a test that was skipped.
func (h *history) add(n name, id string, t took) {
	of := h.samples[n]
	if of == nil {
		of = map[string]took{}
		h.samples[n] = of
	}
	before, ok := of[id]
	longer := before.seconds < t.seconds || before.seconds == t.seconds && t.failed
	if !ok || before.skipped || longer && !t.skipped {
		of[id] = t
	}
}

// forget removes all runs except the latest ten, and the times of the removed runs.
func (h *history) forget() {
	latest := map[string]time.Time{}
	for id, r := range h.runs {
		if of := whole(id); r.at.After(latest[of]) {
			latest[of] = r.at
		}
	}
	ids := slices.SortedFunc(maps.Keys(latest), func(a, b string) int {
		return cmp.Or(latest[b].Compare(latest[a]), cmp.Compare(a, b))
	})
	old := map[string]bool{}
	for _, id := range ids[min(keep, len(ids)):] {
		old[id] = true
	}
	gone := func(id string) bool { _, ok := h.runs[id]; return !ok || old[whole(id)] }
	for n, of := range h.samples {
		maps.DeleteFunc(of, func(id string, _ took) bool { return gone(id) })
		if len(of) == 0 {
			delete(h.samples, n)
		}
	}
	maps.DeleteFunc(h.runs, func(id string, _ ran) bool { return gone(id) })
}

// order returns the names of the runs, the earliest first.
func (h *history) order() []string {
	return slices.SortedFunc(maps.Keys(h.runs), func(a, b string) int {
		return cmp.Or(h.runs[a].at.Compare(h.runs[b].at), cmp.Compare(a, b))
	})
}

func (r ran) line(id string) string {
	line := "run\t" + id + "\t" + r.at.UTC().Format(time.RFC3339) + "\t" + r.machine
	times := []float64{r.wall, r.span, r.busy, r.said, r.gap}
	if r.gap == 0 {
		times = times[:len(times)-1]
	}
	for _, seconds := range times {
		line += "\t" + took{seconds: seconds}.String()
	}
	return line
}

func (h *history) write(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, magic)
	for _, id := range h.order() {
		fmt.Fprintln(w, h.runs[id].line(id))
	}
	for _, n := range sortedNames(h.samples) {
		of := h.samples[n]
		fmt.Fprintf(w, "%s\t%s\t", n.pkg, cmp.Or(n.test, "-"))
		for i, id := range slices.Sorted(maps.Keys(of)) {
			if i > 0 {
				_ = w.WriteByte(' ')
			}
			fmt.Fprintf(w, "%s@%s", of[id], id)
		}
		_ = w.WriteByte('\n')
	}
	return w.Flush()
}

// save merges the history into a file, or into the history of a server. It writes a temporary file in the same
// directory, and then renames it. Meanwhile the directory is locked, if its file system has locks: several machines may
// share the file.
func (h *history) save(ctx context.Context, file string) error {
	if isRemote(file) {
		var text bytes.Buffer
		if err := h.write(&text); err != nil {
			return err
		}
		_, err := newRemote(file).send(ctx, http.MethodPost, text.Bytes(), func([]byte) error { return nil })
		return err
	}
	if at, err := filepath.EvalSymlinks(file); err == nil {
		file = at
	}
	if dir, err := os.Open(filepath.Dir(file)); err == nil {
		defer dir.Close()
		_ = lockFile(dir, true)
	}
	if err := h.merge(file); err != nil {
		return err
	}
	h.forget()
	f, err := os.CreateTemp(filepath.Dir(file), ".shard-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(h.write(f), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
