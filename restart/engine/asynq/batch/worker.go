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

// Worker describes a process that works on batches.
type Worker struct {
	Redis asynq.RedisConnOpt
	// Name is what is slow or lost as a whole, and keeps its name when it is started again. Empty: the host's name. One
	// with a line break gets nothing.
	Name string
	// Slots is how many attempts run at once. 0 means 1.
	Slots int
	// Interval is how often an attempt tells how far it is, at most. 0 means a second.
	Interval time.Duration
}

func (w Worker) name() string {
	if w.Name != "" {
		return w.Name
	}
	name, _ := os.Hostname()
	return name
}

// Config returns the configuration of the worker's server: slots, and a queue of its own. Add queues of yours, and what
// else you like; what else the server works on takes slots of the batches' though.
func (w Worker) Config() asynq.Config {
	return asynq.Config{
		Concurrency: max(w.Slots, 1), Queues: map[string]int{queueOf(w.name()): 1}, TaskCheckInterval: 20 * time.Millisecond,
	}
}

// Middleware has the attempts of batches tell of themselves. Tasks from other queues pass.
func (w Worker) Middleware() asynq.MiddlewareFunc {
	rdb := w.Redis.MakeRedisClient().(redis.UniversalClient) // for as long as the process lives
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
			a := &attempt{keys: k, rdb: rdb, tool: tool, interval: interval, told: told{Attempt: id, Host: name}}
			return a.run(ctx, next, t)
		})
	}
}

// attempt is one that runs here.
type attempt struct {
	keys
	rdb      redis.UniversalClient
	tool     *asynq.Inspector
	interval time.Duration

	mu     sync.Mutex
	told   told
	last   time.Time // when it told of its progress
	ended  bool
	wrote  bool
	output []byte
}

type ofContext struct{}

// run lets the handler work, once in the attempt's life, and tells of it.
func (a *attempt) run(ctx context.Context, next asynq.Handler, t *asynq.Task) (err error) {
	switch first, err := a.begin(ctx, a.rdb, a.told.Attempt, a.told.Host); {
	case err != nil:
		return err
	case first == 0: // it was told to end, or is back in the queue of a worker that was stopped
		return cmp.Or(a.end(engine.Lost, ""), asynq.RevokeTask)
	case first < 0: // nobody waits for it
		return asynq.RevokeTask
	}
	a.told.State = engine.Running
	if a.told.Begun, err = a.tellAt(ctx, a.rdb, a.told); err != nil {
		return err
	}
	// asynq does not wait for a handler whose context has ended, and neither do we.
	defer context.AfterFunc(ctx, func() { a.end(stateOf(ctx.Err()), ctx.Err().Error()) })()
	done := false
	defer func() {
		if !done {
			a.end(engine.Failed, "the handler panicked")
		}
	}()
	err = next.ProcessTask(context.WithValue(ctx, ofContext{}, a), t)
	done = true
	switch {
	case ctx.Err() != nil: // whatever it returns, it may have been told to stop halfway
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

// misplaced reports whether the handler has written its result where the batch does not look.
func (a *attempt) misplaced(queue string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wrote {
		return false
	}
	info, err := a.tool.GetTaskInfo(queue, a.message(a.told.Attempt))
	return err == nil && len(info.Result) > 0
}

func stateOf(err error) engine.State {
	if errors.Is(err, context.Canceled) {
		return engine.Cancelled
	}
	return engine.Failed
}

// end tells how the attempt has ended, once.
func (a *attempt) end(state engine.State, text string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil
	}
	a.ended = true
	a.told.State, a.told.Error, a.told.Share = state, text, 0
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if state == engine.Succeeded {
		return a.succeed(ctx, a.rdb, a.told, a.output)
	}
	return a.tell(ctx, a.rdb, a.told)
}

// WriteResult makes data the result of the task that a handler works on; the last call counts. In a batch it is kept
// together with the end of the attempt, so that none is there without the other; elsewhere the task's ResultWriter writes
// it.
func WriteResult(ctx context.Context, t *asynq.Task, data []byte) error {
	a, ok := ctx.Value(ofContext{}).(*attempt)
	if !ok {
		_, err := t.ResultWriter().Write(data)
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrote, a.output = true, bytes.Clone(data)
	return nil
}

// Progress says how much of its work the attempt in whose context it is called has done: a share from 0 to 1. Call it
// as often as you like; it is passed on once an interval. Elsewhere it does nothing.
func Progress(ctx context.Context, share float64) {
	a, ok := ctx.Value(ofContext{}).(*attempt)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := time.Now(); !a.ended && now.Sub(a.last) >= a.interval {
		a.last, a.told.Share = now, share
		_ = a.tell(ctx, a.rdb, a.told) // the next one is as good
	}
}

// Attempt names the attempt in whose context it is called, as in "thumbnails/k3f9x2aq/17.2": no other has that name,
// of any task, and if the batch is run again.
// It is empty elsewhere.
func Attempt(ctx context.Context) string {
	if a, ok := ctx.Value(ofContext{}).(*attempt); ok {
		return a.message(a.told.Attempt)
	}
	return ""
}
