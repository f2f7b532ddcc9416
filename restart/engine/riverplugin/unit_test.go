package riverplugin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/riverplugin"
)

// A program that works River gets the plugin by seven lines, import and error check counted. Nothing else of it changes.
func TestSevenLines(t *testing.T) {
	read := func(name string) []string {
		text, err := os.ReadFile(filepath.Join("testdata", name, "main.go"))
		require.NoError(t, err)
		return strings.Split(string(text), "\n")[1:] // without the comment that says which of both it is
	}
	plain, plugged := read("plain"), read("plugged")
	added := 0
	for _, line := range plugged {
		if len(plain) > 0 && line == plain[0] {
			plain = plain[1:]
		} else {
			added++
		}
	}
	assert.Empty(t, plain, "the lines of the program are all there, in their order")
	assert.Equal(t, 7, added)
}

// The program of the seven lines works jobs.
func TestTheProgramOfTheSevenLines(t *testing.T) {
	pool := database(t)
	n, _ := watching(t, pool, riverplugin.Options{})
	binary := filepath.Join(t.TempDir(), "plugged")
	out, err := exec.Command("go", "build", "-o", binary, "./testdata/plugged").CombinedOutput()
	require.NoError(t, err, string(out))
	c := exec.Command(binary)
	c.Env = append(os.Environ(), "DATABASE_URL="+pool.Config().ConnString())
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGKILL)
		_ = c.Wait()
	})
	inserts, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: quiet})
	require.NoError(t, err)
	r, err := inserts.Insert(t.Context(), resize{"a"}, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"small a"}, outputs(t, n, r.Job.ID))
}

type resize struct{ Image string }

func (resize) Kind() string { return "resize" }

func TestOptionsOutOfRange(t *testing.T) {
	for want, o := range map[string]riverplugin.Options{
		"riverplugin: Options.Interval is 1ms, want 10ms to 1s, or 0 for 100ms":      {Interval: time.Millisecond},
		"riverplugin: Options.Interval is -1s, want 10ms to 1s, or 0 for 100ms":      {Interval: -time.Second},
		"riverplugin: Options.Interval is 2s, want 10ms to 1s, or 0 for 100ms":       {Interval: 2 * time.Second},
		`riverplugin: Options.Kinds has the key "", want the name of a kind, or "*"`: {Kinds: map[string]riverplugin.Kind{"": {}}},
	} {
		_, err := riverplugin.New(nil, o)
		assert.EqualError(t, err, want)
	}
	_, err := riverplugin.New(nil, riverplugin.Options{})
	assert.EqualError(t, err, "riverplugin: New: the pool is nil, want the pool of the client")
}

// Wait returns outputs in the order of the ids, and an error for each job that is not there or did not succeed.
func TestWait(t *testing.T) {
	pool := database(t)
	n := start(t, pool, "a", setup{}, obeys)
	good := insert(t, n, work{Name: "output"}, nil)
	bad := insert(t, n, work{Name: "fails"}, &river.InsertOpts{MaxAttempts: 1})
	off := insert(t, n, work{Name: "cancels"}, nil)
	texts := outputs(t, n, bad, good, 999, off, good)
	assert.True(t, slices.IndexFunc(texts, func(s string) bool { return strings.Contains(s, "999 does not exist") }) == 2, texts)
	assert.Equal(t, []string{"text", "text"}, []string{texts[1], texts[4]})
	assert.Contains(t, texts[0], "was discarded: always")
	assert.Contains(t, texts[3], "was cancelled: JobCancelError: never again")
}

// A client without the plugin works the same queue. Its jobs are never touched, and no job of the queue gets a copy. The
// log names it.
func TestAClientWithoutThePlugin(t *testing.T) {
	long(t)
	pool := database(t)
	log := &lines{}
	s := setup{options: riverplugin.Options{Log: log.log(), Kinds: map[string]riverplugin.Kind{"work": {Copies: true}}}}
	a := start(t, pool, "a", s, sleeps)
	warm(t, a, 40)
	start(t, pool, "stranger", setup{plain: true, slots: 2}, sleeps)
	var ids []int64
	for range 6 {
		ids = append(ids, insert(t, a, work{"hangs", time.Second}, nil))
	}
	assert.Eventually(t, func() bool {
		return rows(t, pool, "river_job WHERE state = 'running' AND attempted_by[1] = 'stranger'") == 2
	}, 10*time.Second, 10*time.Millisecond)
	time.Sleep(8 * time.Second)
	assert.Equal(t, 2, rows(t, pool, "river_job WHERE state = 'running' AND attempted_by[1] = 'stranger'"), "its jobs go on")
	assert.Zero(t, log.count("gets a copy"))
	assert.Equal(t, 1, log.count("lacks the plugin"))
	assert.Len(t, ids, 6)
}

// River's fetch of a job is committed, and the answer is lost with the connection: the row runs at a client that lives and
// knows nothing of it. The job is put back, but not in the first two minutes of Postgres, whose table of ends may be empty.
func TestARowThatItsClientNeverGot(t *testing.T) {
	long(t)
	pool := database(t)
	a := start(t, pool, "a", setup{options: riverplugin.Options{Log: quiet, Kinds: map[string]riverplugin.Kind{"work": {}}}}, sleeps)
	id := insert(t, a, work{Name: "lost on the way"}, &river.InsertOpts{ScheduledAt: time.Now().Add(time.Hour)})
	_, err := pool.Exec(t.Context(), `UPDATE river_job SET state = 'running', attempt = 1, attempted_by = '{a}',
		attempted_at = now() - interval '3 minutes' WHERE id = $1`, id)
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, outputs(t, a, id))
	assert.Equal(t, 1, rows(t, pool, "river_job WHERE id = $1 AND attempt = 2 AND array_length(errors, 1) = 1", id))
}
