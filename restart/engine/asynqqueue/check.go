package asynqqueue

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart/engine/queue"
)

// maxPayload is the largest size of a task's payload, in bytes. Redis accepts no larger value by default, as its
// setting proto-max-bulk-len says.
const maxPayload = 512 << 20

// check returns an error if asynq would refuse a task. To find out, check enqueues each task by a client
// that sends nothing to Redis.
func check(ctx context.Context, tasks []*asynq.Task, options []asynq.Option) error {
	rdb := redis.NewClient(&redis.Options{})
	defer rdb.Close()
	rdb.AddHook(offline{})
	client := asynq.NewClientFromRedisClient(rdb)
	for i, t := range tasks {
		if t != nil && len(t.Payload()) > maxPayload {
			return fmt.Errorf("asynqqueue: task %d has a payload of %d bytes, want at most %d", i, len(t.Payload()), maxPayload)
		}
		sent := false
		_, err := client.EnqueueContext(context.WithValue(ctx, offline{}, &sent), t, options...)
		if !sent && ctx.Err() == nil {
			return fmt.Errorf("asynqqueue: task %d: asynq refuses it: %w", i, err)
		}
	}
	return nil
}

// offline is a hook for a Redis client. With this hook the client sends nothing to Redis. The hook records in the
// context's *bool whether the client has tried to send a command.
type offline struct{}

var errOffline = errors.New("asynqqueue: nothing is sent")

func (offline) DialHook(redis.DialHook) redis.DialHook { return nil }

func (offline) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if sent, ok := ctx.Value(offline{}).(*bool); ok {
			*sent = true
		}
		cmd.SetErr(errOffline)
		return errOffline
	}
}

func (offline) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(context.Context, []redis.Cmder) error { return errOffline }
}

// fingerprint returns a text with the number of the jobs and a hash of their kinds and inputs. Equal texts mean that
// the jobs are the same.
func fingerprint(jobs []queue.Job) string {
	hash := sha256.New()
	var size [8]byte
	write := func(data []byte) {
		binary.LittleEndian.PutUint64(size[:], uint64(len(data)))
		hash.Write(size[:])
		hash.Write(data)
	}
	for _, j := range jobs {
		write([]byte(j.Kind))
		write(j.Input)
	}
	return fmt.Sprint(len(jobs), " ", hex.EncodeToString(hash.Sum(nil)[:16]))
}
