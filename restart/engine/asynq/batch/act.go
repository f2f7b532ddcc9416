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
		options := append(slices.Clip(r.Enqueue), asynq.Queue(queueOf(a.Host)), asynq.TaskID(r.message(a.ID)),
			asynq.MaxRetry(0), asynq.Retention(r.Retention))
		_, err := r.client.EnqueueContext(ctx, r.tasks[a.Task], options...)
		if errors.Is(err, asynq.ErrTaskIDConflict) {
			return nil
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
	if err := r.tell(ctx, r.rdb, told{Attempt: r.named(a.ID), Host: a.Host, State: engine.Cancelled}); err != nil {
		return err
	}
	_ = r.tool.DeleteTask(queueOf(a.Host), r.message(a.ID)) // a worker that finds it drops it
	return nil
}

// publish makes the result of an attempt that of its task, if the task has none.
func (r *run) publish(ctx context.Context, task int, id string) error {
	if has, err := r.rdb.HExists(ctx, r.results(), strconv.Itoa(task)).Result(); has || err != nil {
		if err == nil {
			r.phase.Published(id)
		}
		return err
	}
	host, err := r.rdb.HGet(ctx, r.begun(), r.named(id)).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	info, err := r.tool.GetTaskInfo(queueOf(host), r.message(id))
	if errors.Is(err, asynq.ErrTaskNotFound) || errors.Is(err, asynq.ErrQueueNotFound) {
		if err := r.open(ctx); err != nil {
			return err
		}
		return fmt.Errorf("batch %s: %w: Redis has no result of attempt %s: is Retention too short, or has it lost that?",
			string(r.keys), errForGood, id)
	} else if err != nil {
		return err
	}
	_, err = r.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSetNX(ctx, r.results(), strconv.Itoa(task), r.named(id)+" "+string(info.Result))
		p.Expire(ctx, r.results(), r.abandoned())
		return nil
	})
	if err != nil {
		return err
	}
	r.phase.Published(id)
	return nil
}
