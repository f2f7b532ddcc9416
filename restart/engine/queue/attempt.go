package queue

import (
	"context"
	"sync"
)

// WithAttempt returns a context for the handler of an attempt, from which [AttemptOf], [Key] and [Progress] read.
// report is called by Progress. It is for stores whose library has workers of its own.
func WithAttempt(ctx context.Context, o Order, report func(share float64)) context.Context {
	return context.WithValue(ctx, attemptKey{}, attempt{o, report})
}

type attemptKey struct{}

type attempt struct {
	Order
	report func(share float64)
}

// AttemptOf returns the attempt that a handler works on. ok is false if ctx is not the context of a handler.
func AttemptOf(ctx context.Context) (o Order, ok bool) {
	a, ok := ctx.Value(attemptKey{}).(attempt)
	return a.Order, ok
}

// Key returns the idempotency key of the job that a handler works on: all attempts of the job have the same key, and no
// other job of the store has it. If ctx is not the context of a handler, Key returns "".
func Key(ctx context.Context) string {
	o, _ := AttemptOf(ctx)
	return o.Job.ID
}

// Progress reports which share of its work a handler has done, from 0 to 1. A handler may call it as often as it likes.
// If ctx is not the context of a handler, Progress does nothing.
func Progress(ctx context.Context, share float64) {
	if a, ok := ctx.Value(attemptKey{}).(attempt); ok && a.report != nil {
		a.report(share)
	}
}

// running is an attempt that a worker runs, or whose end the worker has not yet reported.
type running struct {
	Order
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	share float64
}

func (r *running) report(share float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.share = share
}

func (r *running) progress() Running {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Running{Name: r.Name, Share: r.share}
}
