package pool

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
)

// caller is the interface by which the pool uses the type work. The interface has no type parameters: the pool knows
// an item only by its index, and a worker only by its number.
type caller interface {
	// next loads the item with an index for a worker. It returns the work of the item, and false if there is no such
	// item.
	next(ctx context.Context, worker, i int) (size float64, ok bool, err error)
	item(worker int) any           // the worker's item
	setItem(worker int, value any) // makes a value the worker's item
	call(ctx context.Context, worker int) error
	hand(worker, item int, err error) error // hands over the result of the worker's last call, or an error
}

// work contains the function, the items and the results with their types T and R.
type work[T, R any] struct {
	load   func(i int) (T, bool)
	size   func(T) float64 // nil if all items have the same work
	f      func(context.Context, T) (R, error)
	keep   func(i int, r Result[R]) error
	items  []T // by worker: the item that the worker runs
	values []R // by worker: the result of the worker's last call of f
}

func atIndex[T any](items []T) func(int) (T, bool) {
	return func(i int) (T, bool) { return items[i], true }
}

func (w *work[T, R]) next(ctx context.Context, worker, i int) (size float64, ok bool, err error) {
	defer catch(&err)
	size, ok = 1, true
	if ctx.Err() != nil {
		return size, ok, context.Cause(ctx)
	}
	w.items[worker], ok = w.load(i)
	if ok && w.size != nil {
		work := w.size(w.items[worker])
		if !(work > 0) || math.IsInf(work, 1) {
			return size, ok, fmt.Errorf("pool: Work of item %d is %v, want a positive, finite number", i, work)
		}
		size = work
	}
	return size, ok, nil
}

func (w *work[T, R]) item(worker int) any { return w.items[worker] }

func (w *work[T, R]) setItem(worker int, value any) { w.items[worker], _ = value.(T) }

func (w *work[T, R]) call(ctx context.Context, worker int) (err error) {
	defer catch(&err)
	w.values[worker], err = w.f(ctx, w.items[worker])
	return err
}

func (w *work[T, R]) hand(worker, item int, err error) error {
	if err != nil {
		return w.keep(item, Result[R]{Err: err})
	}
	return w.keep(item, Result[R]{Value: w.values[worker]})
}

// PanicError is the error of an item for which the function has panicked. errors.As finds it in the error of [Map] and
// in [Result].Err. The panic does not end the process.
type PanicError struct {
	Value any    // the value of the panic
	Stack []byte // the stack of the goroutine that has panicked, as debug.Stack prints it
}

// Error returns the value and the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("pool: panic: %v\n\n%s", e.Value, e.Stack) }

// Unwrap returns the value of the panic if the value is an error, and otherwise nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// catch turns a panic into an error. It must be called by defer.
func catch(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{v, debug.Stack()}
	}
}

// Attempt says which attempt of which item a context belongs to. The zero value is the first attempt of the first item.
type Attempt struct {
	// Item is the index of the item. All attempts of the item have the same index. If the items have the same order in
	// each run of the program, Item may be a part of an idempotency key.
	Item int
	// Number is 0 for the first attempt of the item, 1 for the second attempt, and so on.
	Number int
}

// AttemptOf returns the attempt that a context belongs to. ok is false if ctx is not the context of a call of the
// function by [Map], [Each] or [EachSeq], and is not made from such a context.
func AttemptOf(ctx context.Context) (a Attempt, ok bool) {
	a, ok = ctx.Value(attemptKey{}).(Attempt)
	return a, ok
}

type attemptKey struct{}

// attemptContext is the context of an attempt. It costs one allocation, where context.WithValue costs two.
type attemptContext struct {
	context.Context
	attempt Attempt
}

func (c *attemptContext) Value(key any) any {
	if key == (attemptKey{}) {
		return c.attempt
	}
	return c.Context.Value(key)
}
