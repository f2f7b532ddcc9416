package asynqplugin_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/servers"
	"github.com/straggler-go/straggler/restart/engine/asynqplugin"
)

// database is a Redis of a test.
type database struct {
	t         *testing.T
	conn      asynq.RedisClientOpt
	redis     *redis.Client
	client    *asynq.Client
	inspector *asynq.Inspector
}

// newDatabase returns a new Redis. Without redis-server the test is skipped.
func newDatabase(t *testing.T) *database {
	s, err := servers.StartRedis("--enable-debug-command", "yes")
	if errors.Is(err, servers.ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: s.Socket, PoolSize: 300})
	t.Cleanup(func() { _ = c.Close() })
	return &database{
		t: t, conn: asynq.RedisClientOpt{Network: "unix", Addr: s.Socket, PoolSize: 300}, redis: c,
		client: asynq.NewClientFromRedisClient(c), inspector: asynq.NewInspectorFromRedisClient(c),
	}
}

// long skips a test that takes more than seconds, unless all tests shall run.
func long(t *testing.T) {
	if os.Getenv("STRAGGLER_ASYNQ") == "" {
		t.Skip("takes minutes: STRAGGLER_ASYNQ=1 runs it")
	}
}

// quiet is a logger of asynq that writes nothing.
type quiet struct{}

func (quiet) Debug(...any) {}
func (quiet) Info(...any)  {}
func (quiet) Warn(...any)  {}
func (quiet) Error(...any) {}
func (quiet) Fatal(...any) {}

// isCopy reports whether a handler runs a copy.
func isCopy(ctx context.Context) bool {
	id, _ := asynq.GetTaskID(ctx)
	return strings.Contains(id, ":copy:")
}

// isCopyTask reports whether a task is that of a copy.
func isCopyTask(t *asynq.Task) bool { return t.Headers()["straggler-copy"] != "" }

// setup is how a server of a test differs from the usual one.
type setup struct {
	slots   int
	options asynqplugin.Options
	plain   bool          // without the plugin
	runs    bool          // Plugin.Run is called
	faults  chan<- string // gets the task ID of each call of asynq's ErrorHandler
}

// kinds lets the tasks of the tests have copies.
var kinds = map[string]asynqplugin.Kind{"work": {Copies: true}}

// start starts a server, and returns its plugin. Asynq lists the server by then: a coordinator reads the queues of listed servers.
func (d *database) start(s setup, handle asynq.HandlerFunc) *asynqplugin.Plugin {
	if s.slots == 0 {
		s.slots = 4
	}
	if s.options.Log == nil {
		s.options.Log = slog.New(slog.DiscardHandler)
	}
	p, err := asynqplugin.New(d.conn, s.options)
	require.NoError(d.t, err)
	var handler asynq.Handler = handle
	if !s.plain {
		handler = p.Middleware(handle)
	}
	if s.runs {
		ctx, cancel := context.WithCancel(context.Background())
		var wait sync.WaitGroup
		wait.Go(func() { p.Run(ctx) })
		d.t.Cleanup(func() { cancel(); wait.Wait() })
	}
	server := asynq.NewServer(d.conn, asynq.Config{
		Concurrency: s.slots, Logger: quiet{}, TaskCheckInterval: 50 * time.Millisecond, DelayedTaskCheckInterval: time.Second,
		ShutdownTimeout: time.Second,
		ErrorHandler: asynq.ErrorHandlerFunc(func(ctx context.Context, _ *asynq.Task, _ error) {
			if s.faults != nil {
				id, _ := asynq.GetTaskID(ctx)
				s.faults <- id
			}
		}),
		RetryDelayFunc: func(_ int, err error, t *asynq.Task) time.Duration {
			if isCopyTask(t) || errors.Is(err, asynqplugin.ErrHangs) || errors.Is(err, asynq.ErrLeaseExpired) {
				return time.Second
			}
			return time.Hour
		},
	})
	before := d.listed()
	require.NoError(d.t, server.Start(handler))
	d.t.Cleanup(server.Shutdown)
	require.Eventually(d.t, func() bool {
		return slices.ContainsFunc(d.listed(), func(id string) bool { return !slices.Contains(before, id) })
	}, time.Minute, time.Millisecond)
	return p
}

// listed returns asynq's IDs of the servers that it lists.
func (d *database) listed() (ids []string) {
	servers, err := d.inspector.Servers()
	require.NoError(d.t, err)
	for _, s := range servers {
		ids = append(ids, s.ID)
	}
	return ids
}

// enqueue enqueues a task of a kind, and keeps it for an hour after its end.
func (d *database) enqueue(kind, id string, options ...asynq.Option) {
	_, err := d.client.Enqueue(asynq.NewTask(kind, []byte(id)), append(options, asynq.TaskID(id), asynq.Retention(time.Hour))...)
	require.NoError(d.t, err)
}

// row is what a test looks at in a task of asynq.
type row struct {
	State, Result, Fault string
	Retried              int
}

// row returns a task; the zero row if asynq has none.
func (d *database) row(id string) row {
	info, err := d.inspector.GetTaskInfo("default", id)
	if err != nil {
		require.ErrorIs(d.t, err, asynq.ErrTaskNotFound)
		return row{}
	}
	return row{info.State.String(), string(info.Result), info.LastErr, info.Retried}
}

// settled waits until a task does not run any more.
func (d *database) settled(id string) row {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if r := d.row(id); r.State != "active" && r.State != "pending" {
			return r
		}
	}
	return d.row(id)
}

// warm runs tasks of 100 ms until the coordinators know their kind.
func (d *database) warm() {
	time.Sleep(7 * time.Second) // the coordinators watch before they act
	for i := range 40 {
		d.enqueue("work", "warm-"+string(rune('a'+i/26))+string(rune('a'+i%26)))
	}
	require.Eventually(d.t, func() bool {
		done, err := d.inspector.ListCompletedTasks("default", asynq.PageSize(100))
		return err == nil && len(done) >= 40
	}, 20*time.Second, 20*time.Millisecond)
	time.Sleep(time.Second)
}

// copies returns the number of rows of copies that asynq has.
func (d *database) copies() (n int) {
	keys, err := d.redis.Keys(d.t.Context(), "asynq:*:copy:*").Result()
	require.NoError(d.t, err)
	return len(keys)
}

// lines are the lines of a log.
type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(text)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.all.String(), text)
}

func (l *lines) log() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
