package batch_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/asynq/batch"
)

// server is a Redis for one test. It listens on a socket in a directory of its own.
type server struct {
	asynq.RedisClientOpt
	dir, persistence string
	process          *exec.Cmd
}

func newServer(t *testing.T, persistence string) *server {
	t.Helper()
	dir, err := os.MkdirTemp("", "batch") // t.TempDir is too long for a socket
	require.NoError(t, err)
	s := &server{dir: dir, persistence: persistence}
	s.RedisClientOpt = asynq.RedisClientOpt{Network: "unix", Addr: filepath.Join(dir, "redis")}
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
	args := append([]string{"--port", "0", "--unixsocket", s.Addr, "--save", "", "--dir", s.dir}, strings.Fields(s.persistence)...)
	s.process = exec.Command(binary, args...)
	require.NoError(t, s.process.Start())
	rdb := s.MakeRedisClient().(*redis.Client)
	defer rdb.Close()
	require.Eventually(t, func() bool { return rdb.Ping(t.Context()).Err() == nil }, 10*time.Second, 10*time.Millisecond)
}

func (s *server) kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
	}
}

func startRedis(t *testing.T) asynq.RedisClientOpt {
	t.Helper()
	return newServer(t, "").RedisClientOpt
}

// kept lists the keys of batches, and the keys that never expire.
func kept(t *testing.T, rdb *redis.Client) (all, forEver []string) {
	t.Helper()
	all, err := rdb.Keys(t.Context(), "straggler:*").Result()
	require.NoError(t, err)
	// the lease expires at once
	all = slices.DeleteFunc(all, func(key string) bool { return strings.HasSuffix(key, ":lease") })
	for _, key := range all {
		if rdb.PTTL(t.Context(), key).Val() == -1 {
			forEver = append(forEver, key)
		}
	}
	return all, forEver
}

// All keys of a batch expire. If attempts of such a batch still run or wait, they do not create keys again.
func TestAllKeysExpire(t *testing.T) {
	at := startRedis(t)
	rdb := at.MakeRedisClient().(*redis.Client)
	defer rdb.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	_, err := batch.Run(ctx, at, "unheard", squares(20), options())
	cancel()
	require.ErrorIs(t, err, context.DeadlineExceeded)
	all, forEver := kept(t, rdb)
	assert.Len(t, all, 2)
	assert.Empty(t, forEver, "the keys of a batch that has waited for a worker expire")

	var begun, ended atomic.Int64
	hold := make(chan struct{})
	startWorker(t, at, "a", func(ctx context.Context, task *asynq.Task) error {
		defer ended.Add(1)
		if begun.Add(1) > 4 {
			<-hold
		}
		return square(ctx, task, time.Millisecond)
	})
	ctx, cancel = context.WithCancel(t.Context())
	o := options()
	waits := make(chan struct{}, 100)
	o.OnAction = func(a engine.Action) {
		if a.Op == engine.Submit {
			waits <- struct{}{}
		}
	}
	stopped := make(chan error)
	go func() { _, err := batch.Run(ctx, at, "left", squares(20), o); stopped <- err }()
	for range 8 {
		<-waits
	}
	require.Eventually(t, func() bool { return begun.Load() >= 8 }, 10*time.Second, 10*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-stopped, context.Canceled)
	all, forEver = kept(t, rdb)
	assert.Len(t, all, 2+4)
	assert.Empty(t, forEver)

	require.NoError(t, rdb.Del(t.Context(), all...).Err()) // as if the keys had expired
	was := begun.Load()
	client := asynq.NewClient(at)
	defer client.Close()
	_, err = client.Enqueue(squares(1)[0], asynq.Queue("straggler:a"), asynq.TaskID("left/forgotten/0.9"))
	require.NoError(t, err)
	close(hold)
	tool := asynq.NewInspector(at)
	defer tool.Close()
	require.Eventually(t, func() bool {
		q, err := tool.GetQueueInfo("straggler:a")
		return err == nil && q.Active+q.Pending == 0 && ended.Load() == begun.Load()
	}, 10*time.Second, 10*time.Millisecond)
	assert.Equal(t, was, begun.Load(), "an attempt of a forgotten batch does not begin")
	all, _ = kept(t, rdb)
	assert.Empty(t, all)

	out, err := batch.Run(t.Context(), at, "done", squares(20), options())
	require.NoError(t, err)
	requireSquares(t, 20, out)
	all, forEver = kept(t, rdb)
	assert.Len(t, all, 4)
	assert.Empty(t, forEver)
}

// Interval is long. All the same, Run sees a new worker soon, handles ends at once, and returns soon after its
// context ends.
func TestLongIntervalDelaysOnlyThePolicy(t *testing.T) {
	at := startRedis(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var come sync.WaitGroup
	var gone func()
	come.Go(func() {
		time.Sleep(200 * time.Millisecond)
		gone = startWorker(t, at, "a", after(time.Millisecond))
	})
	o := options()
	o.Interval = time.Hour
	out, err := batch.Run(ctx, at, "seldom", squares(20), o)
	require.NoError(t, err)
	come.Wait()
	requireSquares(t, 20, out)
	gone()

	begun := make(chan struct{}, 100)
	startWorker(t, at, "b", func(ctx context.Context, _ *asynq.Task) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	stopped := make(chan error)
	running, stop := context.WithCancel(ctx)
	go func() { _, err := batch.Run(running, at, "cancelled", squares(20), o); stopped <- err }()
	for range 4 {
		<-begun
	}
	time.Sleep(200 * time.Millisecond) // after this there are no reports
	stop()
	select {
	case err := <-stopped:
		require.ErrorIs(t, err, context.Canceled)
	case <-ctx.Done():
		t.Fatal("Run does not return after its context has ended")
	}
}

// A worker that is started again with more slots gets more tasks.
func TestMoreSlotsGetMoreTasks(t *testing.T) {
	at := startRedis(t)
	var running, most atomic.Int64
	h := func(ctx context.Context, task *asynq.Task) error {
		now := running.Add(1)
		defer running.Add(-1)
		for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
		}
		return square(ctx, task, 100*time.Millisecond)
	}
	stop := startSlots(t, at, "a", 1, h)
	submitted := make(chan struct{}, 1000)
	o := options()
	o.OnAction = func(engine.Action) { submitted <- struct{}{} }
	done := make(chan batch.Outcome)
	go func() {
		out, err := batch.Run(t.Context(), at, "grows", squares(60), o)
		assert.NoError(t, err)
		done <- out
	}()
	for range 4 {
		<-submitted
	}
	assert.EqualValues(t, 1, most.Load())
	stop()
	startSlots(t, at, "a", 6, h)
	requireSquares(t, 60, <-done)
	assert.EqualValues(t, 6, most.Load())
}

// mute is a Redis that loses every fifth report of an end, like a Redis that comes back with an older state.
type mute struct {
	asynq.RedisClientOpt
	told *atomic.Int64
}

func (m mute) MakeRedisClient() any {
	rdb := m.RedisClientOpt.MakeRedisClient().(*redis.Client)
	rdb.AddHook(m)
	return rdb
}

func (m mute) DialHook(next redis.DialHook) redis.DialHook { return next }

func (m mute) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (m mute) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		ends := cmd.Name() == "xadd" && !slices.Contains(cmd.Args(), any("running")) ||
			cmd.Name() == "evalsha" && cmd.Args()[2] == 3 // a success and its output
		if ends && m.told.Add(1)%5 == 0 {
			return nil
		}
		return next(ctx, cmd)
	}
}

// If the report of an end is lost, Run asks asynq how the attempt has ended. If the output of a success is lost, too,
// the task runs again.
func TestLostReportsAreMadeUpFor(t *testing.T) {
	at := mute{startRedis(t), new(atomic.Int64)}
	var tries [20]atomic.Int64
	startWorker(t, at, "a", func(ctx context.Context, task *asynq.Task) error {
		n, _ := strconv.Atoi(string(task.Payload()))
		if n%10 == 7 && tries[n].Add(1) == 1 {
			return errors.New("the first time it fails")
		}
		return square(ctx, task, time.Millisecond)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	o := options()
	o.Policy = restart.Never{}
	out, err := batch.Run(ctx, at.RedisClientOpt, "deaf", squares(20), o)
	require.NoError(t, err)
	requireSquares(t, 20, out)
	assert.EqualValues(t, at.told.Load(), out.Ledger.Started, "%v", out.Ledger)
	assert.GreaterOrEqual(t, out.Ledger.Started, 26)
}

// Redis is killed and started again. With persistence the batch goes on. Without it Run returns an error that says so;
// then the batch can be run again, and attempts of the first run do not count.
func TestBatchSurvivesAKilledRedis(t *testing.T) {
	for _, kind := range []string{"--appendonly yes --appendfsync always", ""} {
		s := newServer(t, kind)
		var begun atomic.Int64
		for _, name := range []string{"a", "b"} {
			startWorker(t, s.RedisClientOpt, name, func(ctx context.Context, task *asynq.Task) error {
				if begun.Add(1) == 20 {
					s.kill()
					s.start(t)
				}
				return square(ctx, task, 100*time.Millisecond)
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		out, err := batch.Run(ctx, s.RedisClientOpt, "killed", squares(60), options())
		if kind == "" {
			require.EqualError(t, err,
				"batch killed: can't go on: Redis has lost the batch, which has to be run again")
			out, err = batch.Run(ctx, s.RedisClientOpt, "killed", squares(60), options())
		}
		require.NoError(t, err)
		requireSquares(t, 60, out)
	}
}

// Redis comes back without its last writes, results included, as after a failover. The tasks run again.
func TestTasksRunAgainIfRedisLosesTheirResults(t *testing.T) {
	for _, lost := range []int64{1, 8, 20} {
		s := newServer(t, "")
		var begun atomic.Int64
		for _, name := range []string{"a", "b"} {
			startWorker(t, s.RedisClientOpt, name, func(ctx context.Context, task *asynq.Task) error {
				switch begun.Add(1) {
				case 16:
					rdb := s.MakeRedisClient().(*redis.Client)
					defer rdb.Close()
					assert.NoError(t, rdb.Save(ctx).Err())
				case 16 + lost:
					s.kill()
					s.start(t)
				}
				return square(ctx, task, 60*time.Millisecond)
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		out, err := batch.Run(ctx, s.RedisClientOpt, "lossy", squares(60), options())
		require.NoError(t, err)
		requireSquares(t, 60, out)
	}
}

// If outputs are deleted, as by a Redis that evicts keys, Run returns an error that says so.
func TestDeletedOutputsAreAnError(t *testing.T) {
	at := startRedis(t)
	startWorker(t, at, "a", after(time.Millisecond))
	rdb := at.MakeRedisClient().(*redis.Client)
	defer rdb.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	o := options()
	o.OnAction = func(a engine.Action) {
		if a.Op == engine.Publish {
			assert.NoError(t, rdb.Del(ctx, "straggler:{evicts}:outputs").Err())
		}
	}
	_, err := batch.Run(ctx, at, "evicts", squares(4), o)
	require.ErrorContains(t, err, "does it evict keys?")
}
