package pool

import (
	"context"
	"iter"
)

// Result is the outcome of one item.
type Result[R any] struct {
	Value R     // the result of the function; the zero value if Err is not nil
	Err   error // the error of the item, nil if the item has a result
}

// Each calls f for each item, and yields the index and the result of an item as soon as the item has a result or an
// error. The order is the order in which items end. An error of one item does not end the others:
//
//	for i, r := range pool.Each(ctx, urls, fetch, pool.Goroutines(32), pool.Copies()) {
//		if r.Err != nil {
//			log.Print(urls[i], r.Err)
//			continue
//		}
//		use(r.Value)
//	}
//
// Each yields every item once, also with copies and restarts. Which error is the error of an item is described at
// [Map]. If ctx ends, each item without a result has an error: f is not called for the items that have not begun, and
// their error is the cause of ctx. If an option is out of range, each item has the error that says so.
//
// If the body of the loop leaves the loop, Each ends the contexts of all running calls, waits until these calls have
// returned, and starts no more. A slow loop slows down the calls: when as many results wait for the loop as there are
// goroutines, a goroutine begins no item before the loop has received a result. When the loop is over, every call of
// f has returned. Each makes one allocation for an item for which f is called once.
func Each[T, R any](
	ctx context.Context, items []T, f func(ctx context.Context, item T) (R, error), options ...Option,
) iter.Seq2[int, Result[R]] {
	return func(yield func(int, Result[R]) bool) {
		each(ctx, len(items), atIndex(items), f, options, yield)
	}
}

// EachSeq is like [Each], but its items come from a sequence, which may be endless. The index counts the items from 0,
// in the order of the sequence. EachSeq reads an item only if a goroutine is free to run the item. So the number of
// items that were read and not yet yielded is at most the number of goroutines.
//
// EachSeq reads the sequence from several goroutines, but never from two at the same time. If the body of the loop
// leaves the loop while the sequence computes its next item, EachSeq waits for this item. If ctx ends, or the sequence
// panics, EachSeq reads no further, and yields the error with the index of the item that would have been next. So a
// loop that receives no error has received all items of the sequence.
func EachSeq[T, R any](
	ctx context.Context, items iter.Seq[T], f func(ctx context.Context, item T) (R, error), options ...Option,
) iter.Seq2[int, Result[R]] {
	return func(yield func(int, Result[R]) bool) {
		next, stop := iter.Pull(items)
		defer stop()
		each(ctx, endless, func(int) (T, bool) { return next() }, f, options, yield)
	}
}

// indexed is an item's result on its way to the loop.
type indexed[R any] struct {
	index  int
	result Result[R]
}

func each[T, R any](
	ctx context.Context, items int, load func(i int) (T, bool), f func(context.Context, T) (R, error), options []Option,
	yield func(int, Result[R]) bool,
) {
	var results chan indexed[R]
	p, err := newPool(ctx, items, load, f, options, func(i int, r Result[R]) error {
		results <- indexed[R]{i, r}
		return nil
	})
	if err != nil {
		if items == endless {
			items = 1
		}
		for i := range items {
			if !yield(i, Result[R]{Err: err}) {
				break
			}
		}
		return
	}
	ahead := len(p.workers)
	if items == endless {
		ahead = 0 // no item is read while a finished item waits for the loop
	}
	results = make(chan indexed[R], ahead)
	go func() {
		defer close(results)
		_ = p.run() // each error is the error of an item
	}()
	defer func() { // this runs also if the body of the loop leaves the loop, or panics
		p.end(nil)
		for range results {
		}
	}()
	for r := range results {
		if !yield(r.index, r.result) {
			return
		}
	}
}
