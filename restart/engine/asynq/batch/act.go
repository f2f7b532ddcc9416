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

// queueOf returns the name of the asynq queue that belongs to the worker with the name host.
func queueOf(host string) string { return queuePrefix + host }

const queuePrefix = "straggler:"

// carryOut submits an attempt, cancels an attempt or publishes a result, as the action says. If carryOut is called
// twice with the same action, the second call does no harm.
func (r *run) carryOut(ctx context.Context, a engine.Action) error {
	switch a.Op {
	case engine.Submit:
		options := append(slices.Clip(r.Enqueue), asynq.Queue(queueOf(a.Machine)), asynq.TaskID(r.message(a.ID)),
			asynq.MaxRetry(0), asynq.Retention(0))
		_, err := r.client.EnqueueContext(ctx, r.tasks[a.Task], options...)
		if errors.Is(err, asynq.ErrTaskIDConflict) {
			return r.findEnd(ctx, a.ID, a.Machine) // asynq may have archived the message without a call of its handler
		}
		return err
	case engine.Cancel:
		return r.cancel(ctx, a)
	default:
		return r.publish(ctx, a.Task, a.ID)
	}
}

// cancel ends an attempt. If the attempt has not begun, cancel makes sure that it never begins.
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
	// if this fails, the worker deletes the message when it gets it
	_ = r.tool.DeleteTask(queueOf(a.Machine), r.message(a.ID))
	return nil
}

// publishScript makes the output of an attempt the result of its task, unless the task already has a result. If the
// task has no result, and Redis has no output of the attempt, the script changes nothing and returns 0. Otherwise the
// script returns 1.
var publishScript = redis.NewScript(`
if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 0 then
	local output = redis.call("HGET", KEYS[2], ARGV[2])
	if not output then return 0 end
	redis.call("HSET", KEYS[1], ARGV[1], ARGV[2] .. " " .. output)
	redis.call("EXPIRE", KEYS[1], ARGV[3])
end
redis.call("HDEL", KEYS[2], ARGV[2])
return 1`)

// publish makes the output of an attempt the result of its task, unless the task already has a result. If the task
// has no result, and Redis has no output of the attempt, then Redis has lost its last writes. In this case publish
// returns errRedisLost, and Run continues the batch from the state in Redis. If this happens a second time for the
// attempt, publish returns an error that ends Run.
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
