package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart/engine"
)

// queueOf names the queue of a worker.
func queueOf(host string) string { return queuePrefix + host }

const queuePrefix = "straggler:"

// carryOut does what the phase wants. Whatever was done before changes nothing.
func (r *run) carryOut(ctx context.Context, a engine.Action) error {
	switch a.Op {
	case engine.Submit:
		options := append(slices.Clip(r.Enqueue), asynq.Queue(queueOf(a.Machine)), asynq.TaskID(r.message(a.ID)),
			asynq.MaxRetry(0), asynq.Retention(0))
		_, err := r.client.EnqueueContext(ctx, r.tasks[a.Task], options...)
		if errors.Is(err, asynq.ErrTaskIDConflict) {
			return r.inquire(ctx, a.ID, a.Machine) // asynq may have archived the message without calling the handler
		}
		return err
	case engine.Cancel:
		return r.cancel(ctx, a)
	default:
		return r.publish(ctx, a.Task, a.ID)
	}
}

// cancel ends an attempt. One that has not begun never will.
func (r *run) cancel(ctx context.Context, a engine.Action) error {
	switch first, err := r.begin(ctx, r.rdb, r.named(a.ID), ""); {
	case err != nil:
		return err
	case first < 1:
		return r.tool.CancelProcessing(r.message(a.ID))
	}
	if err := r.tell(ctx, r.rdb, told{Attempt: r.named(a.ID), Host: a.Machine, State: engine.Cancelled}); err != nil {
		return err
	}
	_ = r.tool.DeleteTask(queueOf(a.Machine), r.message(a.ID)) // a worker that finds it drops it
	return nil
}

// publishing makes the output of an attempt the result of its task, if the task has none. It returns 0 if the task has no
// result and the attempt no output.
var publishing = redis.NewScript(`
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
	local output = redis.call("HGET", KEYS[2], ARGV[2])
	if not output then return 0 end
	redis.call("HSET", KEYS[1], ARGV[1], ARGV[2] .. " " .. output)
	redis.call("EXPIRE", KEYS[1], ARGV[3])
end
redis.call("HDEL", KEYS[2], ARGV[2])
return 1`)

// publish makes the output of an attempt the result of its task, if the task has none. If Redis has no such output, then
// it has lost its last moments, and the batch goes on from what Redis has.
func (r *run) publish(ctx context.Context, task int, id string) error {
	published, err := publishing.Run(ctx, r.rdb, []string{r.results(), r.outputs()},
		strconv.Itoa(task), r.named(id), int(r.abandoned().Seconds())).Int()
	switch {
	case err != nil:
		return err
	case published == 1:
		r.phase.Published(id)
		return nil
	case r.missed[id]:
		return fmt.Errorf("batch %s: %w: Redis has no output of attempt %s, which has succeeded: does it evict keys?",
			string(r.keys), errForGood, id)
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	r.missed[id] = true
	r.Log.Warn("batch: Redis has lost its last moments, the batch goes on from what it has", "batch", string(r.keys),
		"attempt", id)
	return errBehind
}
