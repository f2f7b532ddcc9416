package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// built are the flags for modules of tests. Trimmed paths let a package of the same text, in another directory, come
// from the cache of the compiler; what is compiled is not vetted; and each test runs, though it ran in an earlier
// module.
const built = "-trimpath -vet=off -count=1"

// long is true with STRAGGLER_LIVES. Some tests then have more cases.
var long = os.Getenv("STRAGGLER_LIVES") != ""

// toyEnvironment is the environment of calls of go in the module of toy: many short ones, each of which would wake
// threads for nothing.
var toyEnvironment = []string{"GOFLAGS=" + built, "GOMAXPROCS=1", "GOWORK=off"}

// toy writes a module, and makes its directory and its environment those of the test.
func toy(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	writeToy(t, dir)
	t.Chdir(dir)
	for _, variable := range toyEnvironment {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
}

// writeToy writes a module. The test of its package hang hangs when it runs for the first time.
func writeToy(t *testing.T, dir string) {
	t.Helper()
	write := func(name, text string) {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	write("go.mod", "module toy\n\ngo 1.25\n")
	for _, pkg := range []string{"a", "b"} {
		write(pkg+"/x_test.go", "package "+pkg+"\nimport \"testing\"\nfunc TestOne(t *testing.T) {}\n"+
			"func TestTwo(t *testing.T) { t.Run(\"sub\", func(*testing.T) {}) }\n")
	}
	write("bad/x_test.go", "package bad\nimport \"testing\"\nfunc TestBad(t *testing.T) { t.Error(\"it is bad\") }\n")
	write("hang/x_test.go", `package hang
import ("os"; "strconv"; "testing"; "time")
func TestHang(t *testing.T) {
	if os.Mkdir("ran", 0o755) == nil {
		os.WriteFile("ran/pid", []byte(strconv.Itoa(os.Getpid())), 0o644)
		time.Sleep(time.Hour)
	}
}
`)
}

func TestRun(t *testing.T) {
	toy(t)
	t.Setenv("PATH", standInPath(t))
	shard := func(args ...string) (string, int) {
		var out, complaint bytes.Buffer
		code := command(t.Context(), args, strings.NewReader(""), &out, &complaint)
		return out.String() + complaint.String(), code
	}
	out, code := shard("run", "-machine", "m", "-flags", "-count=1", "./bad")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "it is bad\n")
	assert.Contains(t, out, "FAIL: 1 package\n")
	out, code = shard("run", "-machine", "m", "./a", "./b")
	assert.Equal(t, 0, code, out)
	assert.Contains(t, out, "ok  \ttoy/a\t")
	assert.Contains(t, out, ": 4 tests, 2 packages, ")
	out, code = shard("plan", "-n", "2", "./a", "./b", "./bad")
	assert.Equal(t, 0, code)
	assert.Contains(t, out, "shard 2/2")
	out, code = shard("run", "-shard", "1/2", "./nowhere")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "go list: ")
}

// With the patterns of a package that is cut, go test runs every test once, new tests and subtests included.
func TestCutPackageRunsOnce(t *testing.T) {
	toy(t)
	require.NoError(t, os.WriteFile(".shard", []byte("run\tr\t2026-01-01T00:00:00Z\tm\t0\t0\t0\t0\n"+
		"toy/a\t-\t60@r\ntoy/a\tTestTwo\t30@r\ntoy/a\tTestGone\t30@r\ntoy/a\tTestOne\t30@r\n"), 0o644))
	put(t, "a/new_test.go", "package a\nimport \"testing\"\nfunc TestTwoMore(t *testing.T) {}\n")
	var lines, complaint bytes.Buffer
	require.Zero(t, command(t.Context(), []string{"plan", "-n", "2", "-format", "sh", "-flags", "-json", "./a"},
		nil, &lines, &complaint), complaint.String())
	assert.Contains(t, lines.String(), "-skip=")
	ran := map[string]int{}
	for line := range strings.Lines(lines.String()) {
		out, err := exec.Command("sh", "-c", line).Output()
		require.NoError(t, err, "%s", out)
		for said := range bytes.Lines(out) {
			var v event
			require.NoError(t, json.Unmarshal(said, &v))
			if v.Action == "run" {
				ran[v.Package+" "+v.Test]++
			}
		}
	}
	assert.Equal(t, map[string]int{
		"toy/a TestOne": 1, "toy/a TestTwo": 1, "toy/a TestTwo/sub": 1, "toy/a TestTwoMore": 1,
	}, ran)
}

// After an interrupt, no process is left, nor the process of the test, which go test has started.
func TestInterrupted(t *testing.T) {
	toy(t)
	t.Setenv("PATH", standInPath(t))
	ctx, cancel := context.WithCancel(t.Context())
	h := host{streams: streams{out: &bytes.Buffer{}}, jobs: 1, look: 50 * time.Millisecond,
		may: func(string) bool { return false }}
	h.parts = []part{{suite: &suite{pkg: "toy/hang"}, seconds: 1, whole: true}}
	put(t, "hang/stays", "") // even without go test
	var pid int
	t.Cleanup(func() {
		if pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	go func() {
		for pid == 0 {
			time.Sleep(10 * time.Millisecond)
			text, _ := os.ReadFile("hang/ran/pid")
			pid, _ = strconv.Atoi(string(text))
		}
		cancel()
	}()
	_, err := h.run(ctx, nil)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Len(t, h.calls, 1)
	assert.Eventually(t, func() bool { return gone(pid) }, 20*time.Second, 10*time.Millisecond)
}

// Several packages in one call: each has its own time and its own result, and only the output of the failed one is
// printed.
func TestPackagesInOneCall(t *testing.T) {
	toy(t)
	put(t, "broken/x_test.go", "package broken\nfunc TestX(\n")
	put(t, "b/y_test.go", "package b\nimport (\"testing\"; \"time\")\n"+
		"func TestSlow(t *testing.T) { time.Sleep(700*time.Millisecond) }\n")
	var out bytes.Buffer
	h := host{streams: streams{out: &out}, flags: []string{"-count=1"}, jobs: 1, look: time.Hour, // no poll is needed
		may: func(string) bool { return false }}
	h.parts = []part{{suite: &suite{pkg: "toy/a"}, seconds: 1, whole: true, with: []string{"toy/bad", "toy/b", "toy/broken"}}}
	failed, err := h.run(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, 2, failed)
	assert.Regexp(t, `(?m)^ok  \ttoy/a\t\d+\.\d+s$`, out.String())
	reported := regexp.MustCompile(`"Action":"pass","Package":"toy/b","Elapsed":([0-9.]+)`).FindSubmatch(h.events.Bytes())
	require.NotNil(t, reported)
	seconds, err := strconv.ParseFloat(string(reported[1]), 64)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, seconds, .7)
	assert.Contains(t, out.String(), fmt.Sprintf("ok  \ttoy/b\t%.3fs\n", seconds))
	assert.Contains(t, out.String(), "x_test.go:3: it is bad\n--- FAIL: TestBad")
	assert.NotContains(t, out.String(), "RUN   TestOne")
	real := h.real()
	for pkg, want := range map[string]bool{"toy/a": false, "toy/bad": true, "toy/b": false, "toy/broken": true} {
		assert.Equal(t, want, real[pkg].Failed, pkg)
	}
	assert.Greater(t, real["toy/b"].Seconds, seconds)
	sum := 0.
	for _, r := range real {
		sum += r.Seconds
	}
	assert.InDelta(t, h.calls[0].Ended.Sub(h.calls[0].asked).Seconds(), sum, .01, "the whole call is charged")
	assert.Zero(t, h.gap(), "the overhead is not learned from a call that failed")
}
