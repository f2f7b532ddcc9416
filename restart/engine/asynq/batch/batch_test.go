package batch_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
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

const interval = 50 * time.Millisecond

// startWorker starts a worker with four slots. The returned function stop shuts the worker down properly.
func startWorker(t *testing.T, at asynq.RedisConnOpt, name string, h asynq.HandlerFunc) (stop func()) {
	t.Helper()
	return startSlots(t, at, name, 4, h)
}

func startSlots(t *testing.T, at asynq.RedisConnOpt, name string, slots int, h asynq.HandlerFunc) (stop func()) {
	t.Helper()
	w := batch.Worker{Redis: at, Name: name, Slots: slots, Interval: interval}
	c := w.Config()
	c.LogLevel, c.ShutdownTimeout = asynq.FatalLevel, 50*time.Millisecond
	mux := asynq.NewServeMux()
	mux.Use(w.Middleware())
	mux.Handle("square", h)
	server := asynq.NewServer(at, c)
	require.NoError(t, server.Start(mux))
	stop = sync.OnceFunc(server.Shutdown)
	t.Cleanup(stop)
	tool := asynq.NewInspector(at)
	defer tool.Close()
	require.Eventually(t, func() bool { // asynq lists the server only after a moment
		up, _ := tool.Servers()
		return slices.ContainsFunc(up, func(s *asynq.ServerInfo) bool { return s.Queues["straggler:"+name] > 0 })
	}, 10*time.Second, 5*time.Millisecond)
	return stop
}

func squares(n int) (tasks []*asynq.Task) {
	for i := range n {
		tasks = append(tasks, asynq.NewTask("square", []byte(strconv.Itoa(i))))
	}
	return tasks
}

// square takes a given time, reports its progress, and writes the square of its payload.
func square(ctx context.Context, t *asynq.Task, takes time.Duration) error {
	n, err := strconv.Atoi(string(t.Payload()))
	if err != nil {
		return err
	}
	for began, ran := time.Now(), time.Duration(0); ran < takes; ran = time.Since(began) {
		batch.Progress(ctx, float64(ran)/float64(takes))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(takes-ran, interval/2)):
		}
	}
	return batch.WriteResult(ctx, t, []byte(strconv.Itoa(n*n)))
}

func after(takes time.Duration) asynq.HandlerFunc {
	return func(ctx context.Context, t *asynq.Task) error { return square(ctx, t, takes) }
}

func requireSquares(t *testing.T, n int, out batch.Outcome) {
	t.Helper()
	require.Len(t, out.Results, n)
	for i, r := range out.Results {
		require.Equal(t, strconv.Itoa(i*i), string(r.Data), "task %d, attempt %s", i, r.Attempt)
	}
}

func options() batch.Options {
	return batch.Options{Interval: interval, Log: slog.New(slog.DiscardHandler)}
}

func TestRunReturnsEachResultOnce(t *testing.T) {
	at := startRedis(t)
	startWorker(t, at, "a", after(20*time.Millisecond))
	startWorker(t, at, "b", after(20*time.Millisecond))
	out, err := batch.Run(t.Context(), at, "even", squares(60), options())
	require.NoError(t, err)
	requireSquares(t, 60, out)
	assert.Equal(t, 60, out.Ledger.Finished)
	assert.Empty(t, out.Failed)

	again, err := batch.Run(t.Context(), at, "even", squares(60), options())
	require.NoError(t, err)
	assert.Equal(t, out.Results, again.Results, "a batch that is over is not run again")

	_, err = batch.Run(t.Context(), at, "even", squares(61), options())
	require.ErrorContains(t, err, "a batch of this name has 60 other tasks")
	others := squares(60)
	others[59] = asynq.NewTask("square", []byte("1"))
	_, err = batch.Run(t.Context(), at, "even", others, options())
	require.ErrorContains(t, err, "batch even: can't go on: a batch of this name has 60 other tasks")
	_, err = batch.Run(t.Context(), at, "a/b", squares(1), options())
	require.ErrorContains(t, err, `the name is "a/b"`)
	out, err = batch.Run(t.Context(), at, "none", nil, options())
	require.NoError(t, err)
	assert.Empty(t, out.Results)

	bad := options()
	bad.Work = []float64{1}
	_, err = batch.Run(t.Context(), at, "bad", squares(2), bad)
	require.ErrorContains(t, err, "Tasks")
}

// A batch runs although there are queues with a worker's prefix that belong to no worker.
func TestQueuesOfStrangersDoNoHarm(t *testing.T) {
	at := startRedis(t)
	stranger := asynq.NewServer(at, asynq.Config{
		Concurrency: 1, LogLevel: asynq.FatalLevel, Queues: map[string]int{"straggler:": 1, "straggler:a\nb": 1},
	})
	require.NoError(t, stranger.Start(asynq.NotFoundHandler()))
	t.Cleanup(stranger.Shutdown)
	startWorker(t, at, "a", after(time.Millisecond))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	out, err := batch.Run(ctx, at, "rude", squares(4), options())
	require.NoError(t, err)
	requireSquares(t, 4, out)
}

// One worker is forty times slower than the others. Its tasks are done elsewhere, with progress reports and without.
func TestTasksOfASlowWorkerAreDoneElsewhere(t *testing.T) {
	for _, silent := range []bool{false, true} {
		at := startRedis(t)
		startWorker(t, at, "a", after(100*time.Millisecond))
		startWorker(t, at, "b", after(100*time.Millisecond))
		startWorker(t, at, "slow", func(ctx context.Context, task *asynq.Task) error {
			if silent {
				ctx = context.WithoutCancel(context.Background())
				select {
				case <-time.After(4 * time.Second):
				case <-ctx.Done():
				}
				return nil
			}
			return square(ctx, task, 4*time.Second)
		})
		began := time.Now()
		out, err := batch.Run(t.Context(), at, "slow", squares(60), options())
		require.NoError(t, err)
		requireSquares(t, 60, out)
		assert.Less(t, time.Since(began), 3*time.Second, "without copies it takes 4 s and more: %v", out.Ledger)
		assert.Positive(t, out.Ledger.Copies+out.Ledger.Restarts)
	}
}

// A task that fails is run again. After four failures Run returns the task's error, with the results of the other tasks.
func TestTaskFailsForGoodAfterFourFailures(t *testing.T) {
	at := startRedis(t)
	var tries [20]atomic.Int64
	startWorker(t, at, "a", func(ctx context.Context, task *asynq.Task) error {
		n, _ := strconv.Atoi(string(task.Payload()))
		switch tries[n].Add(1); {
		case n == 3:
			return errors.New("three is too many")
		case n == 5 && tries[n].Load() < 3:
			panic("five")
		}
		return square(ctx, task, time.Millisecond)
	})
	out, err := batch.Run(t.Context(), at, "failures", squares(20), options())
	require.EqualError(t, err,
		"batch failures: 1 of 20 tasks have failed for good; the last error of task 3: three is too many")
	assert.Equal(t, []int{3}, out.Failed)
	assert.EqualValues(t, 4, tries[3].Load())
	assert.EqualValues(t, 3, tries[5].Load())
	assert.Equal(t, batch.Result{Data: nil}, out.Results[3])
	assert.Equal(t, "25", string(out.Results[5].Data))
}

// A task with NoCopy never runs twice at the same time.
func TestNoCopyTasksNeverRunTwiceAtOnce(t *testing.T) {
	at := startRedis(t)
	var running, tries [30]atomic.Int64
	for _, name := range []string{"a", "b"} {
		startWorker(t, at, name, func(ctx context.Context, task *asynq.Task) error {
			n, _ := strconv.Atoi(string(task.Payload()))
			assert.LessOrEqual(t, running[n].Add(1), int64(1))
			defer running[n].Add(-1)
			takes := 30 * time.Millisecond
			if tries[n].Add(1) == 1 && n%10 == 3 {
				takes = time.Minute
			}
			return square(ctx, task, takes)
		})
	}
	o := options()
	o.NoCopy = func(int) bool { return true }
	o.OnAction = func(a engine.Action) { assert.NotEqual(t, restart.Copy, a.Decision.Action) }
	out, err := batch.Run(t.Context(), at, "alone", squares(30), o)
	require.NoError(t, err)
	requireSquares(t, 30, out)
	assert.Positive(t, out.Ledger.Restarts)
}

// A second call of Run waits while the first call works, and goes on with the batch when the first call is cancelled.
func TestASecondCallGoesOnWithTheBatch(t *testing.T) {
	at := startRedis(t)
	startWorker(t, at, "a", after(50*time.Millisecond))
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	var wait sync.WaitGroup
	wait.Go(func() {
		_, err := batch.Run(ctx, at, "two", squares(60), options())
		assert.ErrorIs(t, err, context.Canceled)
	})
	time.Sleep(100 * time.Millisecond)
	out, err := batch.Run(t.Context(), at, "two", squares(60), options())
	require.NoError(t, err)
	wait.Wait()
	requireSquares(t, 60, out)
	assert.LessOrEqual(t, out.Ledger.Started, 61, "%v", out.Ledger)
}

// Workers may start and stop during a batch. Tasks that were queued at a stopped worker run elsewhere.
func TestWorkersComeAndGo(t *testing.T) {
	at := startRedis(t)
	var stop func()
	var stopped sync.WaitGroup
	stopped.Go(func() {
		time.Sleep(200 * time.Millisecond)
		stop = startWorker(t, at, "a", after(200*time.Millisecond))
		time.Sleep(300 * time.Millisecond)
		startWorker(t, at, "b", after(50*time.Millisecond))
		stop()
	})
	on := map[string]int{}
	o := options()
	o.OnAction = func(a engine.Action) { on[a.Machine]++ }
	out, err := batch.Run(t.Context(), at, "come", squares(40), o)
	require.NoError(t, err)
	stopped.Wait()
	requireSquares(t, 40, out)
	assert.Positive(t, on["b"])
}

// hook makes a client fail after a number of commands, as if its process had died.
type hook struct {
	left *atomic.Int64
	die  context.CancelFunc
}

var errDead = errors.New("dead")

func (h hook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if h.left.Add(-1) < 0 {
			h.die()
			return errDead
		}
		return next(ctx, cmd)
	}
}

func (h hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if h.left.Add(-1) < 0 {
			h.die()
			return errDead
		}
		return next(ctx, cmds)
	}
}

type mortal struct {
	asynq.RedisClientOpt
	hook hook
}

func (m mortal) MakeRedisClient() any {
	rdb := m.RedisClientOpt.MakeRedisClient().(*redis.Client)
	rdb.AddHook(m.hook)
	return rdb
}

// Every task ends, and each result is taken once, if Run dies up to three times before any command to Redis and is called
// again. A slow worker makes sure that there are copies, cancellations and restarts.
func TestRunSurvivesCrashes(t *testing.T) {
	runs := 24
	if testing.Short() {
		runs = 6
	}
	at := startRedis(t)
	rdb := at.MakeRedisClient().(*redis.Client)
	defer rdb.Close()
	startWorker(t, at, "a", after(20*time.Millisecond))
	startWorker(t, at, "b", after(20*time.Millisecond))
	startWorker(t, at, "slow", after(300*time.Millisecond))
	needless := 0
	for seed := range runs {
		name := fmt.Sprint("crash-", seed)
		crashes := 0
		var out batch.Outcome
		for {
			ctx, die := context.WithCancel(t.Context())
			left := new(atomic.Int64)
			left.Store(1 << 40)
			if crashes < 3 {
				left.Store(int64(5 + (seed*37+crashes*53)%150))
			}
			var err error
			o := options()
			o.Kind = []string{"", "crashes"}[seed%2]
			out, err = batch.Run(ctx, mortal{at, hook{left, die}}, name, squares(40), o)
			die()
			if err == nil {
				break
			}
			require.ErrorIs(t, err, context.Canceled)
			crashes++
			require.NoError(t, rdb.Del(t.Context(), "straggler:{"+name+"}:lease").Err()) // saves the wait for its end
			if seed%4 == 3 {                                                             // the snapshot is lost, too
				require.NoError(t, rdb.Del(t.Context(), "straggler:{"+name+"}:state").Err())
			}
		}
		requireSquares(t, 40, out)
		needless += out.Ledger.Started - 40
	}
	t.Logf("%d runs, %d attempts beyond the first attempt of each task", runs, needless)
}
