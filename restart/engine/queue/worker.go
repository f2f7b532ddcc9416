package queue

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
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
	// Grace is how long Run waits for its attempts when its context has ended, before it ends their contexts. Meanwhile
	// the worker begins no attempts, and those that run are not begun elsewhere. 0 means that Run ends them at once.
	Grace time.Duration
	// Log receives a message for each error of the store, after which the worker tries again. Nil means slog.Default().
	Log *slog.Logger
}

// Run runs attempts until ctx ends. handlers has a handler for each kind of job; an attempt of another kind fails. Run
// returns the cause of ctx when all handlers have returned.
func (w Worker) Run(ctx context.Context, source Source, handlers map[string]Handler) error {
	a, err := NewAgent(source, w)
	if err != nil {
		return err
	}
	attempts, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	context.AfterFunc(ctx, func() {
		select {
		case <-attempts.Done():
		case <-time.After(w.Grace):
			stop(context.Cause(ctx))
		}
	})
	var handling sync.WaitGroup
	a.Serve(ctx, func(o Order) {
		r, ok := a.add(attempts, o.Name)
		if !ok {
			return
		}
		r.order = o
		handling.Go(func() {
			defer a.remove(r)
			_, _ = a.handle(r, func(ctx context.Context) (err error) {
				handle := handlers[o.Job.Kind]
				if handle == nil {
					return fmt.Errorf("queue: the worker has no handler for the kind %q", o.Job.Kind)
				}
				r.output, err = handle(ctx, o.Job.Input)
				return err
			})
		})
	})
	handling.Wait()
	return context.Cause(ctx)
}
