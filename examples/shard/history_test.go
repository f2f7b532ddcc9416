package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func written(t *testing.T, h *history) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, h.write(&out))
	return out.String()
}

func merged(t *testing.T, texts ...string) string {
	t.Helper()
	h := newHistory()
	for _, text := range texts {
		require.NoError(t, h.read(strings.NewReader(text)))
	}
	h.forget()
	return written(t, h)
}

// The result of merging histories does not depend on the order, the number of times, or the grouping. Merging by
// lines and merging by concatenation of files have this result, too.
func TestHistoriesMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	times := []took{{}, {seconds: 1}, {seconds: 2}, {failed: true}, {seconds: 1, failed: true}, {seconds: 2, failed: true}, {skipped: true}}
	random := func() string {
		h := newHistory()
		for range 1 + r.IntN(9) {
			id := fmt.Sprintf("%d/%d", r.IntN(15), r.IntN(3))
			h.addRun(id, ran{at: time.Unix(int64(r.IntN(4)), 0), machine: "m", wall: float64(r.IntN(3))})
			for range r.IntN(6) {
				h.add(name{"p", []string{"", "TestA", "TestB"}[r.IntN(3)]}, id, times[r.IntN(len(times))])
			}
		}
		h.forget()
		return written(t, h)
	}
	for range 300 {
		a, b, c := random(), random(), random()
		all := merged(t, a, b, c)
		require.Equal(t, all, merged(t, c+b+a, b))
		require.Equal(t, all, merged(t, all, all))
		lines := strings.SplitAfter(a+b+c, "\n")
		r.Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
		require.Equal(t, all, merged(t, strings.Join(lines, "")))
	}
}

func TestHistoryForgets(t *testing.T) {
	h := newHistory()
	for i := range keep + 5 {
		for part := range 2 {
			id := fmt.Sprintf("%d/%d", i, part)
			h.addRun(id, ran{at: time.Unix(int64(i), 0), machine: "m"})
			h.add(name{"p", "TestA"}, id, took{seconds: 1})
			h.add(name{"p", fmt.Sprintf("TestGone%d", i)}, id, took{seconds: 1})
		}
	}
	h.add(name{"p", "TestA"}, "of no run", took{seconds: 9})
	h.forget()
	assert.Len(t, h.runs, 2*keep)
	assert.Len(t, h.samples, 1+keep)
	assert.Len(t, h.samples[name{"p", "TestA"}], 2*keep)
	assert.Contains(t, h.runs, "14/1")
	assert.NotContains(t, h.runs, "4/1")
}

func TestWhatIsNoHistory(t *testing.T) {
	for text, want := range map[string]string{
		"<<<<<<< ours\n": "line 1 is not a line of a history; it may be a conflict of a merge",
		"\n# x\nrun\ta\tyesterday\tm\t1\t1\t1\t1\n":   "line 3 has no valid time",
		"run\ta\t2026-01-01T00:00:00Z\tm\t1\t1\tx\t1": "line 1 has no valid number of seconds",
		"p\tTestA\t1@a NaN@b\n":                       `line 1 has no valid time in "NaN@b"`,
		"p\tTestA\t1@a -1@b\n":                        `line 1 has no valid time in "-1@b"`,
		"p\tTestA\t1\n":                               `line 1 has no valid time in "1"`,
	} {
		assert.EqualError(t, newHistory().read(strings.NewReader(text)), want)
	}
}

// The same log twice is one run. The parts of a run belong together. A history as input is merged.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	log, file := filepath.Join(dir, "log"), filepath.Join(dir, "history")
	require.NoError(t, os.WriteFile(log, []byte(passed("p", 4)), 0o644))
	shard := func(args ...string) (string, int) {
		var out, complaint bytes.Buffer
		code := command(t.Context(), args, strings.NewReader(passed("p", 6)), &out, &complaint)
		return out.String() + complaint.String(), code
	}
	out, code := shard("record", "-history", file, "-machine", "m", log, log)
	assert.Equal(t, 0, code)
	assert.Contains(t, out, ": 1 test, 1 package, 4s\n")
	assert.Contains(t, out, ": the history already has run ")
	out, code = shard("record", "-history", file, "-machine", "m", "-run", "7/2", "-wall", "8s")
	assert.Equal(t, 0, code)
	assert.Equal(t, "-: run 7/2: 1 test, 1 package, 8s; the prediction was 4s (+100%)\n", out)
	out, code = shard("record", "-history", filepath.Join(dir, "other"), file)
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "a history was merged; the history now has 2 parts of runs")
	before, _ := os.ReadFile(file)
	after, _ := os.ReadFile(filepath.Join(dir, "other"))
	assert.Equal(t, string(before), string(after))
	for want, args := range map[string][]string{
		"-run and -machine": {"record", "-run", "a b"},
		"-wall is -5s":      {"record", "-wall", "-5s"},
		"no such file":      {"record", "-history", file, filepath.Join(dir, "none")},
		"usage: shard":      {"records"},
		"-format is":        {"plan", "-format", "xml"},
		"want I/N":          {"run", "-shard", "3/2"},
		"want KIND":         {"plan", "-history", file, "-stdin", "-machines", "a*b"},
		"not defined: -x":   {"plan", "-x"},
	} {
		out, code := shard(args...)
		assert.NotZero(t, code)
		assert.Contains(t, out, want)
	}
}

// A test with a name that cannot be stored in a history is left out and counted.
func TestRecordOddNames(t *testing.T) {
	for _, pkg := range []string{"#p", "a\tb", "a\nb"} {
		file := filepath.Join(t.TempDir(), "history")
		var out, complaint bytes.Buffer
		code := command(t.Context(), []string{"record", "-history", file, "-machine", "m"},
			strings.NewReader(passed(pkg, 6)+passed("good", 6)),
			&out, &complaint)
		assert.Zero(t, code)
		assert.Contains(t, out.String(), "2 tests left out, because the name cannot be stored in a history\n", "%q", pkg)
		h, err := loadHistory(t.Context(), file)
		require.NoError(t, err)
		assert.Len(t, h.samples, 2, "the history has the package and its test")
	}
}

// passed returns the output of go test -json for a package with one test that takes the number of seconds.
func passed(pkg string, seconds int) string {
	at := func(s int) string {
		return time.Date(2026, 1, 1, 0, 0, s, 0, time.UTC).Format(time.RFC3339)
	}
	return fmt.Sprintf(`{"Time":%q,"Action":"start","Package":%[3]q}
{"Time":%[1]q,"Action":"run","Package":%[3]q,"Test":"TestA"}
{"Time":%[2]q,"Action":"pass","Package":%[3]q,"Test":"TestA","Elapsed":%[4]d}
{"Time":%[2]q,"Action":"pass","Package":%[3]q,"Elapsed":%[4]d}
`, at(0), at(seconds), pkg, seconds)
}

// After three runs, a machine that is half as fast is known as slow and gets half of the work. The times of tests on
// the average machine stay right.
func TestSlowMachineIsKnown(t *testing.T) {
	var history strings.Builder
	var packages []string
	for i := range 4 {
		fmt.Fprintf(&history, "run\tf%d\t2026-01-0%dT00:00:00Z\tfast\t60\t60\t60\t0\n"+
			"run\ts%d\t2026-01-0%[2]dT00:00:00Z\tslow\t120\t120\t120\t0\n", i, i+1, i)
	}
	for i := range 40 {
		packages = append(packages, fmt.Sprintf("m/p%02d", i))
		fmt.Fprintf(&history, "m/p%02d\t-\t", i)
		for k := range 4 {
			fmt.Fprintf(&history, "%d@f%d %d@s%d ", 10+i, k, 2*(10+i), k)
		}
		history.WriteByte('\n')
	}
	r := reported(t, history.String(), options{machines: "fast,slow"}, packages...)
	fast, slow := r.shards[0], r.shards[1]
	assert.InDelta(t, 2, slow.factor/fast.factor, .05)
	assert.InDelta(t, fast.end, slow.end, .02*fast.end)
	assert.InDelta(t, 2, float64(len(fast.parts))/float64(len(slow.parts)), .8)
	var out bytes.Buffer
	require.NoError(t, printText(&out, r))
	assert.Contains(t, out.String(), "On slow, tests take 2 times as long as on the average machine.\n")
	// One run on each: too little to say so.
	r = reported(t, strings.Join(strings.Split(history.String(), "\n")[:2], "\n")+"\nm/p\t-\t10@f0 20@s0\n",
		options{machines: "fast,slow"}, "m/p")
	assert.Equal(t, r.shards[0].factor, r.shards[1].factor)
}

// A history from logs with wrong clocks, or without clocks, can be read again.
func TestRecordIsReadAgain(t *testing.T) {
	log := `{"Time":"1970-01-01T00:00:00Z","Action":"start","Package":"p"}` + "\n" +
		`{"Time":"2262-05-01T00:00:00Z","Action":"pass","Package":"p","Elapsed":9e6}` + "\n" +
		`{"Time":"2026-05-01T00:00:00Z","Action":"pass","Package":"q","Elapsed":9e6}` + "\n"
	for _, wall := range []string{"0s", "2000000h"} {
		file := filepath.Join(t.TempDir(), "history")
		var out, complaint bytes.Buffer
		code := command(t.Context(), []string{"record", "-history", file, "-wall", wall}, strings.NewReader(log), &out, &complaint)
		require.Zero(t, code, complaint.String())
		h, err := loadHistory(t.Context(), file)
		require.NoError(t, err)
		assert.Len(t, h.samples, 2)
	}
}
