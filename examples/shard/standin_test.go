//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// crew is a module in a directory, and the environment of the machines that test it. Each machine is a process, so that
// tests of machines, which mostly wait, run at the same time.
type crew struct {
	t   *testing.T
	dir string
	env []string
}

// sketch writes the module of toy, and lets the test run beside others. Its machines have a stand-in for the command go.
func sketch(t *testing.T) crew {
	t.Helper()
	t.Parallel()
	c := crew{t, t.TempDir(), append(os.Environ(), toyEnvironment...)}
	writeToy(t, c.dir)
	c.env = append(c.env, "PATH="+standInPath(t))
	return c
}

// standInPath returns the variable PATH with which the command go is a stand-in: the test binary, which compiles and
// links nothing. It serves the tests of queues, leases and kills, where many calls of go test are made and what they run
// is known. With STRAGGLER_LIVES the command is the real one.
func standInPath(t *testing.T) string {
	t.Helper()
	if long {
		return os.Getenv("PATH")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	bin := t.TempDir()
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "go")))
	return bin + string(os.PathListSeparator) + os.Getenv("PATH")
}

// path returns the path of a file of the crew.
func (c crew) path(file string) string { return filepath.Join(c.dir, file) }

// shard returns a process of the command shard in the directory of the crew.
func (c crew) shard(args ...string) *exec.Cmd {
	p := shardProcess(c.t.Context(), args...)
	p.Dir, p.Env = c.dir, slices.Concat(c.env, []string{asShard + "=1"})
	return p
}

// says runs a command of shard, and returns its output and its exit code.
func (c crew) says(args ...string) (string, int) {
	c.t.Helper()
	p := c.shard(args...)
	out, err := p.CombinedOutput()
	if err != nil && !assert.ErrorAs(c.t, err, new(*exec.ExitError)) {
		return err.Error(), -1
	}
	return string(out), p.ProcessState.ExitCode()
}

// works runs the command work as a machine with one lane.
func (c crew) works(args ...string) (string, int) {
	c.t.Helper()
	return c.says(append([]string{"work", "-machine", "m", "-jobs", "1"}, args...)...)
}

// hangs starts a machine of the name 1 with a short lease, and returns when its test hangs.
func (c crew) hangs(queue string) *exec.Cmd {
	c.t.Helper()
	p := c.shard("work", "-queue", queue, "-name", "1", "-n", "1", "-jobs", "1", "-machine", "m", "-lease", "4s", "./hang")
	require.NoError(c.t, p.Start())
	require.Eventually(c.t, func() bool { _, err := os.Stat(c.path("hang/ran")); return err == nil }, 20*time.Second,
		20*time.Millisecond)
	return p
}

// parent is the process that started this one.
var parent = os.Getppid()

// hang waits until the parent is gone: a machine that is killed kills no other process.
func hang(parent int) {
	for os.Getppid() == parent {
		time.Sleep(50 * time.Millisecond)
	}
	os.Exit(1)
}

// gone reports whether a process has ended.
func gone(pid int) bool {
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || err == nil && strings.Contains(string(state), ") Z ")
}

// standIn does for packages of the module toy what go list and go test would do, and returns the exit code. As with go
// test, a test that hangs is a process of its own. It ends with its parent, unless the package has a file "stays".
func standIn(args []string) int {
	if args[0] == "hang" {
		_ = os.WriteFile(filepath.Join(args[1], "pid"), []byte(strconv.Itoa(os.Getpid())), 0o644)
		if _, err := os.Stat(filepath.Join(args[1], "../stays")); err == nil {
			time.Sleep(time.Hour)
		}
		parent, _ := strconv.Atoi(args[2])
		hang(parent)
	}
	f := flag.NewFlagSet("go "+args[0], flag.ExitOnError)
	if args[0] == "list" {
		f.String("json", "", "")
		_ = f.Parse(args[1:])
		for _, pattern := range f.Args() {
			dir, _ := filepath.Abs(pattern)
			if tests, _ := filepath.Glob(filepath.Join(dir, "*_test.go")); len(tests) == 0 {
				fmt.Fprintln(os.Stderr, "no package", pattern)
				return 1
			} else {
				for i := range tests {
					tests[i] = filepath.Base(tests[i])
				}
				printEvent(map[string]any{"ImportPath": "toy/" + filepath.Base(dir), "Dir": dir, "TestGoFiles": tests})
			}
		}
		return 0
	}
	f.Int("count", 1, "")
	asJSON := f.Bool("json", false, "")
	run, skip := f.String("run", ".", ""), f.String("skip", "^$", "")
	_ = f.Parse(args[1:])
	failed := 0
	for _, pkg := range f.Args() {
		r := tested{pkg: filepath.Base(pkg), json: *asJSON}
		if !r.all(regexp.MustCompile(*run), regexp.MustCompile(*skip)) {
			failed = 1
		}
	}
	return failed
}

func printEvent(v any) {
	line, _ := json.Marshal(v)
	fmt.Printf("%s\n", line)
}

// tested is a package under test by standIn.
type tested struct {
	pkg  string // the last element of its path
	json bool
}

// say prints an event of a test, or of the package if test is empty.
func (r tested) say(action, test string, begun time.Time, output string) {
	if r.json {
		printEvent(map[string]any{"Time": time.Now(), "Action": action, "Package": "toy/" + r.pkg, "Test": test,
			"Elapsed": time.Since(begun).Seconds(), "Output": output})
	} else {
		fmt.Print(output)
	}
}

// all runs the tests of the package whose names match run and not skip, and reports whether they passed.
func (r tested) all(run, skip *regexp.Regexp) bool {
	begun, passed := time.Now(), true
	r.say("start", "", begun, "")
	files, _ := filepath.Glob(filepath.Join(r.pkg, "*_test.go"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		functions := testFunction.FindAllSubmatchIndex(text, -1)
		for i, at := range functions {
			end := len(text)
			if i+1 < len(functions) {
				end = functions[i+1][0]
			}
			if name := string(text[at[2]:at[3]]); run.MatchString(name) && !skip.MatchString(name) {
				passed = r.test(name, string(text[at[0]:end])) && passed
			}
		}
	}
	r.say(verdict(passed), "", begun, "")
	return passed
}

func verdict(passed bool) string {
	if passed {
		return "pass"
	}
	return "fail"
}

var (
	fails  = regexp.MustCompile(`t\.Error\("(.*)"\)`)
	nested = regexp.MustCompile(`t\.Run\("(.*)",`)
	sleeps = regexp.MustCompile(`time\.Sleep\((\d+) \* time\.Millisecond\)`)
)

// test runs a test and reports whether it passed. Of the text of the test it understands an error, a subtest, a sleep,
// and the test of toy that hangs the first time.
func (r tested) test(name, text string) bool {
	begun := time.Now()
	r.say("run", name, begun, "")
	if ran := filepath.Join(r.pkg, "ran"); strings.Contains(text, "os.Mkdir(") && os.Mkdir(ran, 0o755) == nil {
		c := exec.Command(os.Args[0], "hang", ran, strconv.Itoa(os.Getpid()))
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		_ = c.Start()
		hang(parent)
	}
	if found := sleeps.FindStringSubmatch(text); found != nil {
		ms, _ := strconv.Atoi(found[1])
		time.Sleep(time.Duration(ms) * time.Millisecond)
	}
	if found := nested.FindStringSubmatch(text); found != nil {
		r.say("run", name+"/"+found[1], begun, "")
		r.say("pass", name+"/"+found[1], begun, "")
	}
	found := fails.FindStringSubmatch(text)
	if found != nil {
		r.say("output", name, begun, found[1]+"\n")
	}
	r.say(verdict(found == nil), name, begun, "")
	return found == nil
}
