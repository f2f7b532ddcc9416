package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// Agent reports the attempts of a worker to a [Source]. It is for stores whose library has workers of its own and calls
// handlers by itself. An Agent is safe for concurrent use.
type Agent struct {
	w      Worker
	source Source
	wake   chan struct{} // an attempt has ended

	// calls is held from the moment at which the list of running attempts is made until the store has it. So an attempt
	// that begins meanwhile is not taken for lost.
	calls sync.Mutex

	mu      sync.Mutex
	running map[string]*attempt
}

// ErrCancelled is the cause of the end of a handler's context if the coordinator has ended the attempt.
var ErrCancelled = errors.New("queue: the coordinator has ended the attempt")

// ErrNotBegun is the error of [Agent.Run] if the attempt must not begin, because it was cancelled or has begun before.
var ErrNotBegun = errors.New("queue: the attempt was cancelled, or has begun before")

const (
	defaultBeat = 100 * time.Millisecond
	callTimeout = 30 * time.Second // of a call to the store
	lastCalls   = 5 * time.Second  // for which a worker that stops tries to report its ends
)

// NewAgent returns the agent of a worker. If a field of the worker is out of range, it returns an error that states the
// field.
func NewAgent(source Source, w Worker) (*Agent, error) {
	host, _ := os.Hostname()
	w.Name, w.Slots = cmp.Or(w.Name, host), cmp.Or(w.Slots, 1)
	w.Interval, w.Log = cmp.Or(w.Interval, defaultBeat), cmp.Or(w.Log, slog.Default())
	switch {
	case w.Name == "":
		return nil, errors.New("queue: Worker.Name is empty, and so is the name of the host, want a name")
	case !isName(w.Name):
		return nil, fmt.Errorf("queue: Worker.Name is %q, want UTF-8 without NUL", w.Name)
	case w.Slots < 0 || w.Slots > mostSlots:
		return nil, fmt.Errorf("queue: Worker.Slots is %d, want 1 to %d, or 0 for 1", w.Slots, mostSlots)
	case w.Interval < 0:
		return nil, fmt.Errorf("queue: Worker.Interval is %v, want a positive duration, or 0 for 100ms", w.Interval)
	}
	return &Agent{w: w, source: source, wake: make(chan struct{}, 1), running: map[string]*attempt{}}, nil
}

// Name returns the name of the worker.
func (a *Agent) Name() string { return a.w.Name }

// Serve reports to the store, in each Worker.Interval and after each attempt, until ctx ends and the attempts of the
// worker have ended. Then it tells the store that the worker leaves. begin is called with each attempt that the store
// wants to begin; nil if the library's own workers begin attempts.
func (a *Agent) Serve(ctx context.Context, begin func(Order)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			a.leave(context.WithoutCancel(ctx))
			return
		case <-a.wake:
		case <-timer.C:
		}
		if err := a.beat(ctx, begin, false); err != nil && ctx.Err() == nil {
			a.w.Log.Warn("queue: the worker can't reach the store, and tries again", "worker", a.w.Name, "error", err)
		}
		timer.Reset(a.w.Interval)
	}
}

// leave reports to the store until the attempts of the worker have ended, so that the worker does not count as lost,
// and then tells the store that the worker leaves. Meanwhile the worker has no free slots.
func (a *Agent) leave(ctx context.Context) {
	for busy := true; busy; {
		a.mu.Lock()
		a.w.Slots = len(a.running)
		a.mu.Unlock()
		busy = a.w.Slots > 0
		last, cancel := context.WithTimeout(ctx, lastCalls)
		_ = a.beat(last, nil, !busy) // without it the store finds out by itself
		cancel()
		if busy {
			select {
			case <-a.wake:
			case <-time.After(a.w.Interval):
			}
		}
	}
}

// beat sends one message to the store, and carries out the orders.
func (a *Agent) beat(ctx context.Context, begin func(Order), leaving bool) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	a.calls.Lock()
	defer a.calls.Unlock()
	b := Beat{Worker: a.w.Name, Slots: a.w.Slots, Leaving: leaving}
	a.mu.Lock()
	for _, r := range a.running {
		b.Running = append(b.Running, r.progress())
	}
	a.mu.Unlock()
	if begin != nil {
		b.Free = a.w.Slots - len(b.Running)
	}
	orders, err := a.source.Beat(ctx, b)
	if err != nil {
		return err
	}
	for _, name := range orders.Cancel {
		a.mu.Lock()
		r := a.running[name]
		a.mu.Unlock()
		if r != nil {
			r.cancel(ErrCancelled)
		}
	}
	for _, o := range orders.Begin {
		begin(o)
	}
	return nil
}

// add adds an attempt to the attempts that run. The attempt's context ends with ctx, or when the coordinator ends the
// attempt. If the attempt runs already, ok is false.
func (a *Agent) add(ctx context.Context, name string) (r *attempt, ok bool) {
	r = &attempt{name: name}
	ctx, r.cancel = context.WithCancelCause(ctx)
	r.Context = context.WithValue(ctx, attemptKey{}, r)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running[name] != nil {
		return nil, false
	}
	a.running[name] = r
	return r, true
}

// remove removes an attempt, and lets Serve ask for another one.
func (a *Agent) remove(r *attempt) {
	r.cancel(nil)
	a.mu.Lock()
	delete(a.running, r.name)
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Run begins an attempt by calling begin, calls handle, and reports the end of the attempt. begin returns false if the
// attempt must not begin; Run then returns [ErrNotBegun]. Otherwise Run returns the error of handle, or the error of
// begin. If handle panics, Run reports that the attempt has failed, and panics as well.
func (a *Agent) Run(
	ctx context.Context, name string, begin func(context.Context) (Order, bool, error), handle func(context.Context) error,
) error {
	r, ok := a.add(ctx, name)
	if !ok {
		return ErrNotBegun
	}
	defer a.remove(r)
	a.calls.Lock()
	o, ok, err := begin(ctx)
	a.calls.Unlock()
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotBegun
	}
	r.order = o
	panicked, err := a.handle(r, handle)
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// handle calls the handler of an attempt, and reports the end.
func (a *Agent) handle(r *attempt, handle func(context.Context) error) (panicked any, err error) {
	err = errGoexit
	defer func() { a.end(r, err) }()
	panicked, err = r.call(handle)
	return panicked, err
}

var errGoexit = errors.New("queue: the handler has called runtime.Goexit")

// call calls the handler of an attempt. A panic is an error with its stack.
func (r *attempt) call(handle func(context.Context) error) (panicked any, err error) {
	defer func() {
		if v := recover(); v != nil {
			panicked, err = v, fmt.Errorf("queue: panic: %v\n\n%s", v, debug.Stack())
		}
	}()
	return nil, handle(r)
}

// end reports the end of an attempt, again and again until the store has it. A worker that stops gives up after a
// while: then the attempt is lost, and another worker runs the job.
func (a *Agent) end(r *attempt, err error) {
	e := End{Name: r.name, State: engine.Succeeded}
	switch {
	case err == nil:
		e.Output = r.output
	case errors.Is(context.Cause(r), ErrCancelled):
		e.State, e.Error = engine.Cancelled, asText(err)
	default:
		e.State, e.Error = engine.Failed, asText(err)
	}
	stopped := time.Time{}
	for {
		call, cancel := context.WithTimeout(context.WithoutCancel(r), callTimeout)
		err := a.source.End(call, e)
		cancel()
		if err == nil {
			return
		}
		a.w.Log.Warn("queue: the end of an attempt can't be reported, and is reported again", "attempt", e.Name, "error", err)
		if r.Err() != nil && !errors.Is(context.Cause(r), ErrCancelled) {
			if stopped.IsZero() {
				stopped = time.Now()
			}
			if time.Since(stopped) > lastCalls {
				return
			}
		}
		time.Sleep(a.w.Interval)
	}
}

// asText returns the text of an error as every store can keep it: as UTF-8 without NUL.
func asText(err error) string {
	return strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", "\uFFFD"), "\uFFFD")
}
