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

// queueOf returns the name of a worker's queue.
func queueOf(host string) string { return queuePrefix + host }

const queuePrefix = "straggler:"

// carryOut carries out an action of the phase. To carry out an action twice does no harm.
func (r *run) carryOut(ctx context.Context, a engine.Action) error {
	switch a.Op {
	case engine.Submit:
		options := append(slices.Clip(r.Enqueue), asynq.Queue(queueOf(a.Machine)), asynq.TaskID(r.message(a.ID)),
			asynq.MaxRetry(0), asynq.Retention(0))
		_, err := r.client.EnqueueContext(ctx, r.tasks[a.Task], options...)
		if errors.Is(err, asynq.ErrTaskIDConflict) {
			return r.findEnd(ctx, a.ID, a.Machine) // asynq may have archived the message without a call of the handler
		}
		return err
	case engine.Cancel:
		return r.cancel(ctx, a)
	default:
		return r.publish(ctx, a.Task, a.ID)
	}
}

// cancel ends an attempt. An attempt that has not begun never begins.
func (r *run) cancel(ctx context.Context, a engine.Action) error {
	switch first, err := r.begin(ctx, r.rdb, r.named(a.ID), ""); {
	case err != nil:
		return err
	case first < 1:
		return r.tool.CancelProcessing(r.message(a.ID))
	}
	if err := r.send(ctx, r.rdb, report{Attempt: r.named(a.ID), Host: a.Machine, State: engine.Cancelled}); err != nil {
		return err
	}
	_ = r.tool.DeleteTask(queueOf(a.Machine), r.message(a.ID)) // if this fails, the worker drops the message
	return nil
}

// publishScript makes the output of an attempt the result of its task, unless the task has a result. publishScript
// returns 0 if the task has no result and the attempt has no output, and 1 otherwise.
var publishScript = redis.NewScript(`
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
	local output = redis.call("HGET", KEYS[2], ARGV[2])
	if not output then return 0 end
	redis.call("HSET", KEYS[1], ARGV[1], ARGV[2] .. " " .. output)
	redis.call("EXPIRE", KEYS[1], ARGV[3])
end
redis.call("HDEL", KEYS[2], ARGV[2])
return 1`)

// publish makes the output of an attempt the result of its task, unless the task has a result. If Redis has no such
// output, Redis has lost its last writes. Then publish returns errRedisLost, and the batch goes on from the state in
// Redis.
func (r *run) publish(ctx context.Context, task int, id string) error {
	published, err := publishScript.Run(ctx, r.rdb, []string{r.results(), r.outputs()},
		strconv.Itoa(task), r.named(id), int(r.keptFor().Seconds())).Int()
	switch {
	case err != nil:
		return err
	case published == 1:
		r.phase.Published(id)
		return nil
	case r.missingOutput[id]:
		return fmt.Errorf("batch %s: %w: Redis has no output of attempt %s, which has succeeded: does it evict keys?",
			string(r.keys), errFatal, id)
	}
	if err := r.open(ctx); err != nil {
		return err
	}
	r.missingOutput[id] = true
	r.Log.Warn("batch: Redis has lost its last writes, the batch goes on from the state in Redis", "batch", string(r.keys),
		"attempt", id)
	return errRedisLost
}
