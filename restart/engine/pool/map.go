package pool

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// Map calls f for each item and returns the results in the order of the items. If a call of f returns an error, Map
// returns this error and no results. Later errors of other calls are ignored.
//
// With the options [Copies] and [Restarts], Map may call f several times for an item. Then the error of one call is
// ignored as long as another call for the same item runs or is due to run. If ctx ends before the last result is
// there, Map returns the cause of ctx, whatever f returns. If ctx has ended before Map is called, Map never calls f.
// When Map returns, every call of f has returned. Map does not recover a panic of f, so the panic ends the process,
// as in any goroutine.
//
// Map takes O(items) memory for the results. Each check of the running attempts takes O(g log g) time for g
// goroutines. Map allocates no memory for an item for which f is called only once.
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

// work contains the function, the items and the results with their types T and R. The type pool has no type
// parameters: it knows an item only by its index.
type work[T, R any] struct {
	items   []T
	f       func(ctx context.Context, item T) (R, error)
	results []R // by item index
	held    []R // by worker index: the result of the worker's last call of f
}

func (w *work[T, R]) call(ctx context.Context, worker, item int) (err error) {
	w.held[worker], err = w.f(ctx, w.items[item])
	return err
}

func (w *work[T, R]) keep(worker, item int) { w.results[item] = w.held[worker] }

// caller is the interface by which the pool uses the type work. The interface has no type parameters.
type caller interface {
	// calls the function for an item, and stores the result in held[worker]
	call(ctx context.Context, worker, item int) error
	keep(worker, item int) // copies held[worker] to the item's entry in results
}

// pool is the state of one call of Map. The mutex mu guards the fields below it. To begin or to end an attempt, a
// worker locks mu only in two cases: urgent is true, or the item has had a copy or a restart.
type pool struct {
	config
	work    caller
	parent  context.Context
	ctx     context.Context
	stop    context.CancelCauseFunc
	items   int
	workers []*worker
	next    atomic.Int64 // index of the first item without an attempt; may exceed items
	left    atomic.Int64 // number of items without a result
	// urgent is true if queue or proposed is not empty, or if Map is over. Then a worker must lock mu to get work.
	// Otherwise the worker takes the item whose index is in the field next, without a lock.
	urgent atomic.Bool
	over   chan struct{} // closed when Map has all results or an error

	mu       sync.Mutex
	wake     sync.Cond
	idle     int              // number of workers that wait for an item
	queue    []int            // items to run again, because an attempt was ended for a restart
	proposed []proposal       // copies that the policy wants; an idle worker starts them
	tracked  map[int]*tracked // by item index
	err      error
	done     bool
	account  Ledger
	// ignoresEnd is true if an attempt kept running for long after the end of its context. Then no attempt is
	// restarted, because a restart would have to wait for the old attempt.
	ignoresEnd     bool
	trials         restart.Trials // won, lost and open copies and restarts, all of them started
	proposedTrials restart.Trials // the copies in proposed, as if they were started
	watched
}

// worker is one of the goroutines that run attempts, with the attempt that it runs now.
type worker struct {
	index int

	mu      sync.Mutex // a goroutine that locks pool.mu and this mutex locks pool.mu first
	ctx     context.Context
	cancel  context.CancelCauseFunc
	item    int // index of the item that the worker runs; none if the worker is idle
	begun   time.Time
	tracked bool // the map pool.tracked contains the item
	// dropped is the time at which the attempt's context was ended: for a restart, or because another attempt of the
	// item had returned a result. Zero: the context was not ended.
	dropped   time.Time
	slowCheck int // number of the last check at which the policy wanted a copy or a restart

	samples     [mostSamples]sample // ring buffer: the times of the worker's last attempts
	sampleCount int                 // number of samples that were ever put into the ring buffer
	ends        int                 // number of attempts that returned a result and whose context was not ended
	sum         time.Duration       // the summed time of these attempts
	longest     time.Duration       // the longest time of such an attempt

	age time.Duration // how long the attempt had run at the last check; pool.mu guards this field
}

const (
	none        = -1 // in place of an item's index: no item; in place of a position: no position
	mostSamples = 32 // number of attempt times that a worker keeps; older times are overwritten
)

// sample is the run time of one attempt. If ended is false, the pool ended the attempt's context after this time, so
// the whole attempt would have taken longer.
type sample struct {
	took  time.Duration
	ended bool
}

// attempt is one call of the function for an item. The field by is the worker that makes the call.
type attempt struct {
	by    *worker
	begun time.Time
}

// tracked is the state of an item that has had more than one attempt, or will have a second attempt.
type tracked struct {
	attempts []attempt // the running attempts whose context was not ended, the oldest first
	queued   bool      // the slice pool.queue contains the item, and the item shall be run again
	first    bool      // the item's first attempt is in attempts
	restarts int       // number of restarts of the item so far
	copies   int       // number of copies of the item so far
	newest   time.Time // when the last copy was started, or an attempt's context was ended last
	runAgain bool      // the item is put into pool.queue as soon as the attempt that is being ended has returned
	over     bool      // the item has a result
	trial    restart.Trial
}

var errGoexit = errors.New("pool: the function has called runtime.Goexit")

// run calls w.call for each item index from 0 to items-1, on several goroutines, and returns the first error.
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

// end ends Map: the workers stop, and Map returns err. A nil err means that all items have results. Only the first
// call has an effect.
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
		err = context.Cause(p.parent) // this is so even if the last result came after the end of the context
	}
	p.done, p.err = true, err
	p.urgent.Store(true)
	close(p.over)
	p.stop(err)
	p.wake.Broadcast()
}
