package pool

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// Map calls f for each item and returns the results in the order of the items. If a call fails, Map returns the first
// error and no results.
//
// An attempt's error does not count while another attempt of the same item runs. If ctx ends before the last result,
// Map returns the cause of ctx, whatever f returns. If ctx has ended before Map is called, Map never calls f. When Map
// returns, every call of f has returned. Map does not recover a panic of f, so the panic ends the process, as in any
// goroutine.
//
// Map takes O(items) memory for the results, and O(goroutines) time for each check of the running attempts. An item that
// is run once costs no allocation.
func Map[T, R any](
	ctx context.Context, items []T, f func(ctx context.Context, item T) (R, error), options ...Option,
) ([]R, error) {
	c, err := configure(options)
	if err != nil {
		return nil, err
	}
	c.goroutines = max(1, min(c.goroutines, len(items)))
	w := &work[T, R]{items: items, f: f, results: make([]R, len(items)), held: make([]R, c.goroutines)}
	if err := run(ctx, c, len(items), w); err != nil {
		return nil, err
	}
	return w.results, nil
}

// work is the function, its items and its results, with their types. The pool itself knows only their indexes.
type work[T, R any] struct {
	items   []T
	f       func(ctx context.Context, item T) (R, error)
	results []R // by item
	held    []R // by worker: the result of the worker's last call
}

func (w *work[T, R]) call(ctx context.Context, worker, item int) (err error) {
	w.held[worker], err = w.f(ctx, w.items[item])
	return err
}

func (w *work[T, R]) keep(worker, item int) { w.results[item] = w.held[worker] }

// caller is a work without its types.
type caller interface {
	call(ctx context.Context, worker, item int) error // calls the function, and holds its result
	keep(worker, item int)                            // makes the worker's held result the item's result
}

// pool is a call of Map that has not returned. Most attempts use none of the fields that mu guards.
type pool struct {
	config
	work    caller
	parent  context.Context
	ctx     context.Context
	stop    context.CancelCauseFunc
	items   int
	workers []*worker
	next    atomic.Int64  // the first item without an attempt
	left    atomic.Int64  // items without a result
	urgent  atomic.Bool   // a worker must look at queue and proposed before next, or Map is over
	over    chan struct{} // closed when Map is over

	mu       sync.Mutex
	wake     sync.Cond
	idle     int              // workers that wait for an item
	queue    []int            // items to run again, because an attempt was ended
	proposed []proposal       // copies that the policy wants as soon as a worker is idle
	tracked  map[int]*tracked // by item
	err      error
	done     bool
	account  Ledger
	// ignoresEnd says that an attempt ran on for long after its context had ended. Then a restart gains nothing.
	ignoresEnd     bool
	trials         restart.Trials // of the copies and restarts that were started
	proposedTrials restart.Trials // of the copies in proposed
	watched
}

// worker is a goroutine and the attempt that it runs.
type worker struct {
	index int

	mu        sync.Mutex // after pool.mu, if both
	ctx       context.Context
	cancel    context.CancelCauseFunc
	item      int // none: the worker is idle
	begun     time.Time
	tracked   bool      // the item is in pool.tracked
	dropped   time.Time // when the attempt was told to end, because of a restart or of another's result; zero before
	slowCheck int       // the number of the last check that wanted a copy or a restart of this attempt

	samples     [mostSamples]sample // a ring of the last attempts here
	sampleCount int                 // how many attempts have been put into the ring
	ends        int                 // attempts that ended by themselves
	sum         time.Duration       // the summed time of these attempts
	longest     time.Duration       // the longest time of such an attempt

	age time.Duration // of the running attempt, at the last check; pool.mu guards it
}

const (
	none        = -1 // no item, or no position in a list
	mostSamples = 32 // times that a worker keeps
)

// sample is how long an attempt took. If ended is false, the attempt was told to end at that age.
type sample struct {
	took  time.Duration
	ended bool
}

// attempt is one run of an item.
type attempt struct {
	by    *worker
	begun time.Time
}

// tracked is an item that has had, or will have, more than one attempt.
type tracked struct {
	attempts []attempt // not told to end, the oldest first
	queued   bool      // the item stands in pool.queue
	first    bool      // the item's first attempt is in attempts
	restarts int       // restarts so far
	copies   int       // copies so far
	newest   time.Time // when a copy was started, or an attempt was told to end, last
	runAgain bool      // the item will be queued when the attempt that was told to end has returned
	over     bool      // the item has a result
	trial    restart.Trial
}

var errGoexit = errors.New("pool: the function has called runtime.Goexit")

// run runs a work's items and returns the first error.

func run(ctx context.Context, c config, items int, w caller) error {
	if items == 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p := &pool{config: c, work: w, parent: ctx, items: items, over: make(chan struct{}), tracked: map[int]*tracked{}}
	p.wake.L = &p.mu
	p.left.Store(int64(items))
	p.ctx, p.stop = context.WithCancelCause(ctx)
	defer p.stop(nil)
	defer context.AfterFunc(p.ctx, func() { p.end(context.Cause(p.ctx)) })()
	for i := range c.goroutines {
		next := &worker{index: i, item: none}
		next.ctx, next.cancel = context.WithCancelCause(p.ctx)
		p.workers = append(p.workers, next)
	}
	var wait sync.WaitGroup
	if c.copies || c.restarts {
		wait.Go(p.watch)
	}
	for _, w := range p.workers {
		wait.Go(func() { p.serve(w) })
	}
	wait.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.ledger != nil {
		*c.ledger = p.account
	}
	return p.err
}

// end ends Map, with an error, or with nil if all items have results.
func (p *pool) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.endLocked(err)
}

func (p *pool) endLocked(err error) {
	if p.done {
		return
	}
	if p.parent.Err() != nil {
		err = context.Cause(p.parent) // even if the last result came after the end of the context
	}
	p.done, p.err = true, err
	p.urgent.Store(true)
	close(p.over)
	p.stop(err)
	p.wake.Broadcast()
}
