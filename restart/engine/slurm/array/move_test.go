package array

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// elsewhere makes a directory on another file system than t.TempDir's.
func elsewhere(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "straggler-")
	if err != nil {
		t.Skipf("needs a file system in memory: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var here, there syscall.Stat_t
	require.NoError(t, syscall.Stat(t.TempDir(), &here))
	require.NoError(t, syscall.Stat(dir, &there))
	if here.Dev == there.Dev {
		t.Skip("needs a second file system")
	}
	return dir
}

// A symbolic link is moved as a link, wherever it points, within a file system and between two file systems. A pipe
// is not moved.
func TestLinksMoveAsLinks(t *testing.T) {
	for _, to := range []string{t.TempDir(), elsewhere(t)} {
		d := &runDir{path: t.TempDir()}
		out := d.file("1_1", "out")
		require.NoError(t, os.MkdirAll(filepath.Join(out, "sub"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(out, "model-3"), []byte("weights"), 0o640))
		links := map[string]string{
			"latest": "model-3", "itself": "itself", "lost": "/nowhere", "usr": "/usr", "whole": filepath.Join(out, "model-3"),
			"sub/up": "../model-3", "all": out, "beside": out + "put",
		}
		for name, leads := range links {
			require.NoError(t, os.Symlink(leads, filepath.Join(out, name)))
		}
		links["whole"], links["all"] = filepath.Join(to, "model-3"), to
		require.NoError(t, syscall.Mkfifo(filepath.Join(out, "pipe"), 0o600))
		require.NoError(t, os.Symlink("older", filepath.Join(to, "latest")), "a link with the same name is there, and is replaced")
		for range 2 { // and a second time does no harm
			left, err := d.moveResults("1_1", to)
			require.NoError(t, err)
			assert.Equal(t, []string{filepath.Join(out, "pipe")}, left)
		}
		for name, leads := range links {
			got, err := os.Readlink(filepath.Join(to, name))
			require.NoError(t, err)
			assert.Equal(t, leads, got, name)
		}
		text, err := os.ReadFile(filepath.Join(to, "latest"))
		require.NoError(t, err)
		assert.Equal(t, "weights", string(text))
		info, err := os.Stat(filepath.Join(to, "model-3"))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o640), info.Mode())
		found, err := filepath.Glob(filepath.Join(to, "*"))
		require.NoError(t, err)
		assert.Len(t, found, 1+len(links), found)
		hidden, err := filepath.Glob(filepath.Join(to, ".straggler-*"))
		require.NoError(t, err)
		assert.Empty(t, hidden)
	}
}

// If there is a pipe in place of the progress file, the attempt has no progress, and Run does not block.
func TestAPipeIsNoProgress(t *testing.T) {
	d := &runDir{path: t.TempDir()}
	require.NoError(t, syscall.Mkfifo(d.file("1_1", "progress"), 0o600))
	require.NoError(t, d.list())
	_, at, err := d.progress("1_1")
	require.NoError(t, err)
	assert.Zero(t, at)
}

// blocked runs an array whose results can't be moved, because there are directories at the paths to which they should
// be moved.
func (f *fake) blocked(ctx context.Context, o Options, names ...string) (res Result, kept string, err error) {
	block := sync.OnceFunc(func() {
		for _, name := range names {
			_ = os.Remove(filepath.Join(f.dir, name)) // an output file: the original has it open
			require.NoError(f.t, os.MkdirAll(filepath.Join(f.dir, name, "x"), 0o755))
		}
	})
	f.blind = func() error {
		if len(f.jobs) > 0 && time.Since(f.jobs[0].began) > 3*time.Second {
			block()
		}
		return nil
	}
	o.Script, o.Dir, o.Interval = f.script(), f.t.TempDir(), time.Second
	res, err = Run(ctx, f, o)
	dirs, globErr := filepath.Glob(filepath.Join(o.Dir, ".straggler-*"))
	require.NoError(f.t, globErr)
	require.LessOrEqual(f.t, len(dirs), 1)
	return res, strings.Join(dirs, ""), err
}

// If results can't be moved to their places, Run keeps them, and returns an error with the path of their directory.
func TestBlockedResultsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1, 1, 1, 0.1)
		f.work = func(task int) time.Duration { return time.Duration(10+task) * time.Second }
		var log strings.Builder
		res, kept, err := f.blocked(t.Context(), Options{Policy: duplicating, Patience: 5 * time.Minute, Log: &log},
			"result-5", "result-9", "slurm-1_13.out")
		require.ErrorContains(t, err, "given up after 5m")
		require.ErrorContains(t, err, "3 tasks")
		require.ErrorContains(t, err, kept)
		assert.Equal(t, []string{"1_5", "1_9", "1_13"}, res.Failed)
		assert.Equal(t, 1, res.Code)
		for _, name := range []string{"*_5.out/result-5", "*_9.out/result-9", "13.*.out/result-13", "13.*.stdout"} {
			found, err := filepath.Glob(filepath.Join(kept, name))
			require.NoError(t, err)
			assert.Len(t, found, 1, name)
		}
		for task := range 16 {
			if task != 13 && task != 5 && task != 9 {
				assert.FileExists(t, filepath.Join(f.dir, fmt.Sprintf("result-%d", task)), "other tasks finish before Run gives up")
			}
		}
		assert.LessOrEqual(t, strings.Count(log.String(), "result-9"), 2, "the error is not logged at each poll")
		for _, j := range f.jobs[16:] {
			assert.NotContains(t, []int{5, 9}, j.task, "a task with a complete result gets no copy: %s", log.String())
		}
	})
}

// Results that came after the last poll are kept, too.
func TestUnseenResultsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1, 1, 1, 0.1)
		f.failing = func() error {
			if time.Since(f.jobs[0].began) > 5*time.Second {
				f.advance()
				return errRefused
			}
			return nil
		}
		_, kept, err := f.blocked(t.Context(), Options{Patience: time.Minute})
		require.ErrorIs(t, err, errRefused)
		require.ErrorContains(t, err, "the results of 12 tasks are not in their places: "+kept)
		assert.FileExists(t, filepath.Join(kept, "1_0.out", "result-0"))
	})
}

// If the output of a failed attempt can't be moved, it is kept as a result is.
func TestOutputOfAFailedAttemptIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, 1, 1, 1, 0.1)
		f.ends = func(j *fakeJob) int {
			if j.task == 13 {
				return 7
			}
			return 0
		}
		once := duplicating
		once.MaxCopies = 1
		f.work = func(task int) time.Duration {
			if j := f.jobs[13]; len(f.jobs) > 16 && j.state == "RUNNING" {
				j.state = "NODE_FAIL" // so that the copy's failure is the task's
			}
			return 10 * time.Second
		}
		_, kept, err := f.blocked(t.Context(), Options{Policy: once, Patience: 10 * time.Second}, "slurm-1_13.out")
		require.ErrorContains(t, err, kept)
		said, globErr := filepath.Glob(filepath.Join(kept, "13.*.stdout"))
		require.NoError(t, globErr)
		assert.NotEmpty(t, said)
	})
}

// If squeue does not show a job's directory, its results are not moved, and never to the root directory.
func TestResultsAreNotMovedWithoutADirectory(t *testing.T) {
	r := &run{dir: &runDir{path: t.TempDir()}}
	a := &attempt{task: &task{}}
	a.task.attempts = []*attempt{a}
	require.ErrorContains(t, r.settle(a), "does not show the directory")
}
