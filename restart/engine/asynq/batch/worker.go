package batch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart/engine"
)

// Worker describes one asynq server that runs tasks of batches.
type Worker struct {
	// Redis is the connection to the same Redis that Run uses. This field is required.
	Redis asynq.RedisConnOpt
	// Name is the name of the worker. Choose one name for each machine, because a slow machine makes all its tasks
	// slow. Keep the name when the worker restarts. "" means the host name of the operating system. A worker whose
	// name contains a line break gets no tasks.
	Name string
	// Slots is how many attempts the worker may run at the same time. 0 means 1.
	Slots int
	// Interval is the least time between two progress reports of an attempt. 0 means a second.
	Interval time.Duration
}

func (w Worker) name() string {
	if w.Name != "" {
		return w.Name
	}
	name, _ := os.Hostname()
	return name
}

// Config returns the configuration for the asynq server of the worker. It sets the server's concurrency to Slots, and
// its queue to a queue for this worker alone. You may add other queues and settings. Tasks from other queues use the
// same slots.
func (w Worker) Config() asynq.Config {
	return asynq.Config{
		Concurrency: max(w.Slots, 1), Queues: map[string]int{queueOf(w.name()): 1}, TaskCheckInterval: 20 * time.Millisecond,
	}
}

// Middleware returns an asynq middleware that reports the begin, the progress and the end of each attempt to Run. For
// a task from a queue that is not the worker's, the middleware only calls the next handler.
func (w Worker) Middleware() asynq.MiddlewareFunc {
	rdb := w.Redis.MakeRedisClient().(redis.UniversalClient) // the connection stays open until the process ends
	tool := asynq.NewInspectorFromRedisClient(rdb)
	name, interval := w.name(), cmp.Or(w.Interval, time.Second)
	return func(next asynq.Handler) asynq.Handler {
		return asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
			queue, _ := asynq.GetQueueName(ctx)
			if !strings.HasPrefix(queue, queuePrefix) {
				return next.ProcessTask(ctx, t)
			}
			message, _ := asynq.GetTaskID(ctx)
			k, id := split(message)
			a := &attempt{keys: k, rdb: rdb, tool: tool, interval: interval, report: report{Attempt: id, Host: name}}
			return a.run(ctx, next, t)
		})
	}
}

// attempt is the state of an attempt that this worker runs.
type attempt struct {
	keys
	rdb      redis.UniversalClient
	tool     *asynq.Inspector
	interval time.Duration

	mu     sync.Mutex
	report report    // the last report; the next report is this report with some fields changed
	last   time.Time // when the last progress report was sent
	ended  bool      // the end was reported
	wrote  bool      // WriteResult was called
	output []byte
}

// attemptKey is the key under which the context of a handler contains its *attempt.
type attemptKey struct{}

// run reports the begin of the attempt, calls the handler next, and reports the end of the attempt. If the attempt
// has begun before or was cancelled, or if Redis does not have the batch any more, run does not call the handler.
func (a *attempt) run(ctx context.Context, next asynq.Handler, t *asynq.Task) (err error) {
	switch first, err := a.begin(ctx, a.rdb, a.report.Attempt, a.report.Host); {
	case err != nil:
		return err
	case first == 0: // the attempt was cancelled, or it began on a worker that stopped and put it back into the queue
		return cmp.Or(a.end(engine.Lost, ""), asynq.RevokeTask)
	case first < 0: // Redis does not have the batch any more
		return asynq.RevokeTask
	}
	a.report.State = engine.Running
	if a.report.Begun, err = a.sendAt(ctx, a.rdb, a.report); err != nil {
		return err
	}
	// If the handler's context ends, asynq does not wait until the handler returns. So the end of the attempt is
	// reported when the context ends.
	defer context.AfterFunc(ctx, func() { a.end(stateOf(ctx.Err()), ctx.Err().Error()) })()
	done := false
	defer func() {
		if !done {
			a.end(engine.Failed, "the handler panicked")
		}
	}()
	err = next.ProcessTask(context.WithValue(ctx, attemptKey{}, a), t)
	done = true
	switch {
	case ctx.Err() != nil: // the handler may have stopped halfway, even if it returns no error
		a.end(stateOf(ctx.Err()), ctx.Err().Error())
		return cmp.Or(err, ctx.Err())
	case err != nil:
		a.end(engine.Failed, err.Error())
		return err
	}
	if queue, _ := asynq.GetQueueName(ctx); a.misplaced(queue) {
		a.end(engine.Failed, errMisplaced.Error())
		return errMisplaced
	}
	return a.end(engine.Succeeded, "")
}

var errMisplaced = errors.New("the handler wrote its result by asynq's ResultWriter, where a batch does not look: " +
	"use batch.WriteResult")

// misplaced reports whether the handler has written its result by asynq's ResultWriter and not by WriteResult. Run
// does not read such a result.
func (a *attempt) misplaced(queue string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wrote {
		return false
	}
	info, err := a.tool.GetTaskInfo(queue, a.message(a.report.Attempt))
	return err == nil && len(info.Result) > 0
}

// stateOf returns the state of an attempt whose context has ended with the error err. The state is Cancelled if the
// context was cancelled, and Failed if its deadline has passed.
func stateOf(err error) engine.State {
	if errors.Is(err, context.Canceled) {
		return engine.Cancelled
	}
	return engine.Failed
}

// end reports to Run that the attempt has ended, in the given state. text is the error's text, or "". Only the first
// call of end for an attempt has an effect.
func (a *attempt) end(state engine.State, text string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil
	}
	a.ended = true
	a.report.State, a.report.Error, a.report.Share = state, text, 0
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if state == engine.Succeeded {
		return a.succeed(ctx, a.rdb, a.report, a.output)
	}
	return a.send(ctx, a.rdb, a.report)
}

// WriteResult makes data the result of the task that a handler works on. If a handler calls WriteResult several
// times, the last call gives the result. The result is written to Redis when the handler has returned, together with
// the report of the end, so that Redis has both or neither. If the task is not part of a batch, WriteResult calls the
// task's ResultWriter and returns its error.
func WriteResult(ctx context.Context, t *asynq.Task, data []byte) error {
	a, ok := ctx.Value(attemptKey{}).(*attempt)
	if !ok {
		_, err := t.ResultWriter().Write(data)
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrote, a.output = true, bytes.Clone(data)
	return nil
}

// Progress reports which share of its work a handler has done, from 0 to 1. ctx is the handler's context. A handler
// may call Progress as often as it likes: at most one report is sent in each Worker.Interval. If the task is not part
// of a batch, Progress does nothing.
func Progress(ctx context.Context, share float64) {
	a, ok := ctx.Value(attemptKey{}).(*attempt)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := time.Now(); !a.ended && now.Sub(a.last) >= a.interval {
		a.last, a.report.Share = now, share
		_ = a.send(ctx, a.rdb, a.report) // if a report is lost, the next report replaces it
	}
}

// Attempt returns the name of the attempt that a handler works on, such as "thumbnails/k3f9x2aq/17.2". ctx is the
// handler's context. No other attempt ever has this name, not even if the batch is run again. If the task is not part
// of a batch, Attempt returns "".
func Attempt(ctx context.Context) string {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a.message(a.report.Attempt)
	}
	return ""
}
