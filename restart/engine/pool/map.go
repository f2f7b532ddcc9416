package pool

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// Map calls f for each item and returns the results in the items' order, or the first error, and no results. An error of a
// run does not count while another run of the same item goes on. If ctx ends before the last result is there, Map returns
// the cause of ctx, whatever f returns. If ctx has ended before the call, Map calls f for no item. When Map returns, no call
// of f goes on. Map does not recover a panic of f: it ends the process, as in any goroutine.
//
// It takes O(items) for the results, and O(goroutines) at each look at what runs. It allocates nothing for an item that
// nothing is done about.
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

// work is what the pool runs, with its types.
type work[T, R any] struct {
	items         []T
	f             func(ctx context.Context, item T) (R, error)
	results, held []R // by item; by worker
}

func (w *work[T, R]) call(ctx context.Context, worker, item int) (err error) {
	w.held[worker], err = w.f(ctx, w.items[item])
	return err
}

func (w *work[T, R]) keep(worker, item int) { w.results[item] = w.held[worker] }

type caller interface {
	call(ctx context.Context, worker, item int) error // run it, and hold the result
	keep(worker, item int)                            // what is held is the item's result
}

// pool is a Map under way. Most runs touch none of what mu guards.
type pool struct {
	config
	work    caller
	parent  context.Context
	ctx     context.Context
	stop    context.CancelCauseFunc
	items   int
	workers []*worker
	next    atomic.Int64 // the first item that nobody has begun
	left    atomic.Int64 // items without a result
	urgent  atomic.Bool  // something is to run once more, or the run is over
	over    chan struct{}

	mu       sync.Mutex
	wake     sync.Cond
	idle     int               // workers that wait for something to do
	queue    []int             // items to run again, since a run was ended
	wanted   []wish            // copies that the policy would have if a goroutine is free
	disputed map[int]*disputed // items of which there was more than one run, or will be
	err      error
	done     bool
	account  Ledger
	deaf     bool // a run went on for long after its context had ended: restarts gain nothing
	trials   restart.Trials
	asked    restart.Trials // of the copies that wait for a goroutine
	watched
}

// worker is a goroutine, and what it runs.
type worker struct {
	index int

	mu       sync.Mutex // after pool.mu, if both
	ctx      context.Context
	cancel   context.CancelCauseFunc
	item     int // none if it runs nothing
	begun    time.Time
	disputed bool      // there may be other runs of the item
	dropped  time.Time // when its context was ended to run the item again or since the item has a result; zero before
	slow     int       // the look that has last found that something should be done about it

	lives [mostLives]life // the last here
	lived int             // how many there were
	ends  int             // how many of them ended by themselves
	sum   time.Duration   // of those
	most  time.Duration   // the longest of them

	age time.Duration // of what runs, at the last look, guarded by pool.mu
}

const (
	none      = -1
	mostLives = 32
)

// life is how long a run took, or had taken when it was told to end.
type life struct {
	took  time.Duration
	ended bool
}

// aRun is a run of an item.
type aRun struct {
	by    *worker
	begun time.Time
}

// disputed is an item with several runs.
type disputed struct {
	runs       []aRun // that were not dropped, in the order of their begin
	queued     bool   // it stands in the queue
	first      bool   // its first run is among those that go on
	restarts   int
	duplicates int
	newest     time.Time // when a copy began last, or was dropped
	again      bool      // it is to run once more when the dropped run has returned
	over       bool
	trial      restart.Trial
}

var errGoexit = errors.New("pool: the function has called runtime.Goexit")

func run(ctx context.Context, c config, items int, w caller) error {
	if items == 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	p := &pool{config: c, work: w, parent: ctx, items: items, over: make(chan struct{}), disputed: map[int]*disputed{}}
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

// end ends the run: with an error, or since all results are there.
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
		err = context.Cause(p.parent) // also where the last result came after that
	}
	p.done, p.err = true, err
	p.urgent.Store(true)
	close(p.over)
	p.stop(err)
	p.wake.Broadcast()
}
