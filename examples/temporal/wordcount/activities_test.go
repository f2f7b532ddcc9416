package wordcount

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"
)

// execute runs an activity without a server, as if it had that ID.
func execute[R any](t *testing.T, activity any, input any) (r R, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(activity)
	value, err := env.ExecuteActivity(activity, input)
	if err == nil {
		require.NoError(t, value.Get(&r))
	}
	return r, err
}

func TestMapAndReduceCountWords(t *testing.T) {
	const partitions = 3
	dir, chunks := t.TempDir(), text(t, 1, 40000, 10000, 20000)
	log, err := OpenLog(filepath.Join(t.TempDir(), "host.log"), "host")
	require.NoError(t, err)
	tasks := &Tasks{Rate: 1e9, Log: log}

	var maps []string
	for i, chunk := range chunks {
		out, err := execute[MapOutput](t, tasks.Map, MapInput{Chunk: chunk, Partitions: partitions, Dir: dir})
		require.NoError(t, err)
		require.Len(t, out.Sizes, partitions)
		for p, size := range out.Sizes { // every attempt has the same name here, so the outputs are moved apart
			maps = append(maps[:i], out.Attempt+string(rune('a'+i)))
			require.NoError(t, os.Rename(partition(dir, out.Attempt, p), partition(dir, maps[i], p)))
			assert.Len(t, read(t, partition(dir, maps[i], p)), int(size))
		}
	}
	var answer Answer
	for p := range partitions {
		out, err := execute[ReduceOutput](t, tasks.Reduce, ReduceInput{Partition: p, Maps: maps, Dir: dir})
		require.NoError(t, err)
		answer.Words += out.Words
		answer.Distinct += out.Distinct
		answer.Files = append(answer.Files, out.File+string(rune('a'+p)))
		require.NoError(t, os.Rename(out.File, answer.Files[p]))
	}

	want, err := CountFiles(chunks)
	require.NoError(t, err)
	wrong, err := answer.Check(want)
	require.NoError(t, err)
	assert.Empty(t, wrong)
	left, err := filepath.Glob(filepath.Join(dir, ".part-*"))
	require.NoError(t, err)
	assert.Empty(t, left, "no half-written file stays")

	answer.Words++
	wrong, err = answer.Check(want)
	require.NoError(t, err)
	assert.Len(t, wrong, 1, "a wrong total is seen")
	answer.Words--
	want[word(0)]++
	want[word(1)]--
	wrong, err = answer.Check(want)
	require.NoError(t, err)
	assert.Len(t, wrong, 2, "words that are counted as others are seen")
}

func TestTasksFailWithTheirInput(t *testing.T) {
	log, err := OpenLog(filepath.Join(t.TempDir(), "host.log"), "host")
	require.NoError(t, err)
	tasks := &Tasks{Rate: 1e9, Log: log}
	_, err = execute[MapOutput](t, tasks.Map, MapInput{Chunk: "missing", Partitions: 1, Dir: t.TempDir()})
	assert.ErrorContains(t, err, "missing")
	_, err = execute[ReduceOutput](t, tasks.Reduce, ReduceInput{Maps: []string{"lost"}, Dir: t.TempDir()})
	assert.ErrorContains(t, err, "lost")
}

func TestDiskIsHeldToItsRateAndEndsWithItsContext(t *testing.T) {
	started := time.Now()
	in := MapInput{Chunk: text(t, 1, 20000)[0], Partitions: 1, Dir: t.TempDir()}
	_, err := execute[MapOutput](t, (&Tasks{Rate: 50000}).Map, in)
	require.NoError(t, err)
	assert.Greater(t, time.Since(started), 380*time.Millisecond, "20,000 bytes at 50,000 a second")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrDeadlineExceeded)
	_, err = newDisk(ctx, 1, false).reader(strings.NewReader("text")).Read(make([]byte, 4))
	assert.ErrorIs(t, err, os.ErrDeadlineExceeded, "at once, with the cause")
}

func TestLogOfAKilledHost(t *testing.T) {
	name := filepath.Join(t.TempDir(), "host.log")
	begin, later := time.Unix(1, 0).UTC(), time.Unix(2, 0).UTC()
	log, err := OpenLog(name, "host")
	require.NoError(t, err)
	lost := Attempt{Run: "run", Name: "lost", Host: "host", Begin: begin}
	done := Attempt{Run: "run", Name: "done", Host: "host", Begin: begin}
	log.write(lost)
	log.write(done)
	log.write(Attempt{Run: "other", Name: "done"})
	done.End = later
	log.write(done)
	file, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`{"Run":"run","Na`)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	attempts, err := ReadLog(name, "run")
	require.NoError(t, err)
	assert.Equal(t, []Attempt{lost, done}, attempts)
}
