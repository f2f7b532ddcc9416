//go:build unix

package trace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

// In a directory, inputs that may never end are ignored: a pipe, and a loop of links.
func TestDirectoryWithPipesAndLoops(t *testing.T) {
	dir := folder(t, map[string]string{
		"a/events_1_x": ended(0, 0), "a/events_3_x": ended(0, 1), "b/one": ended(1, 0), "b/two": ended(2, 0), "a/appstatus_x": "", "a/events_old": "",
	})
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "a", "events_2_x"), 0o644))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "b", "pipe"), 0o644))
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "b", "loop")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "b", "dangling")))
	require.NoError(t, os.Symlink("one", filepath.Join(dir, "b", "link")))
	sources, leftOut, err := trace.Find(dir)
	require.NoError(t, err)
	var found []string
	for _, s := range sources {
		log, err := s.Read()
		require.NoError(t, err)
		found = append(found, fmt.Sprint(filepath.Base(s.Path), " ", len(log.Phases[0].Attempts), " ", log.Faults))
	}
	assert.Equal(t, []string{"a 2 files missing from the rolling log: 1", "link 1 no faulty lines", "one 1 no faulty lines", "two 1 no faulty lines"}, found)
	slices.Sort(leftOut)
	require.Len(t, leftOut, 4)
	for i, want := range []string{"events_2_x: no regular file", "dangling: a link to nowhere", "loop: no regular file", "pipe: no regular file"} {
		assert.Contains(t, leftOut[i], want)
	}
	_, err = trace.Open(filepath.Join(dir, "b"))
	require.ErrorContains(t, err, "the directory has 3 logs, want one")
}

// A pipe that is named is read: a shell makes one for <(zcat log).
func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o644))
	go func() { _ = os.WriteFile(path, []byte(ended(0, 0)), 0o644) }() // ends when the pipe has been read
	log, err := trace.Open(path)
	require.NoError(t, err)
	assert.Len(t, log.Phases, 1)
}
