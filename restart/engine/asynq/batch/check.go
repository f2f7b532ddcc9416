package batch

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// maxPayload is the largest value that Redis takes, in bytes (proto-max-bulk-len of its configuration, unless it was
// changed).
const maxPayload = 512 << 20

// check returns an error if asynq would refuse a task, whatever Redis says. It tries each on a client that sends nothing.
func check(ctx context.Context, tasks []*asynq.Task, options []asynq.Option) error {
	rdb := redis.NewClient(&redis.Options{})
	defer rdb.Close()
	rdb.AddHook(nowhere{})
	client := asynq.NewClientFromRedisClient(rdb)
	for i, t := range tasks {
		if t != nil && len(t.Payload()) > maxPayload {
			return fmt.Errorf("batch: task %d has a payload of %d bytes, want at most %d", i, len(t.Payload()), maxPayload)
		}
		sent := false
		_, err := client.EnqueueContext(context.WithValue(ctx, nowhere{}, &sent), t, options...)
		if !sent && ctx.Err() == nil {
			return fmt.Errorf("batch: task %d: asynq refuses it: %w", i, err)
		}
	}
	return nil
}

// nowhere is a hook of a client that sends nothing. It notes that something was to be sent.
type nowhere struct{}

var errNowhere = errors.New("batch: nothing is sent")

func (nowhere) DialHook(redis.DialHook) redis.DialHook { return nil }

func (nowhere) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if sent, ok := ctx.Value(nowhere{}).(*bool); ok {
			*sent = true
		}
		cmd.SetErr(errNowhere)
		return errNowhere
	}
}

func (nowhere) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(context.Context, []redis.Cmder) error { return errNowhere }
}

// sameTasks returns a text that is the same for the same tasks: their number, and a hash of their types and payloads.
func sameTasks(tasks []*asynq.Task) string {
	hash := sha256.New()
	var size [8]byte
	write := func(data []byte) {
		binary.LittleEndian.PutUint64(size[:], uint64(len(data)))
		hash.Write(size[:])
		hash.Write(data)
	}
	for _, t := range tasks {
		write([]byte(t.Type()))
		write(t.Payload())
	}
	return fmt.Sprint(len(tasks), " ", hex.EncodeToString(hash.Sum(nil)[:16]))
}

// patience is for how long Run waits for a first worker before it says so.
const patience = 10 * time.Second

// noWorker returns that there is no worker yet, and says so once if that lasts.
func (r *run) noWorker() error {
	switch now := time.Now(); {
	case r.waits.IsZero():
		r.waits = now
	case now.Sub(r.waits) >= patience && !r.warned:
		r.warned = true
		r.Log.Warn("batch: no worker is there", "batch", string(r.keys), "waits", patience, "want",
			"a server of asynq with Worker.Config and Worker.Middleware on the same Redis")
	}
	return errWait
}
