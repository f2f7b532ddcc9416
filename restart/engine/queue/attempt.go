package queue

import (
	"bytes"
	"context"
	"sync"
)

// attempt is an attempt that a worker runs, or whose end the worker has not yet reported. It is the context of the
// attempt's handler.
type attempt struct {
	context.Context
	name   string
	order  Order
	cancel context.CancelCauseFunc
	output []byte

	mu    sync.Mutex
	share float64
}

type attemptKey struct{}

func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

func (a *attempt) progress() Running {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Running{Name: a.name, Share: a.share}
}

// AttemptOf returns the attempt that a handler works on. ok is false if ctx is not the context of a handler.
func AttemptOf(ctx context.Context) (o Order, ok bool) {
	if a := attemptOf(ctx); a != nil {
		return a.order, true
	}
	return o, false
}

// Key returns the idempotency key of the job that a handler works on: all attempts of the job have the same key, and no
// other job of the store has it. If ctx is not the context of a handler, Key returns "".
func Key(ctx context.Context) string {
	o, _ := AttemptOf(ctx)
	return o.Job.ID
}

// Progress reports which share of its work a handler has done, from 0 to 1. A handler may call it as often as it likes,
// also at the same time on several goroutines. NaN counts as 0. If ctx is not the context of a handler, Progress does
// nothing.
func Progress(ctx context.Context, share float64) {
	if a := attemptOf(ctx); a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.share = 0; share > 0 {
			a.share = min(share, 1)
		}
	}
}

// SetOutput makes data the output of the attempt that a handler works on, for handlers that return no output. It counts
// if the handler then returns no error. If ctx is not the context of a handler, SetOutput does nothing.
func SetOutput(ctx context.Context, data []byte) {
	if a := attemptOf(ctx); a != nil {
		a.output = bytes.Clone(data)
	}
}
