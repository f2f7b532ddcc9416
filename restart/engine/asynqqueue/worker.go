package asynqqueue

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"github.com/straggler-go/straggler/restart/engine/queue"
)

// Worker is an asynq server that runs attempts.
type Worker struct {
	q     *Queue
	agent *queue.Agent
	slots int
}

// Worker returns a worker, which reports to Redis until ctx ends. End ctx when the server has stopped.
func (q *Queue) Worker(ctx context.Context, w queue.Worker) (*Worker, error) {
	a, err := queue.NewAgent(q, w)
	if err != nil {
		return nil, err
	}
	go a.Serve(ctx, nil)
	return &Worker{q, a, max(w.Slots, 1)}, nil
}

// fetchEvery is the time between two looks of an asynq server for attempts.
const fetchEvery = 20 * time.Millisecond

// Config returns the configuration for the asynq server of the worker. It sets the server's concurrency to the slots of
// the worker, and its queue to a queue for this worker alone. You may add other queues and settings. Tasks from other
// queues use the same slots.
func (w *Worker) Config() asynq.Config {
	return asynq.Config{
		Concurrency: w.slots, Queues: map[string]int{w.q.queueOf(w.agent.Name()): 1}, TaskCheckInterval: fetchEvery,
	}
}

// Middleware is an asynq middleware that reports the begin and the end of each attempt. For a task that is not an
// attempt of the queue, it only calls the next handler.
func (w *Worker) Middleware(next asynq.Handler) asynq.Handler {
	return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		id, _ := asynq.GetTaskID(ctx)
		attempt, ours := strings.CutPrefix(id, w.q.name+"/")
		if in, _ := asynq.GetQueueName(ctx); !ours || in != w.q.queueOf(w.agent.Name()) {
			return next.ProcessTask(ctx, t)
		}
		begin := func(ctx context.Context) (queue.Order, bool, error) { return w.q.Begin(ctx, w.agent.Name(), attempt) }
		err := w.agent.Run(ctx, attempt, begin, func(ctx context.Context) error { return next.ProcessTask(ctx, t) })
		if errors.Is(err, queue.ErrNotBegun) {
			return asynq.RevokeTask
		}
		return err
	})
}

// WriteResult makes data the result of the task that a handler works on. If a handler calls WriteResult several times,
// the last call gives the result. If the task is not an attempt of a queue, WriteResult calls the task's ResultWriter
// and returns its error.
func WriteResult(ctx context.Context, t *asynq.Task, data []byte) error {
	if _, ok := queue.AttemptOf(ctx); !ok {
		_, err := t.ResultWriter().Write(data)
		return err
	}
	queue.SetOutput(ctx, data)
	return nil
}
