package array

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fake is a Slurm cluster in simulated time. A job runs on the first node with a free slot. Each poll writes the
// files that the jobs would have written by then.
type fake struct {
	t      *testing.T
	dir    string // where the jobs run
	nodes  []*fakeNode
	jobs   []*fakeJob
	work   func(task int) time.Duration // how long a task takes on a node of speed 1
	ends   func(j *fakeJob) int         // its exit code
	silent bool                         // the jobs report no progress
	// content of the exit file of a cancelled job, which has also written a part of its result
	graceful string
	stdout   string // the pattern
	facts    Facts
	failing  func() error // if not nil, squeue returns its error
	blind    func() error // if not nil, sinfo returns its error
	refuses  func(options []string) error
	finding  func() error // if not nil, Find returns its error
	arrays   int
	canceled []string
	ahead    time.Duration // the file system's clock
}

type fakeNode struct {
	name  string
	slots int
	speed float64
	dead  bool
}

type fakeJob struct {
	array, task int
	state       string
	node        *fakeNode
	began       time.Time
	cancelled   time.Time
	run, files  string // the run directory, and the attempt's name in it
	script      string // where its batch script is
	stdout      string
	options     []string
}

const detection = 30 * time.Second // time from a node's failure until Slurm shows it

// memory returns a directory in memory if the system has one, because each simulation writes a hundred files.
func memory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "straggler-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newFake(t *testing.T, speeds ...float64) *fake {
	f := &fake{t: t, dir: memory(t), stdout: "slurm-%A_%a.out", facts: Facts{Partition: "p", CPUs: 1}}
	for i, speed := range speeds {
		f.nodes = append(f.nodes, &fakeNode{name: fmt.Sprintf("n%d", i), slots: 4, speed: speed})
	}
	f.work = func(int) time.Duration { return 10 * time.Second }
	f.ends = func(*fakeJob) int { return 0 }
	return f
}

// script writes a user's script.
func (f *fake) script() string {
	path := filepath.Join(f.dir, "job.sh")
	require.NoError(f.t, os.WriteFile(path, []byte("#!/bin/bash\n#SBATCH --array=0-15\necho hello\n"), 0o755))
	return path
}

var (
	runLine     = regexp.MustCompile(`(?m)^straggler_run='(.*)'$`)
	attemptLine = regexp.MustCompile(`(?m)^straggler_attempt=(.*)$`)
)

func (f *fake) Submit(_ context.Context, options []string, script string, _ []string) (string, error) {
	if f.refuses != nil {
		if err := f.refuses(options); err != nil {
			return "", err
		}
	}
	content, err := os.ReadFile(script)
	require.NoError(f.t, err)
	f.arrays++
	first, last, stdout := 0, 15, f.stdout
	for _, o := range options {
		if tasks, is := strings.CutPrefix(o, "--array="); is {
			_, err := fmt.Sscanf(tasks+"-"+tasks, "%d-%d", &first, &last)
			require.NoError(f.t, err)
		}
		if name, is := strings.CutPrefix(o, "--output="); is {
			stdout = name
		}
	}
	for task := first; task <= last; task++ {
		j := &fakeJob{array: f.arrays, task: task, state: "PENDING", options: options, script: script}
		j.run = runLine.FindStringSubmatch(string(content))[1]
		if f.arrays == 1 {
			info, err := os.Stat(filepath.Join(j.run, "slurm_script"))
			require.NoError(f.t, err)
			f.ahead = time.Until(info.ModTime())
		}
		j.files = attemptLine.FindStringSubmatch(string(content))[1]
		if strings.Contains(j.files, "$") {
			j.files = j.id()
		}
		j.stdout = expand(stdout, Job{ID: j.id()})
		if !filepath.IsAbs(j.stdout) {
			j.stdout = filepath.Join(f.dir, j.stdout)
		}
		f.jobs = append(f.jobs, j)
	}
	f.advance()
	return strconv.Itoa(f.arrays), nil
}

func (j *fakeJob) id() string { return fmt.Sprintf("%d_%d", j.array, j.task) }

func (j *fakeJob) avoids(node string) bool {
	for _, o := range j.options {
		if names, is := strings.CutPrefix(o, "--exclude="); is {
			for name := range strings.SplitSeq(names, ",") {
				if name == node {
					return true
				}
			}
		}
	}
	return false
}

// advance simulates the cluster up to the present time.
func (f *fake) advance() {
	for _, j := range f.jobs {
		if j.state == "RUNNING" {
			f.step(j)
		}
	}
	for _, j := range f.jobs {
		for _, n := range f.nodes {
			if j.state == "PENDING" && !n.dead && f.running(n) < n.slots && !j.avoids(n.name) {
				j.state, j.node, j.began = "RUNNING", n, time.Now()
				f.write(j.stdout, "begun\n")
				f.write(filepath.Join(j.run, j.files+".begun"), "")
				require.NoError(f.t, os.MkdirAll(filepath.Join(j.run, j.files+".out"), 0o755))
			}
		}
	}
}

func (f *fake) step(j *fakeJob) {
	age := time.Since(j.began)
	share := age.Seconds() * j.node.speed / f.work(j.task).Seconds()
	switch file := filepath.Join(j.run, j.files); {
	case j.node.dead:
		if age > detection {
			j.state = "NODE_FAIL"
		}
	case share >= 1:
		code := f.ends(j)
		f.write(j.stdout, fmt.Sprintf("task %d ended with %d\n", j.task, code))
		if code == 0 {
			f.write(filepath.Join(file+".out", fmt.Sprintf("result-%d", j.task)), "by "+j.id())
		}
		f.write(file+".exit", fmt.Sprintln(code))
		if j.state = "COMPLETED"; code != 0 {
			j.state = "FAILED"
		}
	case !f.silent:
		f.write(file+".progress", fmt.Sprintf("%d/100\n", int(100*share)))
	}
}

func (f *fake) write(path, text string) {
	require.NoError(f.t, os.WriteFile(path, []byte(text), 0o644))
	at := time.Now().Add(f.ahead)
	require.NoError(f.t, os.Chtimes(path, at, at))
}

func (f *fake) running(n *fakeNode) (count int) {
	for _, j := range f.jobs {
		if j.state == "RUNNING" && j.node == n {
			count++
		}
	}
	return count
}

func (f *fake) Jobs(_ context.Context, arrays []string) ([]Job, error) {
	if f.failing != nil {
		if err := f.failing(); err != nil {
			return nil, err
		}
	}
	f.advance()
	var shown []Job
	for _, j := range f.jobs {
		s := Job{ID: j.id(), State: j.state, Stdout: j.stdout, Stderr: j.stdout, WorkDir: f.dir, Shared: shared(f.stdout)}
		if j.node != nil {
			s.Node, s.Start = j.node.name, j.began.Truncate(time.Second)
		}
		if j.state == "FAILED" {
			s.Status = f.ends(j) << 8
		}
		for _, a := range arrays {
			if a == strconv.Itoa(j.array) {
				shown = append(shown, s)
			}
		}
	}
	return shown, nil
}

func (f *fake) Find(_ context.Context, dir string) (map[string]string, error) {
	if f.finding != nil {
		if err := f.finding(); err != nil {
			return nil, err
		}
	}
	found := map[string]string{}
	for _, j := range f.jobs {
		if sub := filepath.Dir(j.script); filepath.Dir(sub) == dir && (j.state == "PENDING" || j.state == "RUNNING") {
			found[filepath.Base(sub)] = strconv.Itoa(j.array)
		}
	}
	return found, nil
}

// Cancel cancels jobs. If a job's node is dead, the state of the job is COMPLETING for a long time.
func (f *fake) Cancel(_ context.Context, ids []string) error {
	f.canceled = append(f.canceled, ids...)
	for _, j := range f.jobs {
		for _, id := range ids {
			if id != j.id() && id != strconv.Itoa(j.array) || j.state != "PENDING" && j.state != "RUNNING" {
				continue
			}
			if f.graceful != "" && j.node != nil && !j.node.dead {
				f.write(filepath.Join(j.run, j.files+".out", fmt.Sprintf("result-%d", j.task)), "a part, by "+j.id())
				f.write(filepath.Join(j.run, j.files+".exit"), f.graceful)
			}
			j.cancelled = time.Now()
			if j.state = "CANCELLED"; j.node != nil && j.node.dead {
				j.state = "COMPLETING"
			}
		}
	}
	return nil
}

func (f *fake) Describe(context.Context, string) (Facts, error) { return f.facts, nil }

func (f *fake) Nodes(context.Context, string) ([]Node, error) {
	if f.blind != nil {
		if err := f.blind(); err != nil {
			return nil, err
		}
	}
	var nodes []Node
	for _, n := range f.nodes {
		nodes = append(nodes, Node{Name: n.name, Idle: max(0, n.slots-f.running(n))})
	}
	return nodes, nil
}

// left returns the jobs that still wait or run.
func (f *fake) left() (ids []string) {
	for _, j := range f.jobs {
		if j.state == "PENDING" || j.state == "RUNNING" {
			ids = append(ids, j.id())
		}
	}
	return ids
}

var errRefused = errors.New("sbatch: error: refused")
