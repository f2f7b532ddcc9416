//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/examples/shard/internal/shardqueue"
)

// runsIn counts the runs of each test in logs of go test -json.
func runsIn(t *testing.T, logs ...string) map[string]int {
	t.Helper()
	ran := map[string]int{}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		for line := range bytes.Lines(text) {
			var v event
			require.NoError(t, json.Unmarshal(line, &v))
			if v.Action == "run" {
				ran[v.Package+" "+v.Test]++
			}
		}
	}
	return ran
}

// A package that hangs is killed and run again. No other package is run twice, unless it takes long.
func TestHangIsRestarted(t *testing.T) {
	toy(t)
	t.Setenv("PATH", standInPath(t))
	if long { // The compiler may take longer than the usual time of a package. It runs before, and fills the cache.
		require.NoError(t, exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-test", "./a", "./b", "./hang").Run())
	}
	var out bytes.Buffer
	usual := &estimate.Empirical{}
	for i := range 20 {
		usual.Insert(.9 + float64(i)/100)
	}
	h := host{streams: streams{out: &out, err: &out}, jobs: 2, look: 50 * time.Millisecond,
		may: func(string) bool { return false }}
	for _, pkg := range []string{"toy/a", "toy/b", "toy/hang"} {
		h.parts = append(h.parts, part{suite: &suite{pkg: pkg}, seconds: 1, whole: true})
	}
	failed, err := h.run(t.Context(), usual)
	require.NoError(t, err)
	assert.Zero(t, failed)
	assert.Regexp(t, `(?m)^toy/hang: killed after .*s: restart `, out.String())
	assert.Contains(t, out.String(), "ok  \ttoy/hang\t")
	assert.False(t, h.call("2.0").Published)
	for _, part := range []string{"0", "1"} { // on a busy machine, a package may be slow, and is then restarted, too
		if first := h.call(part + ".0"); first.Ended.Sub(first.Begun) < time.Second/2 {
			assert.Nil(t, h.call(part+".1"))
		}
	}
	assert.Contains(t, h.call("2.0").output.String(), "goroutine ", "the output has the goroutines of the hung test")
}

// Two machines share a suite with a package that is cut and a test that nobody knows. Each test runs once, and the next
// plan knows the overhead of a call. The machines share a server, and with STRAGGLER_LIVES also a directory.
func TestWork(t *testing.T) {
	c := sketch(t)
	host := httptest.NewServer(&server{dir: t.TempDir(), queues: map[string]*eventLog{}})
	defer host.Close()
	history := "run\tr\t2026-01-01T00:00:00Z\tm\t0\t0\t0\t0\n" +
		"toy/a\t-\t60@r\ntoy/a\tTestTwo\t30@r\ntoy/a\tTestGone\t30@r\ntoy/a\tTestOne\t30@r\ntoy/b\t-\t1@r\n"
	put(t, c.path("a/new_test.go"), "package a\nimport \"testing\"\nfunc TestTwoMore(t *testing.T) {}\n")
	for i, at := range []string{filepath.Join(t.TempDir(), "run"), host.URL + "/run"} {
		if i == 0 && !long {
			continue
		}
		var wait sync.WaitGroup
		for _, m := range []string{"1", "2"} {
			file := c.path("history" + m)
			put(t, file, history)
			if i > 0 { // the server keeps the history
				file = host.URL + "/toy.shard"
				h := newHistory()
				require.NoError(t, h.read(strings.NewReader(history)))
				require.NoError(t, h.save(t.Context(), file))
			}
			wait.Go(func() {
				out, code := c.works("-queue", at, "-name", m, "-n", "2", "-history", file, "-log", "log"+m, "-flags",
					"-count=1", "./a", "./b")
				assert.Zero(t, code, out)
				assert.Contains(t, out, "machine "+m+": ")
			})
		}
		wait.Wait()
		assert.Equal(t, map[string]int{
			"toy/a TestOne": 1, "toy/a TestTwo": 1, "toy/a TestTwo/sub": 1, "toy/a TestTwoMore": 1, "toy/b TestOne": 1,
			"toy/b TestTwo": 1, "toy/b TestTwo/sub": 1,
		}, runsIn(t, c.path("log1"), c.path("log2")), "%d", i)
		out, code := c.says("status", "-queue", at)
		assert.Zero(t, code, out)
		h := newHistory()
		for _, m := range []string{"1", "2"} {
			require.NoError(t, h.merge(c.path("history"+m)))
		}
		if i > 0 {
			var err error
			h, err = loadHistory(t.Context(), host.URL+"/toy.shard")
			require.NoError(t, err)
		}
		m, err := newModel(h)
		require.NoError(t, err)
		assert.Positive(t, m.again)
		assert.NotEqual(t, float64(usualAgain), m.again)
		for id, r := range h.runs {
			if whole(id) == "run" {
				assert.Equal(t, make([]float64, 4), []float64{r.wall, r.span, r.busy, r.said}, "a batch is no whole machine")
			}
		}
	}
}

// Each plan of shard compare is measured, though a test fails.
func TestComparedPlansAreMeasured(t *testing.T) {
	c := sketch(t)
	out, code := c.says("compare", "-n", "2", "-measure", "./a", "./b", "./bad")
	assert.Equal(t, 0, code, out)
	assert.Regexp(t, `(?s)machines +predicted +measured +processor time.*go test +1 +\S+ +\S+ +\S+\n +by number +2 `+
		`.*longest first +2 .* shard +2 `, out)
	assert.Contains(t, out, "it is bad")
}

// A failed test is reported by the machine that ran it, and by the queue. The machine that is retried gets it again.
func TestWorkFails(t *testing.T) {
	c := sketch(t)
	at := filepath.Join(t.TempDir(), "run")
	out, code := c.works("-queue", at, "-name", "1", "-n", "1", "./a", "./bad")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "it is bad")
	assert.Contains(t, out, "FAIL: 1 package\n")
	out, code = c.says("status", "-queue", at)
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "2 of 2 pieces done")
	assert.Contains(t, out, "FAIL: toy/bad on machine 1\n")
	out, code = c.works("-queue", at, "-name", "2", "-n", "1", "./a", "./bad")
	assert.Zero(t, code)
	assert.Contains(t, out, "machine 2: 0 calls\n", "another machine has nothing to do")
	put(t, c.path("bad/x_test.go"), "package bad\nimport \"testing\"\nfunc TestBad(t *testing.T) {}\n")
	out, code = c.works("-queue", at, "-name", "1", "-n", "1", "-log", "again", "./a", "./bad")
	assert.Zero(t, code, out)
	assert.Equal(t, map[string]int{"toy/a TestOne": 1, "toy/a TestTwo": 1, "toy/a TestTwo/sub": 1, "toy/bad TestBad": 1},
		runsIn(t, c.path("again")))
	out, code = c.says("status", "-queue", at)
	assert.Zero(t, code, out)
}

// A machine is killed while a test runs. The other machine waits for the lease, and runs its tests. A machine of the
// same name that comes at once takes the place of the dead one after the lease.
func TestWorkIsKilled(t *testing.T) {
	c := sketch(t)
	at := filepath.Join(t.TempDir(), "run")
	dead := c.hangs(at)
	require.NoError(t, dead.Process.Signal(syscall.SIGKILL))
	_ = dead.Wait()
	var wait sync.WaitGroup
	for _, m := range []string{"1", "2"} {
		wait.Go(func() {
			out, code := c.works("-queue", at, "-name", m, "-n", "1", "-history", "history"+m, "./hang")
			assert.Zero(t, code, out)
			assert.Equal(t, m == "1", strings.Contains(out,
				"A machine 1 was at work a moment ago. If it is gone, this machine takes its place after "), out)
		})
	}
	wait.Wait()
}

// A second machine of the same name stops with a clear word as soon as the first one is heard.
func TestTwoMachinesOfOneName(t *testing.T) {
	c := sketch(t)
	at := filepath.Join(t.TempDir(), "run")
	first := c.hangs(at)
	out, code := c.works("-queue", at, "-name", "1", "-n", "1", "-lease", "1h", "./hang") // the lease is the first machine's
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "shard: a machine 1 is at work already: give each machine a name of its own in -name\n")
	require.NoError(t, first.Process.Signal(syscall.SIGINT)) // it kills the test that hangs
	_ = first.Wait()
	out, code = c.says("status", "-queue", at)
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "0 of 1 pieces done, 0 held by machines, 1 waiting")
	assert.Contains(t, out, "; has left\n")
}

// A machine keeps the lease of the queue, whatever its own option says: a test that takes longer than the lease runs
// once.
func TestWorkKeepsTheLease(t *testing.T) {
	c := sketch(t)
	put(t, c.path("a/slow_test.go"), "package a\nimport (\"testing\"; \"time\")\n"+
		"func TestSlow(t *testing.T) { time.Sleep(2800 * time.Millisecond) }\n")
	at := filepath.Join(t.TempDir(), "run")
	f, err := openFolder(at)
	require.NoError(t, err)
	r := shardqueue.Request{Op: shardqueue.Join, Machine: "open", Session: "s", Lanes: 1}
	r.Config = &shardqueue.Config{Machines: 2, Lease: 2000, Pieces: []shardqueue.Piece{{Package: "toy/a", Seconds: 3}}}
	_, err = f.ask(t.Context(), r)
	require.NoError(t, err)
	r.Op = shardqueue.Leave
	_, err = f.ask(t.Context(), r)
	require.NoError(t, err)
	var wait sync.WaitGroup
	for _, m := range []string{"1", "2"} {
		wait.Go(func() {
			out, code := c.works("-queue", at, "-name", m, "-lease", "1h", "-history", "history"+m, "-log", "log"+m, "./a")
			assert.Zero(t, code, out)
		})
	}
	wait.Wait()
	assert.Equal(t, 1, runsIn(t, c.path("log1"), c.path("log2"))["toy/a TestSlow"])
}

// A machine of a kind that is known from runs on other kinds tells the queue its speed.
func TestWorkTellsItsSpeed(t *testing.T) {
	c := sketch(t)
	var history strings.Builder
	for i := range 4 {
		for _, kind := range []string{"fast", "slow"} {
			fmt.Fprintf(&history, "run\t%c%d\t2026-01-0%dT00:00:00Z\t%s\t0\t0\t0\t0\n", kind[0], i, i+1, kind)
		}
	}
	history.WriteString("toy/a\t-\t9@f0 9@f1 9@f2 9@f3 27@s0 27@s1 27@s2 27@s3\n")
	for kind, want := range map[string]float64{"slow": 3, "fast": 1, "new": 0} {
		put(t, c.path("history"), history.String()) // work adds its own times
		at := filepath.Join(t.TempDir(), "run")
		out, code := c.works("-machine", kind, "-queue", at, "-name", "1", "-n", "1", "-history", "history", "./a")
		require.Zero(t, code, out)
		line, err := os.ReadFile(filepath.Join(at, "00000001"))
		require.NoError(t, err)
		e, err := shardqueue.Parse(line)
		require.NoError(t, err)
		assert.InDelta(t, want, e.Factor, .01, kind)
	}
}

// A server that answers with other JSON is no queue.
func TestWorkWithAnotherServer(t *testing.T) {
	c := sketch(t)
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"a":1}`) }))
	defer host.Close()
	out, code := c.works("-queue", host.URL+"/run", "./a")
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "the queue answers with a lease of 0s, want 1s or more: is it a server of shard?\n")
}

func TestRubbishForWork(t *testing.T) {
	toy(t)
	t.Setenv("PATH", standInPath(t))
	t.Setenv(tokenName, "")
	require.NoError(t, os.WriteFile("file", nil, 0o644))
	for want, args := range map[string][]string{
		"-queue is empty, want a directory":                        {"work", "./a"},
		"-queue ends in the name of the run: shardqueue: the name": {"work", "-queue", "http://127.0.0.1:1/a b", "./a"},
		"-name: shardqueue: the name is \"a b\", want 1 to 100":    {"work", "-queue", "q", "-name", "a b"},
		"want 1 or more in -jobs":                                  {"work", "-queue", "q", "-jobs", "0"},
		"Config.Lease is 1ms, want 1s to 24h":                      {"work", "-queue", "q", "-lease", "1ms", "./a"},
		"-n is -1, want 0 to 1024":                                 {"work", "-queue", "q", "-n", "-1", "./a"},
		`invalid value "soon" for flag -lease`:                     {"work", "-queue", "q", "-lease", "soon"},
		`invalid value "-1x" for flag -target`:                     {"plan", "-target", "-1x"},
		"-overhead is -1s":                                         {"plan", "-overhead", "-1s", "./a"},
		"four ways to choose the machines":                         {"plan", "-overhead", "1s", "-n", "2", "./a"},
		"no number of machines up to 1024 ends":                    {"plan", "-history", "history", "-stdin", "-target", "1ns"},
		"open nowhere/log: no such file":                           {"work", "-queue", "q", "-log", "nowhere/log", "./a"},
		"go list: ":                                                {"work", "-queue", "q", "./nowhere"},
		"not a directory":                                          {"work", "-queue", "file", "./a"},
		"nowhere: no such file":                                    {"status", "-queue", "nowhere"},
		"-queue is empty":                                          {"status"},
		"status takes no arguments":                                {"status", "-queue", "q", "x"},
		"flag provided but not defined: -history":                  {"serve", "-history", "h"},
		"which other machines reach: set a token in $SHARD_TOKEN":  {"serve", "-listen", "0.0.0.0:0", "-state", "s"},
		"serve takes no arguments":                                 {"serve", "x"},
		"address 1: missing port":                                  {"serve", "-listen", "1"},
		"file: not a directory":                                    {"serve", "-listen", "127.0.0.1:0", "-state", "file"},
		"want 1 to 100000 in -suites":                              {"simulate", "-suites", "0", "x"},
		"the history of at least one project":                      {"simulate"},
		"a history has no package that takes time":                 {"simulate", "file"},
		"-machines has \"a*b\"":                                    {"simulate", "-machines", "a*b", "-suites", "1", "history"},
	} {
		put(t, "history", "run\ta\t2026-01-01T00:00:00Z\tm\t0\t0\t0\t0\n"+
			"run\tb\t2026-01-01T00:00:00Z\tm\t0\t0\t0\t0\np\t-\t1@a 1@b\n")
		var out bytes.Buffer
		code := command(t.Context(), args, strings.NewReader("p"), &out, &out)
		assert.NotZero(t, code, args)
		assert.Contains(t, out.String(), want)
	}
}

// A queue that no machine has joined can be asked for.
func TestStatusOfAnEmptyQueue(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	assert.Equal(t, 1, command(t.Context(), []string{"status", "-queue", dir}, nil, &out, &out))
	assert.Equal(t, "the queue is not open: no machine has joined\n", out.String())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, files, "a question changes nothing")
}

// Two servers cannot have one directory.
func TestTwoServersOfOneDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, _ := started(t, dir, "127.0.0.1:0")
	var out bytes.Buffer
	assert.Equal(t, 1, command(t.Context(), []string{"serve", "-state", dir, "-listen", "127.0.0.1:0"}, nil, &out, &out))
	assert.Contains(t, out.String(), "shard: another server has the directory "+dir)
	require.NoError(t, first.Process.Signal(syscall.SIGTERM))
	_ = first.Wait()
}
