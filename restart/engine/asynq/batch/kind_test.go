package batch_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/asynq/batch"
)

// If both tasks of a batch hang, only the experience of the kind shows that they take too long.
func TestExperienceOfTheKindFindsHungTasks(t *testing.T) {
	at := startRedis(t)
	rdb := at.MakeRedisClient().(*redis.Client)
	defer rdb.Close()
	var hang atomic.Int64 // how many of the next attempts hang
	for _, name := range []string{"a", "b"} {
		startWorker(t, at, name, func(ctx context.Context, task *asynq.Task) error {
			if hang.Add(-1) >= 0 {
				<-ctx.Done()
				return ctx.Err()
			}
			return square(context.WithoutCancel(ctx), task, 20*time.Millisecond)
		})
	}
	o := options()
	o.Kind = "squares"
	for _, name := range []string{"first", "second"} {
		_, err := batch.Run(t.Context(), at, name, squares(30), o)
		require.NoError(t, err)
	}
	left := rdb.PTTL(t.Context(), "straggler:{kind:squares}").Val()
	assert.Greater(t, left, 29*24*time.Hour)

	hang.Store(2)
	out, err := batch.Run(t.Context(), at, "few", squares(2), o)
	require.NoError(t, err)
	requireSquares(t, 2, out)

	hang.Store(2)
	o.Kind = ""
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err = batch.Run(ctx, at, "alone", squares(2), o)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	o.Kind = "squares"
	require.NoError(t, rdb.Set(t.Context(), "straggler:{kind:squares}", "garbage", 0).Err())
	out, err = batch.Run(t.Context(), at, "garbage", squares(30), o)
	require.NoError(t, err)
	requireSquares(t, 30, out)
}
