package batch_test

import (
	"context"
	"os"
	"os/exec"
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

// TestMain lets the test binary run as a worker whose tasks never end.
func TestMain(m *testing.M) {
	socket := os.Getenv("BATCH_WORKER")
	if socket == "" {
		os.Exit(m.Run())
	}
	at := asynq.RedisClientOpt{Network: "unix", Addr: socket}
	w := batch.Worker{Redis: at, Name: "doomed", Slots: 4}
	c := w.Config()
	c.LogLevel = asynq.FatalLevel
	mux := asynq.NewServeMux()
	mux.Use(w.Middleware())
	mux.HandleFunc("square", func(ctx context.Context, _ *asynq.Task) error {
		<-ctx.Done()
		return ctx.Err()
	})
	if err := asynq.NewServer(at, c).Run(mux); err != nil {
		os.Exit(1)
	}
}

// The running and the waiting tasks of a killed worker run elsewhere, as soon as asynq has seen no heartbeat of the
// worker for some time. No policy is needed for this.
func TestTasksOfADeadWorkerRunElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("the heartbeat of a dead worker lasts for ten seconds")
	}
	at := startRedis(t)
	binary, err := os.Executable()
	require.NoError(t, err)
	worker := exec.Command(binary)
	worker.Env = append(os.Environ(), "BATCH_WORKER="+at.Addr)
	require.NoError(t, worker.Start())
	began := time.Now()
	time.AfterFunc(time.Second, func() { _ = worker.Process.Kill() })
	startWorker(t, at, "a", after(20*time.Millisecond))
	o := options()
	o.Policy = restart.Never{}
	elsewhere := 0
	o.OnAction = func(a engine.Action) {
		if a.Op == engine.Submit && a.Machine == "a" && a.ID[len(a.ID)-1] != '0' {
			elsewhere++
		}
	}
	tool := asynq.NewInspector(at)
	defer tool.Close()
	require.Eventually(t, func() bool { up, _ := tool.Servers(); return len(up) == 2 }, 5*time.Second, 10*time.Millisecond)
	out, err := batch.Run(t.Context(), at, "death", squares(40), o)
	require.NoError(t, err)
	_ = worker.Wait()
	requireSquares(t, 40, out)
	assert.Equal(t, 4, elsewhere)
	assert.Less(t, time.Since(began), 25*time.Second)
	rdb := at.MakeRedisClient().(*redis.Client)
	defer rdb.Close()
	left, err := rdb.Keys(t.Context(), "asynq:{straggler:*}:t:*").Result()
	require.NoError(t, err)
	assert.LessOrEqual(t, len(left), 4, "only the messages that were active on the dead worker are left: %v", left)
}
