package riverplugin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/servers"
	"github.com/straggler-go/straggler/restart/engine/riverplugin"
)

// work are the arguments of the jobs of the tests.
type work struct {
	Name  string        `json:"name"`
	Lasts time.Duration `json:"lasts"`
}

func (work) Kind() string { return "work" }

var quiet = slog.New(slog.DiscardHandler)

// database returns a pool of a new database with River's tables, on a server of its own. Without Postgres the test is
// skipped.
func database(t *testing.T) *pgxpool.Pool {
	s, err := servers.StartPostgres()
	if errors.Is(err, servers.ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	pool, err := pgxpool.New(t.Context(), s.URL)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet})
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	return pool
}

// times is how often each fault of the database is tried, and tells how long the other long tests are; 0 leaves them all
// out. .ci/all sets it to 20.
var times, _ = strconv.Atoi(os.Getenv("STRAGGLER_RIVER"))

// long skips a test that takes more than seconds, unless all tests shall run.
func long(t *testing.T) {
	if times == 0 {
		t.Skip("takes minutes: STRAGGLER_RIVER=1 runs it")
	}
}

// handler is the work of a job at a client. River's ID of the client is name.
type handler func(ctx context.Context, name string, job *river.Job[work]) error

// worker lets a handler work jobs.
type worker struct {
	river.WorkerDefaults[work]
	name       string
	handle     handler
	middleware []rivertype.WorkerMiddleware
}

func (w *worker) Work(ctx context.Context, job *river.Job[work]) error {
	return w.handle(ctx, w.name, job)
}

func (w *worker) Middleware(*rivertype.JobRow) []rivertype.WorkerMiddleware { return w.middleware }

// node is a client with a plugin.
type node struct {
	*river.Client[pgx.Tx]
	plugin *riverplugin.Plugin
	stop   func() // ends the client and the plugin at once
}

// driver is River's driver for pgx.
type driver = riverpgxv5.Driver

// setup is how a client of a test differs from the usual one.
type setup struct {
	slots      int
	options    riverplugin.Options
	plain      bool // without the plugin
	middleware []rivertype.WorkerMiddleware
	change     func(*river.Config)
}

// start starts a client.
func start(t *testing.T, pool *pgxpool.Pool, name string, s setup, handle handler) *node {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{name: name, handle: handle, middleware: s.middleware})
	if s.slots == 0 {
		s.slots = 4
	}
	if s.options.Kinds == nil {
		s.options.Kinds = map[string]riverplugin.Kind{"work": {Copies: true}}
	}
	config := &river.Config{
		ID: name, Workers: workers, Logger: quiet, FetchPollInterval: 50 * time.Millisecond, FetchCooldown: 20 * time.Millisecond,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: s.slots}},
	}
	plugin, err := riverplugin.New(pool, s.options)
	require.NoError(t, err)
	if !s.plain {
		config.Plugins = append(config.Plugins, plugin)
	}
	if s.change != nil {
		s.change(config)
	}
	client, err := river.NewClient(riverpgxv5.New(pool), config)
	require.NoError(t, err)
	require.NoError(t, client.Start(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	if !s.plain {
		wait.Go(func() { plugin.Run(ctx, client) })
	}
	n := &node{client, plugin, sync.OnceFunc(func() {
		cancel()
		stop, end := context.WithTimeout(context.Background(), 10*time.Second)
		defer end()
		_ = client.StopAndCancel(stop)
		wait.Wait()
	})}
	t.Cleanup(n.stop)
	for !s.plain && !beats(pool, config.Schema, name) {
		time.Sleep(10 * time.Millisecond)
	}
	return n
}

// beats reports whether the plugin of a client has begun.
func beats(pool *pgxpool.Pool, schema, name string) (is bool) {
	if schema != "" {
		schema += "."
	}
	err := pool.QueryRow(context.Background(), "SELECT EXISTS (SELECT FROM "+schema+"straggler_client WHERE client = $1)", name).Scan(&is)
	return err == nil && is
}

// insert inserts a job, and returns its ID.
func insert(t *testing.T, n *node, args work, o *river.InsertOpts) int64 {
	r, err := n.Insert(t.Context(), args, o)
	require.NoError(t, err)
	return r.Job.ID
}

// outputs waits for jobs, and returns their outputs as text.
func outputs(t *testing.T, n *node, ids ...int64) (texts []string) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	results, err := n.plugin.Wait(ctx, ids...)
	require.NoError(t, err)
	for _, r := range results {
		if r.Err != nil {
			texts = append(texts, r.Err.Error())
			continue
		}
		var text string
		_ = json.Unmarshal(r.Output, &text)
		texts = append(texts, text)
	}
	return texts
}

// rows returns the number of rows of a table that fulfil a condition.
func rows(t *testing.T, pool *pgxpool.Pool, condition string, args ...any) (n int) {
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM "+condition, args...).Scan(&n))
	return n
}

// warm runs jobs until the plugin knows how long they take.
func warm(t *testing.T, n *node, jobs int) {
	var ids []int64
	for i := range jobs {
		ids = append(ids, insert(t, n, work{Name: fmt.Sprint("warm ", i), Lasts: 300 * time.Millisecond}, nil))
	}
	outputs(t, n, ids...)
}

// pause waits as a handler does that obeys its context.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
