package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// Handler does the work of an attempt. It returns the output of the job, or an error, and then the job is tried again.
// When the context ends, the attempt is no longer needed, and the handler should return soon.
type Handler func(ctx context.Context, input []byte) (output []byte, err error)

// Worker runs attempts from the queue of a store.
type Worker struct {
	// Name is the name of the worker. Choose one name for each machine, because a slow machine makes all its attempts
	// slow. Two workers must not have the same name at the same time. Keep the name when the worker restarts. "" means
	// the host name of the operating system.
	Name string
	// Slots is how many attempts the worker may run at once. 0 means 1.
	Slots int
	// Interval is the time between two messages to the store. A message has the progress of all attempts, and brings new
	// attempts. 0 means 100 ms.
	Interval time.Duration
	// Grace is how long Run waits for its attempts when its context has ended, before it ends their contexts. 0 means
	// that it ends them at once.
	Grace time.Duration
	// Log receives a message for each error of the store, after which the worker tries again. Nil means slog.Default().
	Log *slog.Logger
}

// ErrCancelled is the cause of the end of a handler's context if the coordinator has ended the attempt.
var ErrCancelled = errors.New("queue: the attempt is no longer needed")

const (
	defaultBeat = 100 * time.Millisecond
	callTimeout = 30 * time.Second // of a call to the store
	lastCalls   = 5 * time.Second  // for which a worker that stops tries to report its ends
)

// worker is the state of one call of Worker.Run.
type worker struct {
	Worker
	source   Source
	handlers map[string]Handler
	wake     chan struct{} // an attempt has ended
	handling sync.WaitGroup

	mu      sync.Mutex
	running map[string]*running
}

// Run runs attempts until ctx ends. handlers has a handler for each kind of job; an attempt of another kind fails.
func (w Worker) Run(ctx context.Context, source Source, handlers map[string]Handler) error {
	host, _ := os.Hostname()
	w.Name, w.Slots = cmp.Or(w.Name, host), cmp.Or(w.Slots, 1)
	w.Interval, w.Log = cmp.Or(w.Interval, defaultBeat), cmp.Or(w.Log, slog.Default())
	switch {
	case w.Name == "":
		return errors.New("queue: Worker.Name is empty, and so is the name of the host, want a name")
	case w.Slots < 0:
		return fmt.Errorf("queue: Worker.Slots is %d, want 1 or more", w.Slots)
	case w.Interval < 0:
		return fmt.Errorf("queue: Worker.Interval is %v, want a positive duration, or 0 for 100ms", w.Interval)
	}
	r := &worker{Worker: w, source: source, handlers: handlers, wake: make(chan struct{}, 1), running: map[string]*running{}}
	attempts, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return r.leave(ctx, stop)
		case <-r.wake:
		case <-timer.C:
		}
		if err := r.beat(ctx, attempts, false); err != nil && ctx.Err() == nil {
			w.Log.Warn("queue: the worker can't reach the store, and tries again", "worker", w.Name, "error", err)
		}
		timer.Reset(w.Interval)
	}
}

// leave waits for the attempts, and tells the store that the worker leaves.
func (w *worker) leave(ctx context.Context, stop context.CancelCauseFunc) error {
	last := context.WithoutCancel(ctx)
	_ = w.beat(last, last, true)
	timer := time.AfterFunc(w.Grace, func() { stop(context.Cause(ctx)) })
	defer timer.Stop()
	w.handling.Wait()
	_ = w.beat(last, last, true) // without this the store finds out by itself
	return context.Cause(ctx)
}

// beat sends one message to the store, and carries out the orders.
func (w *worker) beat(ctx, attempts context.Context, leaving bool) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	b := Beat{Worker: w.Name, Slots: w.Slots, Leaving: leaving}
	w.mu.Lock()
	for _, r := range w.running {
		b.Running = append(b.Running, r.progress())
	}
	w.mu.Unlock()
	if b.Free = w.Slots - len(b.Running); leaving {
		b.Free = 0
	}
	orders, err := w.source.Beat(ctx, b)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range orders.Cancel {
		if r := w.running[name]; r != nil {
			r.cancel(ErrCancelled)
		}
	}
	for _, o := range orders.Begin {
		if w.running[o.Name] != nil {
			continue
		}
		r := &running{Order: o}
		handling, cancel := context.WithCancelCause(attempts)
		r.cancel = cancel
		w.running[o.Name] = r
		w.handling.Go(func() { w.run(WithAttempt(handling, o, r.report), r) })
	}
	return nil
}

// run calls the handler of an attempt, and reports the end.
func (w *worker) run(ctx context.Context, r *running) {
	defer r.cancel(nil)
	e := End{Name: r.Name, State: engine.Succeeded}
	output, err := w.handle(ctx, r)
	switch {
	case err == nil:
		e.Output = output
	case errors.Is(context.Cause(ctx), ErrCancelled):
		e.State, e.Error = engine.Cancelled, err.Error()
	default:
		e.State, e.Error = engine.Failed, err.Error()
	}
	w.end(ctx, e)
	w.mu.Lock()
	delete(w.running, r.Name)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// handle calls the handler. A panic is an error with its stack.
func (w *worker) handle(ctx context.Context, r *running) (output []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("queue: panic: %v\n\n%s", v, debug.Stack())
		}
	}()
	h := w.handlers[r.Job.Kind]
	if h == nil {
		return nil, fmt.Errorf("queue: the worker has no handler for the kind %q", r.Job.Kind)
	}
	return h(ctx, r.Job.Input)
}

// end reports the end of an attempt, again and again until the store has it. A worker that stops gives up after a
// while: then the attempt is lost, and another worker runs the job.
func (w *worker) end(ctx context.Context, e End) {
	stopped := time.Time{}
	for {
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		err := w.source.End(call, e)
		cancel()
		if err == nil {
			return
		}
		w.Log.Warn("queue: the end of an attempt can't be reported, and is reported again", "attempt", e.Name, "error", err)
		if ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrCancelled) {
			if stopped.IsZero() {
				stopped = time.Now()
			}
			if time.Since(stopped) > lastCalls {
				return
			}
		}
		time.Sleep(w.Interval)
	}
}
