package pool

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine/shadow"
)

// Map calls f for each item and returns the results in the order of the items. If an item fails, Map ends the
// contexts of all running calls, waits for these calls, and returns the item's error and no results. Later errors
// are ignored. To get the results of the other items in spite of an error, use [Each].
//
// An item fails if its first call returns an error, also while a copy of this call runs. The error of a copy is
// ignored as long as another call for the item runs or is due to run. So is context.DeadlineExceeded, the error of a
// [Timeout], also from the first call. A call whose context was ended for a restart may return any error. If f panics,
// the error is a [*PanicError].
//
// If ctx ends before the last result is there, Map returns the cause of ctx, whatever f returns. If ctx has ended
// before Map is called, Map never calls f. When Map returns, every call of f has returned.
//
// Map takes O(items) memory for the results. Each check of the running attempts takes O(g log g) time for g
// goroutines. For an item for which f is called once, Map makes one allocation: the context of the call.
func Map[T, R any](
	ctx context.Context, items []T, f func(ctx context.Context, item T) (R, error), options ...Option,
) ([]R, error) {
	results := make([]R, len(items))
	p, err := newPool(ctx, len(items), atIndex(items), f, options, func(i int, r Result[R]) error {
		results[i] = r.Value
		return r.Err
	})
	if err != nil {
		return nil, err
	}
	if err := p.run(); err != nil {
		return nil, err
	}
	return results, nil
}

// pool is the state of one call of Map, Each or EachSeq. The mutex mu guards the fields below it. To begin or to end
// an attempt, a worker locks mu only in three cases: urgent is true, the item has had a copy or a restart, or the
// items come from a sequence.
type pool struct {
	config
	work     caller
	parent   context.Context
	ctx      context.Context
	stop     context.CancelCauseFunc
	workers  []*worker
	wait     sync.WaitGroup // counts the goroutines of the pool
	sequence bool           // the items come from a sequence, so only one worker at a time may load an item
	items    atomic.Int64   // number of items; endless until the end of a sequence was found
	next     atomic.Int64   // index of the first item without an attempt; may exceed items
	finished atomic.Int64   // number of items with a result or an error
	// urgent is true if queue or proposed is not empty, or if the pool is to end. Then a worker must lock mu to get
	// work. Otherwise the worker takes the item whose index is in the field next, without a lock.
	urgent atomic.Bool
	over   chan struct{} // closed when each item has its result, or when the pool is to end early

	mu       sync.Mutex
	wake     sync.Cond
	loading  bool       // a worker waits for the next item of the sequence
	idle     int        // number of workers that wait for an item
	queue    []*tracked // items to run again, because an attempt was ended for a restart
	proposed []proposal // copies that the policy wants; an idle worker starts them
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
	item    int     // index of the item that the worker runs; none if the worker is idle
	number  int     // number of the attempt: 0 is the item's first attempt
	size    float64 // the work of the item; 1 without the option Work
	failed  error   // not nil: the function is not called, and this is the error of the attempt
	begun   time.Time
	tracked *tracked // the state of the item, if another attempt of the item was made or is due
	// dropped is the time at which the attempt's context was ended: for a restart, or because another attempt of the
	// item had returned a result. Zero: the context was not ended.
	dropped   time.Time
	slowCheck int    // number of the last check at which the policy wanted a copy or a restart
	shown     bool   // with the option Shadow: OnAction was called for the item
	calls     []call // with the option Shadow: the attempts that have ended

	samples     [mostSamples]sample // ring buffer: the times of the worker's last attempts
	sampleCount int                 // number of samples that were ever put into the ring buffer
	ends        int                 // number of attempts that returned a result and whose context was not ended
	sum         time.Duration       // the summed time of these attempts
	sizes       float64             // the summed work of the items of these attempts
	longest     time.Duration       // the longest time of such an attempt, for one unit of work

	// age is how long the attempt had run at the last check, divided by the work of its item; pool.mu guards age.
	age time.Duration
}

const (
	none        = -1          // in place of an item's index: no item; in place of a position: no position
	endless     = math.MaxInt // number of items of a sequence until its end was found
	mostSamples = 32          // number of attempt times that a worker keeps; older times are overwritten
)

// sample is the run time of one attempt, divided by the work of its item. If ended is false, the attempt's context
// ended after this time, so the whole attempt would have taken longer.
type sample struct {
	took  time.Duration
	ended bool
}

// attempt is one call of the function for an item. The field by is the worker that makes the call.
type attempt struct {
	by     *worker
	begun  time.Time
	number int // the attempts of an item are numbered from 0, in the order in which they began
}

// tracked is the state of an item that has had more than one attempt, or will have a second attempt.
type tracked struct {
	item     int       // index of the item
	value    any       // the item
	size     float64   // the work of the item
	begun    int       // number of attempts that began
	attempts []attempt // the running attempts whose context was not ended, the oldest first
	queued   bool      // the slice pool.queue contains the item, and the item shall be run again
	first    bool      // the item's first attempt is in attempts
	restarts int       // number of restarts of the item so far
	copies   int       // number of copies of the item so far
	newest   time.Time // when the last copy was started, or an attempt's context was ended last
	runAgain bool      // the item is put into pool.queue as soon as the attempt that is being ended has returned
	over     bool      // the item has a result or an error
	late     bool      // an attempt has reached its timeout, so no further attempt begins
	trial    restart.Trial
}

// newPool makes the pool for a number of items. The function load returns the item with an index, and false if there
// is no such item. The function keep is called once for each item.
func newPool[T, R any](
	ctx context.Context, items int, load func(i int) (T, bool), f func(context.Context, T) (R, error), options []Option,
	keep func(i int, r Result[R]) error,
) (*pool, error) {
	c, err := configure(options)
	if err != nil {
		return nil, err
	}
	size, ok := c.work.(func(T) float64)
	if c.work != nil && !ok {
		return nil, fmt.Errorf("pool: Work has a %T, want a %T", c.work, size)
	}
	n := max(1, min(c.goroutines, items))
	w := &work[T, R]{load: load, size: size, f: f, keep: keep, items: make([]T, n), values: make([]R, n)}
	p := &pool{config: c, work: w, parent: ctx, sequence: items == endless, over: make(chan struct{})}
	p.wake.L = &p.mu
	p.items.Store(int64(items))
	p.ctx, p.stop = context.WithCancelCause(ctx)
	for i := range n {
		next := &worker{index: i, item: none}
		next.ctx, next.cancel = context.WithCancelCause(p.ctx)
		p.workers = append(p.workers, next)
	}
	return p, nil
}

// run runs the items on the workers, waits until all goroutines of the pool have returned, and returns the pool's
// error.
func (p *pool) run() error {
	defer p.stop(nil)
	began := time.Now()
	if p.bill != nil {
		*p.bill = shadow.Bill{}
	}
	if p.items.Load() == 0 {
		return context.Cause(p.parent)
	}
	if p.copies || p.restarts {
		p.wait.Go(p.watch)
	}
	for _, w := range p.workers {
		p.wait.Go(func() { p.serve(w) })
	}
	p.wait.Wait()
	if p.ledger != nil {
		*p.ledger = p.account
	}
	if p.bill != nil && p.err == nil {
		*p.bill = p.computeBill(time.Since(began))
	}
	return p.err
}

// end ends the pool: the workers stop, and run returns err. A nil err means that all items have results, or that
// nobody wants the others. Only the first call has an effect.
func (p *pool) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
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
