package batch_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/asynq/batch"
)

// faulty is a Redis in which a single call fails: the call with the number at, counted from 1.
type faulty struct {
	asynq.RedisClientOpt
	kind  string
	at    int64
	calls *atomic.Int64
}

var errFault = errors.New("redis command error: this call went wrong")

func (f faulty) MakeRedisClient() any {
	rdb := f.RedisClientOpt.MakeRedisClient().(*redis.Client)
	rdb.AddHook(f)
	return rdb
}

// call makes a call to Redis. If it is the call with the number at, it fails in the way that the field kind says.
func (f faulty) call(ctx context.Context, do func() error, fail func(error)) error {
	if f.calls.Add(1) != f.at {
		return do()
	}
	switch f.kind {
	case "refused":
		fail(errFault)
		return errFault
	case "answer lost":
		_ = do()
		fail(errFault)
		return errFault
	default: // the call takes long, and succeeds
		select {
		case <-ctx.Done():
		case <-time.After(500 * time.Millisecond):
		}
		return do()
	}
}

func (f faulty) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f faulty) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return f.call(ctx, func() error { return next(ctx, cmd) }, cmd.SetErr)
	}
}

func (f faulty) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return f.call(ctx, func() error { return next(ctx, cmds) }, func(err error) {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
		})
	}
}

// Every task gets its result, and Run returns soon, whichever call to Redis fails. In each run of the test, another
// call of Run or of a worker fails: Redis refuses it, or its answer is lost, or it is delayed by half a second.
func TestOneFaultyCallDoesNoHarm(t *testing.T) {
	step := int64(1)
	if testing.Short() {
		step = 7
	}
	for _, side := range []string{"run", "worker"} {
		for _, kind := range []string{"refused", "answer lost", "slow"} {
			t.Run(side+"/"+kind, func(t *testing.T) {
				t.Parallel()
				at, n := startRedis(t), int64(0)
				var plain asynq.RedisConnOpt = at
				broken := faulty{at, kind, 0, new(atomic.Int64)}
				broken.at = -1
				stop := func() {}
				for k := int64(1); ; k += step {
					broken.at, broken.calls = k, new(atomic.Int64)
					forRun, forWorker := plain, plain
					if side == "run" {
						forRun = broken
					} else {
						forWorker = broken
					}
					if side == "worker" || k == 1 {
						stop()
						stop = startBroken(t, at, forWorker)
					}
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
					began := time.Now()
					out, err := batch.Run(ctx, forRun, fmt.Sprint("fault-", k), squares(6), options())
					cancel()
					require.NoError(t, err, "call %d", k)
					requireSquares(t, 6, out)
					require.Less(t, time.Since(began), 15*time.Second, "call %d", k)
					if n = broken.calls.Load(); n < k {
						break
					}
				}
				t.Logf("a run makes %d calls", n)
			})
		}
	}
}

// startBroken starts a worker with a broken Redis for the middleware, and a sound Redis for asynq's own server.
func startBroken(t *testing.T, at asynq.RedisConnOpt, broken asynq.RedisConnOpt) (stop func()) {
	t.Helper()
	w := batch.Worker{Redis: broken, Name: "a", Slots: 4, Interval: interval}
	c := w.Config()
	c.LogLevel, c.ShutdownTimeout = asynq.FatalLevel, 50*time.Millisecond
	mux := asynq.NewServeMux()
	mux.Use(w.Middleware())
	mux.Handle("square", after(interval))
	server := asynq.NewServer(at, c)
	require.NoError(t, server.Start(mux))
	tool := asynq.NewInspector(at)
	defer tool.Close()
	require.Eventually(t, func() bool { up, _ := tool.Servers(); return len(up) == 1 }, 10*time.Second, 5*time.Millisecond)
	return server.Shutdown
}
