package asynqqueue_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/asynqqueue"
	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/queue/queuetest"
)

// server is a Redis for one test. It listens on a socket in a directory of its own.
type server struct {
	asynq.RedisClientOpt
	dir, persistence string
	process          *exec.Cmd
}

func newServer(t *testing.T, persistence string) *server {
	t.Helper()
	dir, err := os.MkdirTemp("", "queue") // t.TempDir is too long for a socket
	require.NoError(t, err)
	s := &server{dir: dir, persistence: persistence}
	s.RedisClientOpt = asynq.RedisClientOpt{Network: "unix", Addr: filepath.Join(dir, "redis"), PoolSize: 50}
	t.Cleanup(func() {
		s.kill()
		_ = os.RemoveAll(dir)
	})
	s.start(t)
	return s
}

func (s *server) start(t *testing.T) {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("there is no redis-server here (apt-get install redis-server)")
	}
	args := []string{"--port", "0", "--unixsocket", s.Addr, "--save", "", "--dir", s.dir}
	args = append(args, strings.Fields(s.persistence)...)
	s.process = exec.Command(binary, args...)
	require.NoError(t, s.process.Start())
	rdb := s.MakeRedisClient().(*redis.Client)
	defer rdb.Close()
	answers := func() bool { return rdb.Ping(context.Background()).Err() == nil }
	require.Eventually(t, answers, 10*time.Second, 10*time.Millisecond)
}

func (s *server) kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
	}
}

var quiet = slog.New(slog.DiscardHandler)

// open opens a queue.
func open(t *testing.T, at asynq.RedisConnOpt, name string) *asynqqueue.Queue {
	q, err := asynqqueue.Open(t.Context(), at, name)
	require.NoError(t, err)
	t.Cleanup(func() { q.Close() })
	return q
}

// start starts an asynq server that runs attempts. stop kills it.
func start(
	t *testing.T, at asynq.RedisConnOpt, q *asynqqueue.Queue, name string, slots int, handle queue.Handler,
) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	w, err := q.Worker(ctx, queue.Worker{Name: name, Slots: slots, Interval: 10 * time.Millisecond, Log: quiet})
	require.NoError(t, err)
	mux := asynq.NewServeMux()
	mux.Use(w.Middleware)
	for _, kind := range []string{"square", "other"} {
		mux.HandleFunc(kind, func(ctx context.Context, task *asynq.Task) error {
			output, err := handle(ctx, task.Payload())
			return errors.Join(err, asynqqueue.WriteResult(ctx, task, output))
		})
	}
	config := w.Config()
	config.LogLevel, config.ShutdownTimeout = asynq.FatalLevel, 50*time.Millisecond
	s := asynq.NewServer(at, config)
	require.NoError(t, s.Start(mux))
	stop = sync.OnceFunc(func() { cancel(); s.Shutdown() })
	t.Cleanup(stop)
	return stop
}

func TestAsynq(t *testing.T) {
	at := newServer(t, "").RedisClientOpt
	var n atomic.Int64
	t.Run("", func(t *testing.T) {
		queuetest.Test(t, func(t *testing.T) queuetest.Backend {
			q := open(t, at, fmt.Sprint("queue ", n.Add(1)))
			singles := 0
			return queuetest.Backend{
				Store: q,
				Insert: func(batch string, jobs []queue.Job) error {
					if batch != "" {
						return q.InsertBatch(context.Background(), batch, jobs)
					}
					singles += len(jobs)
					return insertSingle(q, jobs)
				},
				Results: func(batch string) ([]queue.Result, bool, error) {
					if batch == "" {
						return resultsOf(q)
					}
					return q.Results(context.Background(), batch)
				},
				Work: func(t *testing.T, name string, slots int, handle queue.Handler) func() {
					return start(t, at, q, name, slots, handle)
				},
			}
		})
	})
}

// singles are the IDs of the single tasks of a queue.
var singles sync.Map

func insertSingle(q *asynqqueue.Queue, jobs []queue.Job) error {
	for _, j := range jobs {
		ids, err := q.Insert(context.Background(), asynq.NewTask(j.Kind, j.Input))
		if err != nil {
			return err
		}
		was, _ := singles.LoadOrStore(q, []string(nil))
		singles.Store(q, append(was.([]string), ids...))
	}
	return nil
}

func resultsOf(q *asynqqueue.Queue) (all []queue.Result, ended bool, err error) {
	ids, _ := singles.Load(q)
	ended = true
	for _, id := range ids.([]string) {
		r, ok, err := q.Result(context.Background(), id)
		if err != nil {
			return nil, false, err
		}
		all, ended = append(all, r), ended && ok
	}
	return all, ended, nil
}

// Redis is killed and comes back while a batch runs, with its last writes or without them.
func TestRedisIsKilled(t *testing.T) {
	for _, persistence := range []string{"--appendonly yes --appendfsync always", "--appendonly yes --appendfsync everysec"} {
		t.Run(persistence, func(t *testing.T) {
			s := newServer(t, persistence)
			q := open(t, s, "default")
			square := func(_ context.Context, input []byte) ([]byte, error) {
				var n int
				_, err := fmt.Sscan(string(input), &n)
				time.Sleep(50 * time.Millisecond)
				return fmt.Append(nil, n*n), err
			}
			start(t, s, q, "a", 2, square)
			start(t, s, q, "b", 2, square)
			killed := make(chan struct{})
			go func() {
				defer close(killed)
				for range 2 {
					time.Sleep(600 * time.Millisecond)
					s.kill()
					s.start(t)
				}
			}()
			var tasks []*asynq.Task
			for i := range 100 {
				tasks = append(tasks, asynq.NewTask("square", fmt.Append(nil, i)))
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			results, err := q.Run(ctx, "x", tasks, queue.Options{Log: quiet, Silence: time.Second})
			require.NoError(t, err)
			for i, r := range results {
				require.Equal(t, fmt.Sprint(i*i), string(r.Output))
			}
			<-killed
		})
	}
}

// Run with the name of a batch that exists returns its results, or refuses other tasks. Tasks that asynq refuses are
// refused at once. Every key of jobs expires.
func TestRun(t *testing.T) {
	at := newServer(t, "").RedisClientOpt
	q := open(t, at, "default")
	start(t, at, q, "a", 2, func(_ context.Context, input []byte) ([]byte, error) { return input, nil })
	one := []*asynq.Task{asynq.NewTask("square", []byte("1"))}
	o := queue.Options{Log: quiet}
	for range 2 {
		results, err := q.Run(t.Context(), "x", one, o)
		require.NoError(t, err)
		require.Equal(t, "1", string(results[0].Output))
	}
	_, err := q.Run(t.Context(), "x", []*asynq.Task{asynq.NewTask("square", []byte("2"))}, o)
	assert.EqualError(t, err, "asynqqueue: Redis has a batch x of 1 other tasks: "+
		"give each batch a name of its own, such as one with its date")
	for _, bad := range []*asynq.Task{nil, asynq.NewTask("", nil), asynq.NewTask("square", make([]byte, 512<<20+1))} {
		_, err := q.Run(t.Context(), "y", []*asynq.Task{bad}, o)
		assert.ErrorContains(t, err, "asynqqueue: task 0")
	}
	_, err = asynqqueue.Open(t.Context(), at, "a/b")
	assert.ErrorContains(t, err, "want one without / { }")
	_, err = q.Run(t.Context(), "a/b", nil, o)
	assert.ErrorContains(t, err, `Batch is "a/b"`, "also without tasks")
	_, _, err = q.Result(t.Context(), "x/9")
	assert.EqualError(t, err, "asynqqueue: there is no job x/9")

	rdb := at.MakeRedisClient().(*redis.Client)
	defer rdb.Close()
	keys, err := rdb.Keys(t.Context(), "straggler:{default}:*").Result()
	require.NoError(t, err)
	for _, key := range keys {
		if strings.Contains(key, ":job:") || strings.Contains(key, ":batch:") {
			assert.Greater(t, rdb.PTTL(t.Context(), key).Val(), 6*24*time.Hour, key)
		}
	}
}

// A job that has not ended is kept: its tries may take three weeks. A job that somebody deletes stops no other job.
func TestJobsAreKeptUntilTheyEnd(t *testing.T) {
	at := newServer(t, "").RedisClientOpt
	q := open(t, at, "default")
	rdb := at.MakeRedisClient().(*redis.Client)
	defer rdb.Close()
	tasks := make([]*asynq.Task, 40)
	for i := range tasks {
		tasks[i] = asynq.NewTask("square", []byte("1"))
	}
	ids, err := q.Insert(t.Context(), tasks...)
	require.NoError(t, err)
	require.NoError(t, q.InsertBatch(t.Context(), "x", queue.Batch("square", nil, nil)))
	for _, key := range []string{"job:" + ids[0], "job:x/0", "batch:x"} {
		assert.Equal(t, time.Duration(-1), rdb.PTTL(t.Context(), "straggler:{default}:"+key).Val(), "%s never expires", key)
	}
	for _, id := range ids[:30] {
		require.NoError(t, rdb.Del(t.Context(), "straggler:{default}:job:"+id).Err())
	}
	begun := make(chan bool, 100)
	start(t, at, q, "a", 1, func(context.Context, []byte) ([]byte, error) {
		begun <- true
		time.Sleep(50 * time.Millisecond)
		return nil, nil
	})
	go queue.Serve(t.Context(), q, queue.Options{Log: quiet, Kinds: map[string]queue.Kind{"": {Tries: 3}}})
	<-begun
	time.Sleep(30 * time.Millisecond) // so that attempts wait
	require.NoError(t, rdb.Del(t.Context(), "straggler:{default}:job:"+ids[32], "straggler:{default}:job:"+ids[33]).Err())
	require.Eventually(t, func() bool {
		_, ok, err := q.Result(t.Context(), ids[39])
		require.NoError(t, err)
		return ok
	}, 20*time.Second, 20*time.Millisecond)
}

// A waiting attempt that asynq has is looked for in asynq from time to time, not at each look of the coordinator.
func TestWaitingAttemptIsLookedForSeldom(t *testing.T) {
	at := newServer(t, "").RedisClientOpt
	q := open(t, at, "default")
	rdb := at.MakeRedisClient().(*redis.Client)
	defer rdb.Close()
	ids, err := q.Insert(t.Context(), asynq.NewTask("square", nil))
	require.NoError(t, err)
	epoch, _, err := q.Open(t.Context(), "one", time.Minute)
	require.NoError(t, err)
	submit := queue.Submit{Target: queue.Target{Name: "first", Worker: "a"}, Job: queue.Job{ID: ids[0]}}
	require.NoError(t, q.Commit(t.Context(), queue.Commit{Epoch: epoch, Term: time.Minute, Submit: []queue.Submit{submit}}))
	const key = "straggler:{default}:attempt:first"
	require.NoError(t, rdb.HSet(t.Context(), key, "sent", 1).Err()) // in 1970
	look := func() (sent int64) {
		all, err := q.List(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, engine.Queued, all[0].State)
		sent, err = rdb.HGet(t.Context(), key, "sent").Int64()
		require.NoError(t, err)
		return sent
	}
	sent := look()
	assert.WithinDuration(t, time.Now(), time.UnixMicro(sent), time.Minute, "it was looked for")
	assert.Equal(t, sent, look(), "it was not looked for again")
}

// imitation is a connection to a Redis that has a batch of 250 tasks. The task broken has no state.
type imitation struct {
	asynq.RedisClientOpt
	pipelines []int // the numbers of commands
	broken    string
}

func (m *imitation) MakeRedisClient() any {
	c := redis.NewClient(&redis.Options{})
	c.AddHook(m)
	return c
}

func (m *imitation) DialHook(next redis.DialHook) redis.DialHook { return next }

func (m *imitation) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, command redis.Cmder) error {
		if n, ok := command.(*redis.StringCmd); ok {
			n.SetVal("250")
		}
		return nil
	}
}

func (m *imitation) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(_ context.Context, commands []redis.Cmder) error {
		m.pipelines = append(m.pipelines, len(commands))
		for _, c := range commands {
			key := fmt.Sprint(c.Args()[1])
			fields := []any{"2", key, "", ""}
			if m.broken != "" && strings.HasSuffix(key, m.broken) {
				fields[0] = nil
			}
			c.(*redis.SliceCmd).SetVal(fields)
		}
		return nil
	}
}

// The results of a large batch come in several pipelines, because the client has a timeout for each pipeline.
func TestResultsComeInParts(t *testing.T) {
	m := &imitation{}
	q := open(t, m, "default")
	all, ended, err := q.Results(t.Context(), "x")
	require.NoError(t, err)
	assert.True(t, ended)
	require.Len(t, all, 250)
	for i, r := range all {
		require.Equal(t, fmt.Sprint("straggler:{default}:job:x/", i), string(r.Output))
	}
	assert.Equal(t, []int{100, 100, 50}, m.pipelines)
	m.broken = "x/150"
	_, _, err = q.Results(t.Context(), "x")
	require.EqualError(t, err, "asynqqueue: there is no job x/150")
}

// After an error Insert returns no IDs.
func TestInsertReturnsNoIDsAfterAnError(t *testing.T) {
	q := open(t, newServer(t, "").RedisClientOpt, "default")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ids, err := q.Insert(ctx, asynq.NewTask("square", nil))
	require.Error(t, err)
	assert.Empty(t, ids)
}

// A program has at most three lines more than with asynq alone, besides the checks of errors.
func TestProgram(t *testing.T) { queuetest.Program(t, 3, newServer(t, "").Addr) }
