package riverplugin_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/riverplugin"
)

// TestMain runs the tests, or a client of River in a process of its own, which a test kills or stops.
func TestMain(m *testing.M) {
	if url := os.Getenv("RIVERPLUGIN_URL"); url != "" {
		if err := client(url, os.Getenv("RIVERPLUGIN_NAME")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// sleeps works a job: it sleeps, kills its process, or hangs, as the name of the job says.
func sleeps(ctx context.Context, name string, job *river.Job[work]) error {
	_ = river.RecordOutput(ctx, name)
	switch {
	case strings.HasPrefix(job.Args.Name, "kills"):
		os.Exit(3)
	case strings.HasPrefix(job.Args.Name, "hangs") && job.Attempt == 1:
		<-ctx.Done()
		return context.Cause(ctx)
	}
	time.Sleep(job.Args.Lasts)
	return nil
}

func client(url, name string) error {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{name: name, handle: sleeps})
	config := &river.Config{
		ID: name, Workers: workers, Logger: quiet, FetchPollInterval: 50 * time.Millisecond, FetchCooldown: 20 * time.Millisecond,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 4}},
	}
	plugin, err := riverplugin.New(pool, riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {}}, Log: quiet})
	if err != nil {
		return err
	}
	config.Plugins = append(config.Plugins, plugin)
	c, err := river.NewClient(riverpgxv5.New(pool), config)
	if err != nil {
		return err
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	plugin.Run(ctx, c)
	return nil
}

// process starts a client in a process of its own, and waits until its plugin has begun.
func process(t *testing.T, pool *pgxpool.Pool, name string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "RIVERPLUGIN_URL="+pool.Config().ConnString(), "RIVERPLUGIN_NAME="+name)
	c.Stderr = os.Stderr
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGCONT)
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for !beats(pool, "", name) {
		time.Sleep(10 * time.Millisecond)
	}
	return c
}

// lines is a log that a test reads.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) log() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// watching starts a client that works no job but those of its own queue, and that coordinates.
func watching(t *testing.T, pool *pgxpool.Pool, o riverplugin.Options) (n *node, log *lines) {
	log = &lines{}
	o.Log = log.log()
	n = start(t, pool, "watch", setup{options: o, change: func(c *river.Config) {
		c.Queues = map[string]river.QueueConfig{"other": {MaxWorkers: 1}}
	}}, sleeps)
	for log.count("coordinates") == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	return n, log
}

// four inserts four jobs, and waits until they run.
func four(t *testing.T, n *node, pool *pgxpool.Pool, lasts time.Duration) (ids []int64) {
	for i := range 4 {
		ids = append(ids, insert(t, n, work{fmt.Sprint(i), lasts}, nil))
	}
	assert.Eventually(t, func() bool { return rows(t, pool, "river_job WHERE state = 'running'") == 4 }, 10*time.Second, 10*time.Millisecond)
	return ids
}

// A process is killed. Its jobs are put back after five seconds, and other clients work them. The attempts count, with an
// error. The loss is in the log.
func TestAClientThatDies(t *testing.T) {
	long(t)
	pool := database(t)
	n, log := watching(t, pool, riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {}}})
	dies := process(t, pool, "dies")
	ids := four(t, n, pool, 800*time.Millisecond)
	process(t, pool, "lives")
	require.NoError(t, dies.Process.Kill())
	begun := time.Now()
	assert.Equal(t, []string{"lives", "lives", "lives", "lives"}, outputs(t, n, ids...))
	assert.Less(t, time.Since(begun), 11*time.Second)
	assert.Equal(t, 4, rows(t, pool, "river_job WHERE attempt = 2 AND array_length(errors, 1) = 1 AND metadata ? 'river:rescue_count'"))
	assert.Equal(t, 1, log.count("a client is lost"))
	assert.Equal(t, 4, log.count("a job was rescued"))
}

// A process is killed, and another begins at once under its name. Its jobs are put back after some three seconds.
func TestAClientThatIsRestarted(t *testing.T) {
	long(t)
	pool := database(t)
	n, log := watching(t, pool, riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {}}})
	dies := process(t, pool, "a")
	ids := four(t, n, pool, 2*time.Second)
	assert.Eventually(t, func() bool {
		return rows(t, pool, "straggler_client, jsonb_object_keys(running) WHERE client = 'a'") == 4
	}, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, dies.Process.Kill())
	begun := time.Now()
	process(t, pool, "a")
	assert.Equal(t, []string{"a", "a", "a", "a"}, outputs(t, n, ids...))
	assert.Less(t, time.Since(begun), 11*time.Second)
	assert.Equal(t, 4, rows(t, pool, "river_job WHERE attempt = 2 AND array_length(errors, 1) = 1"))
	assert.Zero(t, log.count("a client is lost"))
}

// A process is stopped for eight seconds. Its jobs are worked elsewhere. When it goes on, its attempts change nothing. Its
// loss and its return are in the log.
func TestAClientThatStopsAndComesBack(t *testing.T) {
	long(t)
	pool := database(t)
	n, log := watching(t, pool, riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {}}})
	stops := process(t, pool, "stops")
	ids := four(t, n, pool, 3*time.Second)
	require.NoError(t, stops.Process.Signal(syscall.SIGSTOP))
	process(t, pool, "lives")
	time.Sleep(8 * time.Second)
	require.NoError(t, stops.Process.Signal(syscall.SIGCONT))
	assert.Equal(t, []string{"lives", "lives", "lives", "lives"}, outputs(t, n, ids...))
	time.Sleep(time.Second)
	assert.Equal(t, []string{"lives", "lives", "lives", "lives"}, outputs(t, n, ids...))
	assert.Equal(t, 4, rows(t, pool, "river_job WHERE attempt = 2 AND state = 'completed'"))
	assert.Equal(t, 1, log.count("a client is lost"))
	assert.Equal(t, 1, log.count("a lost client is back"))
}

// A job kills its process each time. It is discarded after its attempts, as with River.
func TestAJobThatKillsItsProcess(t *testing.T) {
	long(t)
	pool := database(t)
	n, _ := watching(t, pool, riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {}}})
	id := insert(t, n, work{Name: "kills"}, &river.InsertOpts{MaxAttempts: 2})
	for i := range 2 {
		_ = process(t, pool, fmt.Sprint("dies ", i)).Wait()
	}
	process(t, pool, "lives")
	texts := outputs(t, n, id)
	assert.Contains(t, texts[0], fmt.Sprintf("job %d was discarded: straggler: rescued: the client dies 1 is lost", id))
	assert.Equal(t, 1, rows(t, pool, "river_job WHERE attempt = 2 AND array_length(errors, 1) = 2"))
}

// A job hangs in a kind without copies. It is rescued when it has run for four times the longest run time of its kind.
func TestAJobThatHangsIsRescued(t *testing.T) {
	long(t)
	pool := database(t)
	n, log := watching(t, pool, riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {}}})
	process(t, pool, "a")
	warm(t, n, 64) // a busy machine does not see all of them
	id := insert(t, n, work{"hangs", 300 * time.Millisecond}, nil)
	begun := time.Now()
	assert.Equal(t, []string{"a"}, outputs(t, n, id))
	assert.Greater(t, time.Since(begun), 1200*time.Millisecond)
	assert.Less(t, time.Since(begun), 8*time.Second)
	assert.Equal(t, 1, log.count("a job was rescued"))
	assert.Equal(t, 1, rows(t, pool, "river_job WHERE id = $1 AND attempt = 2 AND array_length(errors, 1) = 1", id))
}

// The shadow mode changes no job, and says once a minute what it would have done.
func TestTheShadowModeChangesNothing(t *testing.T) {
	long(t)
	pool := database(t)
	o := riverplugin.Options{Shadow: true, Kinds: map[string]riverplugin.Kind{"work": {Copies: true}}, Log: quiet}
	a := start(t, pool, "a", setup{options: o}, sleeps)
	start(t, pool, "b", setup{options: o}, sleeps)
	warm(t, a, 40)
	id := insert(t, a, work{"hangs", 300 * time.Millisecond}, nil)
	time.Sleep(4 * time.Second)
	assert.Equal(t, 1, rows(t, pool, "river_job WHERE id = $1 AND state = 'running' AND attempt = 1", id))
	assert.Zero(t, rows(t, pool, "river_job WHERE metadata ? 'straggler'"))
}

// Clients change from the shadow mode to rescues one after the other. The client in the shadow mode coordinates nothing that
// acts, and its jobs are not touched, also if they hang. Those of the other client are rescued.
func TestClientsWithDifferentOptions(t *testing.T) {
	long(t)
	pool := database(t)
	with := func(name string, shadow bool) *node {
		return start(t, pool, name, setup{
			options: riverplugin.Options{Log: quiet, Shadow: shadow, Kinds: map[string]riverplugin.Kind{"work": {}}},
			change:  func(c *river.Config) { c.Queues = map[string]river.QueueConfig{name: {MaxWorkers: 4}} },
		}, sleeps)
	}
	shadow, acts := with("shadow", true), with("acts", false)
	var ids []int64
	for i := range 40 {
		ids = append(ids, insert(t, acts, work{fmt.Sprint("warm ", i), 300 * time.Millisecond}, &river.InsertOpts{Queue: "acts"}))
	}
	outputs(t, acts, ids...)
	hangs := insert(t, shadow, work{"hangs", 300 * time.Millisecond}, &river.InsertOpts{Queue: "shadow"})
	rescued := insert(t, acts, work{"hangs", 300 * time.Millisecond}, &river.InsertOpts{Queue: "acts"})
	assert.Equal(t, []string{"acts"}, outputs(t, acts, rescued))
	time.Sleep(2 * time.Second)
	assert.Equal(t, 2, rows(t, pool, "straggler_lease WHERE until > now()"))
	assert.Equal(t, 1, rows(t, pool, "river_job WHERE id = $1 AND state = 'running' AND attempt = 1", hangs))
	var copied int64
	assert.NoError(t, pool.QueryRow(t.Context(), `INSERT INTO river_job (args, kind, max_attempts, queue, state, metadata)
		SELECT args, kind, 1, queue, 'available', jsonb_build_object('straggler', jsonb_build_object('job', id, 'attempt', 1, 'client', 'acts'))
		FROM river_job WHERE id = $1 RETURNING id`, hangs).Scan(&copied))
	time.Sleep(time.Second)
	assert.Zero(t, rows(t, pool, "straggler_client WHERE client = 'shadow' AND EXISTS (SELECT FROM jsonb_object_keys(running) k WHERE k LIKE $1)", fmt.Sprint(copied, ".%")), "it works no copy")
}

// A handler ends its job by River's JobCompleteTx. The log says once that it must change, in the shadow mode, too, where the
// handler works as before.
func TestHandlersThatMustChange(t *testing.T) {
	for name, c := range map[string]struct{ shadow, changed bool }{"acts": {}, "shadow": {shadow: true}, "changed": {true, true}} {
		t.Run(name, func(t *testing.T) {
			pool, log := database(t), &lines{}
			n := start(t, pool, "a", setup{options: riverplugin.Options{
				Log: log.log(), Shadow: c.shadow, Kinds: map[string]riverplugin.Kind{"work": {}},
			}}, func(ctx context.Context, _ string, job *river.Job[work]) error {
				return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) (err error) {
					if c.changed {
						_, err = riverplugin.CompleteTx(ctx, tx, job)
					} else {
						_, err = river.JobCompleteTx[*driver](ctx, tx, job)
					}
					return err
				})
			})
			texts := outputs(t, n, insert(t, n, work{Name: "1"}, &river.InsertOpts{MaxAttempts: 1}),
				insert(t, n, work{Name: "2"}, &river.InsertOpts{MaxAttempts: 1}))
			if c.shadow {
				assert.Equal(t, []string{"", ""}, texts)
			} else {
				assert.Contains(t, texts[0], "job must be running")
			}
			want := 1
			if c.changed {
				want = 0
			}
			assert.Eventually(t, func() bool { return log.count("call riverplugin.CompleteTx") == want }, 5*time.Second, 10*time.Millisecond)
		})
	}
}

// The client that coordinates does not name a kind, and another client does. The coordinator leaves the jobs of the kind alone.
func TestAKindThatOneClientNames(t *testing.T) {
	long(t)
	pool := database(t)
	with := func(name string, kinds ...string) *node {
		named := map[string]riverplugin.Kind{}
		for _, kind := range kinds {
			named[kind] = riverplugin.Kind{}
		}
		return start(t, pool, name, setup{
			options: riverplugin.Options{Log: quiet, Kinds: named},
			change:  func(c *river.Config) { c.Queues = map[string]river.QueueConfig{name: {MaxWorkers: 4}} },
		}, obeys)
	}
	with("old", "other")
	time.Sleep(2 * time.Second)
	n := with("new", "other", "work")
	id := insert(t, n, work{"", 5 * time.Second}, &river.InsertOpts{Queue: "new"})
	assert.Equal(t, []string{""}, outputs(t, n, id))
	assert.Equal(t, 1, rows(t, pool, "river_job WHERE attempt = 1 AND errors IS NULL"))
}

// A client with a thousand jobs is lost. All are put back, a part in each turn, and meanwhile nobody else is taken as lost.
func TestALostClientWithManyJobs(t *testing.T) {
	long(t)
	pool := database(t)
	log := &lines{}
	start(t, pool, "lives", setup{
		options: riverplugin.Options{Log: log.log(), Kinds: map[string]riverplugin.Kind{"work": {}}},
		change:  func(c *river.Config) { c.Queues = map[string]river.QueueConfig{"none": {MaxWorkers: 1}} },
	}, obeys)
	_, err := pool.Exec(t.Context(), `WITH m AS (INSERT INTO straggler_member (client, holder, guards) VALUES ('dead', '', '{work}'))
		INSERT INTO river_job (kind, queue, state, attempt, attempted_at, attempted_by, args, max_attempts)
		SELECT 'work', 'default', 'running', 1, now(), '{dead}', '{}', 25 FROM generate_series(1, 1000)`)
	require.NoError(t, err)
	assert.Eventually(t, func() bool { return rows(t, pool, "river_job WHERE state = 'available'") == 1000 }, time.Minute, 100*time.Millisecond)
	assert.Equal(t, 1000, log.count("a job was rescued"))
	assert.Equal(t, 1, log.count("a client is lost"))
	assert.Zero(t, log.count("the database does not answer"))
}

// A job is snoozed, and runs again with the same number of its attempt. It may have a copy, and be rescued. The copy of its first
// run ends nothing.
func TestARunAfterASnoozeIsAnotherRun(t *testing.T) {
	pool := database(t)
	n := start(t, pool, "a", setup{options: riverplugin.Options{Log: quiet, Kinds: map[string]riverplugin.Kind{"work": {}}}},
		func(ctx context.Context, _ string, job *river.Job[work]) error {
			if !strings.Contains(string(job.Metadata), "snoozes") {
				return river.JobSnooze(10 * time.Millisecond)
			}
			return pause(ctx, time.Minute)
		})
	id := insert(t, n, work{}, nil)
	again := func() bool {
		return rows(t, pool, "river_job WHERE id = $1 AND state = 'running' AND attempt = 1 AND metadata ? 'snoozes'", id) == 1
	}
	require.Eventually(t, again, 20*time.Second, 10*time.Millisecond)
	won, err := n.plugin.Claim(t.Context(), id, -1, 1, -time.Hour)
	assert.NoError(t, err)
	assert.False(t, won, "a copy of the run before")
	copied, err := n.plugin.Copy(t.Context(), id)
	assert.NoError(t, err)
	assert.True(t, copied)
	assert.NoError(t, n.plugin.Rescue(t.Context(), id))
	assert.Equal(t, 1, rows(t, pool, "river_job WHERE id = $1 AND array_length(errors, 1) = 1", id))
}
