package asynqplugin

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart/engine"
)

// ErrOver is the cause of the end of an attempt's context if another attempt has ended the task, or if a copy is not wanted any
// more.
var ErrOver = errors.New("asynqplugin: another attempt has ended this task")

// ErrHangs is the cause of the end of an attempt's context if the attempt has run for far longer than its kind takes. Asynq sees
// it as the attempt's error.
var ErrHangs = errors.New("asynqplugin: the attempt hangs")

// about is what the others know about an attempt.
type about struct {
	Queue   string  `json:"queue"`
	Task    string  `json:"task"`         // the ID of the task; for a copy that of the original
	Of      string  `json:"of,omitempty"` // for a copy, the name of the attempt that it runs beside
	Kind    string  `json:"kind"`
	Server  string  `json:"server"`
	Retried int     `json:"retried,omitempty"`
	Passed  int     `json:"passed,omitempty"` // for a copy, how often a server has passed it on
	Shadow  bool    `json:"shadow,omitempty"` // the server is in the shadow mode: nobody copies or ends the attempt
	Work    float64 `json:"work,omitempty"`
}

// Middleware returns the handler with the plugin around it. It is an asynq.MiddlewareFunc.
func (p *Plugin) Middleware(next asynq.Handler) asynq.Handler {
	return asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
		kind, named := p.options.of(task.Type())
		switch text, is := task.Headers()[header]; {
		case is:
			p.copy(ctx, task, text, next)
			return nil // so the row of the copy leaves no trace
		case named:
			return p.original(ctx, task, kind, next)
		}
		return next.ProcessTask(ctx, task)
	})
}

// keep is how long Redis knows an attempt.
const keep = 24 * time.Hour

// wonFor is how long Redis knows a copy that has won whose original was lost with its server.
const wonFor = time.Hour

// original runs an attempt of a task in a named kind.
func (p *Plugin) original(ctx context.Context, task *asynq.Task, kind Kind, next asynq.Handler) error {
	a, name := about{Kind: task.Type(), Server: p.name, Work: -1, Shadow: p.options.Shadow}, rand.Text()
	a.Queue, _ = asynq.GetQueueName(ctx)
	a.Task, _ = asynq.GetTaskID(ctx)
	a.Retried, _ = asynq.GetRetryCount(ctx)
	if kind.Work != nil {
		if w := kind.Work(task.Payload()); w > 0 && w <= math.MaxFloat64 {
			a.Work = w
		}
	}
	text, _ := json.Marshal(a)                                                        // never fails: Work is finite
	result, won, _ := p.ask(ctx, begin, a, name, text, keep.Milliseconds(), a.Shadow) // if it fails, the attempt gets no help
	if won {
		return p.adopt(ctx, a, task, result)
	}
	o := p.run(ctx, name, task, next)
	if result, won = p.persist(ctx, end, a, name, o.state.String()); won {
		return p.adopt(ctx, a, task, result)
	}
	return o.end()
}

// outcome is how a handler has ended.
type outcome struct {
	end   func() error // returns its error, or panics or calls runtime.Goexit as the handler did
	state engine.State
}

// run runs the handler, on a goroutine of its own. It returns as soon as the context ends: a handler that ignores its
// context must not keep asynq from going on. As with asynq's own timeout, such a handler runs on.
func (p *Plugin) run(ctx context.Context, name string, task *asynq.Task, next asynq.Handler) outcome {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p.running.Store(name, cancel)
	defer p.running.Delete(name)
	done := make(chan outcome, 1)
	go func() {
		o := outcome{state: engine.Failed}
		o.end = func() error {
			runtime.Goexit()
			return nil
		}
		defer func() {
			if x := recover(); x != nil {
				o.end = func() error { panic(x) }
			}
			done <- o
		}()
		err := next.ProcessTask(ctx, task)
		if o.end = func() error { return err }; err == nil {
			o.state = engine.Succeeded
		}
	}()
	select {
	case o := <-done:
		return o
	case <-ctx.Done():
		return outcome{func() error { return context.Cause(ctx) }, engine.Failed}
	}
}

// persist asks until Redis answers: until then nobody knows who ends the task. It gives up when asynq does not wait for the
// attempt any more: when ctx has ended, or after asynq's lease of 30 s.
func (p *Plugin) persist(ctx context.Context, s *redis.Script, a about, args ...any) (result string, yes bool) {
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(time.Second / 4) {
		result, yes, err := p.ask(context.WithoutCancel(ctx), s, a, args...)
		if err == nil || ctx.Err() != nil || time.Now().After(until) {
			return result, yes
		}
	}
}

// adopt ends a task with the result of its copy. After an error, the task's next attempt adopts it. If ctx has ended, asynq has ended
// the attempt before.
func (p *Plugin) adopt(ctx context.Context, a about, task *asynq.Task, result string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, err := task.ResultWriter().Write([]byte(result)); err != nil {
		return fmt.Errorf("asynqplugin: the result of the copy: %w", err)
	}
	return p.redis.Del(context.WithoutCancel(ctx), taskKey(a.Queue, a.Task)).Err()
}

// header is the key of the mark of a copy in the headers of its task.
const header = "straggler-copy"

// mark is what the header of a copy says.
type mark struct {
	about
	Copy     string        `json:"copy"` // the name of the copy
	Avoid    []string      `json:"avoid"`
	Timeout  time.Duration `json:"timeout"`  // of the task; 0: it has none
	Deadline time.Time     `json:"deadline"` // of the task, or a day after the copy was made
}

// row returns the task ID of the copy of a name.
func (a *about) row(name string) string { return fmt.Sprintf("%s:copy:%s:%d", a.Task, name, a.Passed) }

// copyTries is asynq's number of retries of a copy. A copy that has begun ends at once when asynq tries it again. So asynq archives
// a copy only if it has ended the copy itself, or has lost its server, four times.
const copyTries = 3

// bounce is how long a server waits that passes a copy on for the second time. Each time it waits longer, up to half a second.
const bounce = 50 * time.Millisecond

// enqueue puts a copy at the head of a queue. Asynq does not get the deadline of the copy: after a deadline, asynq fails all tries
// of a task without a call of its handler, and archives the task.
func (p *Plugin) enqueue(ctx context.Context, payload []byte, headers map[string]string, m mark) error {
	text, _ := json.Marshal(m) // a copy with an empty mark never begins
	with := map[string]string{}
	maps.Copy(with, headers)
	with[header] = string(text)
	if _, err := p.client.EnqueueContext(ctx, asynq.NewTaskWithHeaders(m.Kind, payload, with), asynq.Queue(m.Queue),
		asynq.TaskID(m.row(m.Copy)), asynq.MaxRetry(copyTries), asynq.Timeout(cmp.Or(m.Timeout, keep))); err != nil {
		return err
	}
	return first.Run(ctx, p.redis, []string{asynqKey(m.Queue, "pending")}, m.row(m.Copy)).Err()
}

// copy runs a copy. A copy can only win: its error, its panic and its end by asynq are nobody's.
func (p *Plugin) copy(ctx context.Context, task *asynq.Task, header string, next asynq.Handler) {
	var m mark
	if json.Unmarshal([]byte(header), &m) != nil {
		return
	}
	a, state := m.about, engine.Running
	a.Server = p.name
	if p.options.Shadow || slices.Contains(append(m.Avoid, m.Server), p.name) {
		time.Sleep(min(bounce*time.Duration(m.Passed), time.Second/2)) // asynq's shortest timeout is 1 s
		a.Server, state = "", engine.Queued
		a.Passed++
	}
	text, _ := json.Marshal(a)
	if _, wanted, err := p.ask(ctx, admit, a, m.Of, m.Copy, text, state.String()); err != nil || !wanted {
		return
	}
	if state == engine.Queued {
		m.Passed++
		if err := p.enqueue(ctx, task.Payload(), task.Headers(), m); err != nil {
			p.options.Log.Warn("asynqplugin: a copy is lost", "task", m.Task, "error", err)
		}
		return
	}
	limited, cancel := context.WithDeadline(ctx, m.Deadline)
	defer cancel()
	o := p.run(limited, m.Copy, task, next)
	row, err := p.inspector.GetTaskInfo(m.Queue, m.row(m.Copy))
	if err != nil {
		row, o.state = new(asynq.TaskInfo), engine.Failed // without its result it can't win
	}
	if _, won := p.persist(ctx, win, a, m.Of, m.Copy, o.state.String(), row.Result, wonFor.Milliseconds()); won {
		p.options.Log.Info("asynqplugin: a copy was faster", "task", m.Task, "server", p.name)
	}
}
