package hedged

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"
)

// Do runs f, and a second time beside the first if the rule of the route wants it. It returns the first answer: the
// first result without an error. The context of each run ends when Do returns. If ctx ends first, Do returns
// context.Cause(ctx) at once. If ctx has ended before, f does not run. Where the rule refuses a second run from the
// start, f runs on the goroutine of the caller, and Do waits for it. A run on another goroutine that calls runtime.Goexit
// has failed.
func Do[T any](ctx context.Context, r *Route, q hedge.Request, f func(ctx context.Context) (T, error)) (T, error) {
	value, end, err := Call[T]{Request: q, Run: f}.Race(ctx, r)
	end()
	return value, err
}

// Call is a function that may run twice. Most callers use [Do]; an adapter for a protocol needs a Call.
type Call[T any] struct {
	Request hedge.Request
	// Run is the function. It must be safe for concurrent use.
	Run func(ctx context.Context) (T, error)
	// Failed reports whether a result without an error is a failure all the same, such as an HTTP status 503; nil:
	// none is. Race returns such a result only if no run has an answer.
	Failed func(T) bool
	// Discard is called for each result without an error that Race does not return, such as to close the body of an
	// HTTP response; nil: nothing is to be done.
	Discard func(T)
}

// PanicError is the value with which Do panics if the function has panicked on another goroutine.
type PanicError struct {
	Value any    // the value of the panic
	Stack []byte // the stack of the goroutine that has panicked, as debug.Stack prints it
}

// Error returns the value of the panic and the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("hedged: panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap returns the value of the panic if it is an error, and otherwise nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// result is how a run has ended.
type result[T any] struct {
	attempt  hedge.Attempt
	value    T
	err      error
	answered bool
	panicked *PanicError
}

// race is a call with its runs.
type race[T any] struct {
	call    Call[T]
	route   *Route
	id      hedge.ID
	results chan result[T]
	cancels [2]context.CancelFunc
	lock    sync.Mutex
	// True if the caller has left: nobody reads results any more.
	left bool
}

// Race runs the call and returns the first answer, as Do does. The context of the run that it returns does not end
// before end is called, so that the value may be read from it. The caller must call end, also after an error.
func (c Call[T]) Race(ctx context.Context, r *Route) (value T, end context.CancelFunc, err error) {
	if ctx.Err() != nil {
		return value, func() {}, context.Cause(ctx)
	}
	if deadline, ok := ctx.Deadline(); ok && c.Request.Timeout == 0 {
		c.Request.Timeout = max(time.Until(deadline), 1)
	}
	// The runs of this call are not the run around it.
	if _, within := Second(ctx); within || ctx.Value(choice{}) != nil {
		ctx = context.WithValue(context.WithValue(ctx, second{}, nil), choice{}, nil)
	}
	id, d := r.Start(c.Request)
	if d.Action != hedge.Wait {
		return c.alone(ctx, r, id)
	}
	x := &race[T]{call: c, route: r, id: id, results: make(chan result[T], 2)}
	chosen := new(atomic.Pointer[string])
	x.start(context.WithValue(ctx, choice{}, chosen), hedge.First)
	timer := time.NewTimer(d.After)
	defer timer.Stop()
	for running := 1; ; {
		select {
		case <-timer.C:
			switch d = r.Late(id); d.Action {
			case hedge.Wait:
				timer.Reset(d.After)
			case hedge.Send:
				running++
				if machine := chosen.Load(); machine != nil {
					d.Avoid = *machine
				}
				x.start(context.WithValue(ctx, second{}, d.Avoid), hedge.Second)
			}
		case got := <-x.results:
			running--
			if running == 0 || got.answered || got.panicked != nil {
				return x.finish(got)
			}
			x.discard(got)
		case <-ctx.Done():
			x.leave()
			x.cancel(hedge.First)
			x.cancel(hedge.Second)
			return value, func() {}, context.Cause(ctx)
		}
	}
}

// alone runs the call once, on the goroutine of the caller.
func (c *Call[T]) alone(ctx context.Context, r *Route, id hedge.ID) (value T, end context.CancelFunc, err error) {
	ctx, end = context.WithCancel(ctx)
	outcome, returned := hedge.Failed, false
	defer func() {
		if !returned { // a function of the call has panicked, or has ended the goroutine by runtime.Goexit
			end()
		}
		r.Done(id, hedge.First, outcome)
	}()
	value, err = c.Run(ctx)
	outcome = c.outcome(ctx, value, err)
	returned = true
	return value, end, err
}

// outcome says how a run has ended.
func (c *Call[T]) outcome(ctx context.Context, value T, err error) hedge.Outcome {
	switch {
	case err == nil && (c.Failed == nil || !c.Failed(value)):
		return hedge.Answered
	case ctx.Err() != nil:
		return hedge.Cancelled
	}
	return hedge.Failed
}

// errGoexit is the error of a run that has called runtime.Goexit.
var errGoexit = errors.New("hedged: a run has called runtime.Goexit")

// start starts a run on a goroutine.
func (x *race[T]) start(ctx context.Context, attempt hedge.Attempt) {
	ctx, x.cancels[attempt] = context.WithCancel(ctx)
	go func() {
		got, outcome := result[T]{attempt: attempt, err: errGoexit}, hedge.Failed
		defer func() {
			if value := recover(); value != nil {
				got.panicked = &PanicError{Value: value, Stack: debug.Stack()}
			}
			x.ended(got, outcome)
		}()
		value, err := x.call.Run(ctx)
		outcome = x.call.outcome(ctx, value, err)
		got.value, got.err = value, err
	}()
}

// ended tells the rule how a run has ended, and the caller, if the caller still waits.
func (x *race[T]) ended(got result[T], outcome hedge.Outcome) {
	got.answered = outcome == hedge.Answered
	x.route.Done(x.id, got.attempt, outcome)
	x.lock.Lock()
	defer x.lock.Unlock()
	if x.left {
		x.cancels[got.attempt]()
		x.discard(got)
		return
	}
	x.results <- got
}

// discard drops a result that is not returned.
func (x *race[T]) discard(got result[T]) {
	if got.err == nil && got.panicked == nil && x.call.Discard != nil {
		x.call.Discard(got.value)
	}
}

// leave records that the caller reads no more results, and drops the results that have come.
func (x *race[T]) leave() {
	x.lock.Lock()
	defer x.lock.Unlock()
	x.left = true
	for len(x.results) > 0 {
		x.discard(<-x.results)
	}
}

// cancel ends the context of a run, if there is one.
func (x *race[T]) cancel(attempt hedge.Attempt) {
	if cancel := x.cancels[attempt]; cancel != nil {
		cancel()
	}
}

// finish returns a result, and cancels the other run.
func (x *race[T]) finish(got result[T]) (T, context.CancelFunc, error) {
	x.leave()
	x.cancel(1 - got.attempt)
	if got.panicked != nil {
		x.cancel(got.attempt)
		panic(got.panicked)
	}
	return got.value, x.cancels[got.attempt], got.err
}
