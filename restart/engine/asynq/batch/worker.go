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

// Worker describes a process that runs attempts of batches.
type Worker struct {
	// Redis is the connection to the Redis that Run uses. Redis is required.
	Redis asynq.RedisConnOpt
	// Name is the worker's name in decisions. Choose a name for each machine, because a machine is slow or dies as a
	// whole, and keep the name when the worker restarts. Empty means the host name of the operating system. A worker with
	// a line break in its name gets no tasks.
	Name string
	// Slots is how many attempts may run at once. 0 means 1.
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

// Config returns the configuration of the worker's asynq server: its slots, and a queue of its own. You may add queues
// and other settings. Tasks from other queues use the same slots.
func (w Worker) Config() asynq.Config {
	return asynq.Config{
		Concurrency: max(w.Slots, 1), Queues: map[string]int{queueOf(w.name()): 1}, TaskCheckInterval: 20 * time.Millisecond,
	}
}

// Middleware returns the middleware that reports the begin, progress and end of each attempt. Tasks from other queues are
// handled as without it.
func (w Worker) Middleware() asynq.MiddlewareFunc {
	rdb := w.Redis.MakeRedisClient().(redis.UniversalClient) // open until the process ends
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

// attempt is an attempt that this worker runs.
type attempt struct {
	keys
	rdb      redis.UniversalClient
	tool     *asynq.Inspector
	interval time.Duration

	mu     sync.Mutex
	report report    // the last report, which the next report starts from
	last   time.Time // when progress was reported last
	ended  bool      // the end was reported
	wrote  bool      // WriteResult was called
	output []byte
}

// attemptKey is the key of an attempt in its context.
type attemptKey struct{}

// run calls the handler, unless the attempt has begun before, and reports the begin and the end.
func (a *attempt) run(ctx context.Context, next asynq.Handler, t *asynq.Task) (err error) {
	switch first, err := a.begin(ctx, a.rdb, a.report.Attempt, a.report.Host); {
	case err != nil:
		return err
	case first == 0: // the attempt was cancelled, or a stopped worker has put it back into its queue
		return cmp.Or(a.end(engine.Lost, ""), asynq.RevokeTask)
	case first < 0: // the batch is forgotten
		return asynq.RevokeTask
	}
	a.report.State = engine.Running
	if a.report.Begun, err = a.sendAt(ctx, a.rdb, a.report); err != nil {
		return err
	}
	// asynq does not wait for a handler after the end of its context, and this package does not wait either.
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
	case ctx.Err() != nil: // the handler may have stopped halfway, whatever it returns
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

// misplaced reports whether the handler has written its result by asynq's ResultWriter, where the batch does not look.
func (a *attempt) misplaced(queue string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wrote {
		return false
	}
	info, err := a.tool.GetTaskInfo(queue, a.message(a.report.Attempt))
	return err == nil && len(info.Result) > 0
}

// stateOf returns the state of an attempt whose context has ended with err.
func stateOf(err error) engine.State {
	if errors.Is(err, context.Canceled) {
		return engine.Cancelled
	}
	return engine.Failed
}

// end reports the end of the attempt. Only the first call has an effect.
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

// WriteResult makes data the result of the task that a handler works on. The last call counts. In a batch the result is
// written together with the end of the attempt, so that Redis has both or neither. Outside of batches, WriteResult calls
// the task's ResultWriter and returns its error.
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

// Progress reports the share of its work that an attempt has done, from 0 to 1. ctx is the handler's context. Call
// Progress as often as you like: one report is sent in each Worker.Interval. Outside of batches, Progress does nothing.
func Progress(ctx context.Context, share float64) {
	a, ok := ctx.Value(attemptKey{}).(*attempt)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := time.Now(); !a.ended && now.Sub(a.last) >= a.interval {
		a.last, a.report.Share = now, share
		_ = a.send(ctx, a.rdb, a.report) // a lost report is made up for by the next report
	}
}

// Attempt returns the name of an attempt, such as "thumbnails/k3f9x2aq/17.2". ctx is the handler's context. No other
// attempt ever has this name, not even if the batch is run again. Outside of batches, the name is empty.
func Attempt(ctx context.Context) string {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a.message(a.report.Attempt)
	}
	return ""
}
