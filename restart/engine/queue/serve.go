package queue

import (
	"context"
	"errors"
	"time"
)

// Serve coordinates the jobs of a store until ctx ends, and returns the cause of ctx. Several processes may call Serve
// for a store. One process works; if it dies, another process takes over. If a field of the options is out of range,
// Serve returns an error at once.
func Serve(ctx context.Context, store Store, o Options) error {
	return ServeUntil(ctx, store, o, func(context.Context) (bool, error) { return false, nil })
}

// ServeUntil is like Serve. It also calls done after each turn, also while another process is the coordinator. When
// done returns true, ServeUntil returns the error of done. Stores use it to run a batch.
func ServeUntil(ctx context.Context, store Store, o Options, done func(context.Context) (bool, error)) error {
	c, err := NewCoordinator(store, o)
	if err != nil {
		return err
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastCalls)
		defer cancel()
		if err := c.Close(last, time.Now()); err != nil && !errors.Is(err, ErrFenced) {
			c.o.Log.Warn("queue: the coordinator can't save its state", "error", err)
		}
	}()
	patience := callTimeout
	for {
		call, cancel := context.WithTimeout(ctx, patience)
		began := time.Now()
		err := c.Turn(call, began)
		var over bool
		if err == nil || errors.Is(err, ErrHeld) {
			over, err = done(call)
		}
		cancel()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if over {
			return err
		}
		// The first commit of a very large batch may take long.
		if patience = callTimeout; errors.Is(err, context.DeadlineExceeded) {
			patience = 2 * time.Since(began)
		}
		wait := max(c.o.Look-time.Since(began), c.o.Look/leastRest)
		if err != nil {
			wait = max(wait, c.o.Interval)
			if !errors.Is(err, ErrFenced) {
				c.o.Log.Warn("queue: tried again", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// leastRest is the part of Options.Look for which the coordinator rests after a turn, also if turns take long.
const leastRest = 5
