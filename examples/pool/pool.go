package main

import (
	"context"
	"sync"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// pool runs n tasks on goroutines. It knows when a task starts and when it ends, and nothing in between: no progress, no
// machines. A task that takes long by its age gets a second copy on a goroutine that is idle; the first result wins.
type pool struct {
	mu      sync.Mutex // guards all below: a tracker is for one goroutine at a time
	tracker *tracker.Tracker
	cancels map[[2]int]context.CancelFunc // by task and attempt
	changed *sync.Cond
	left    int // tasks without a result
	stop    context.CancelFunc
	err     error
}

// run calls task for each number below n on so many goroutines, and returns the first error that is not mended by a second
// try, or nil. Task must stop when its context ends, and may run twice at once; its result counts by keep, once for each
// number. Interval is how often the pool looks at what runs: a tenth of a task's usual time is a good choice.
func run[T any](ctx context.Context, n, goroutines int, interval time.Duration, policy restart.Policy,
	task func(ctx context.Context, i int) (T, error), keep func(i int, result T),
) (tracker.Ledger, error) {
	t, err := tracker.New(tracker.Config{Tasks: n, Slots: goroutines, Interval: interval, Policy: policy})
	if err != nil {
		return tracker.Ledger{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	p := &pool{tracker: t, cancels: map[[2]int]context.CancelFunc{}, left: n, stop: stop}
	p.changed = sync.NewCond(&p.mu)
	var wait sync.WaitGroup
	for range goroutines {
		wait.Go(func() {
			for i, attempt, own := p.next(ctx); own != nil; i, attempt, own = p.next(ctx) {
				result, err := task(own, i)
				if p.ended(i, attempt, err) {
					keep(i, result)
				}
			}
		})
	}
	go p.tick(ctx, interval)
	wait.Wait()
	stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	return t.Ledger(), p.err
}

// next waits for something to run: a task, or a copy of one that takes long. The context is nil if nothing is left.
func (p *pool) next(ctx context.Context) (task, attempt int, own context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.left > 0 && p.err == nil && ctx.Err() == nil {
		now := time.Now()
		switch a := p.tracker.Next(now, -1); a.Action {
		case restart.Start, restart.Duplicate:
			own, cancel := context.WithCancel(ctx)
			attempt := p.tracker.Start(now, a.Task, -1)
			p.cancels[[2]int{a.Task, attempt}] = cancel
			return a.Task, attempt, own
		case restart.Restart, restart.Kill:
			p.carryOut(now, a)
		default:
			p.changed.Wait()
		}
	}
	if p.err == nil {
		p.err = ctx.Err()
	}
	return 0, 0, nil
}

// carryOut ends an attempt that is to end: of a task that waits for a goroutine now, or that has a better copy.
func (p *pool) carryOut(now time.Time, a tracker.Answer) {
	switch a.Action {
	case restart.Restart:
		p.drop(a.Task, a.Attempt)
		p.tracker.Restart(now, a.Task, a.Attempt)
	case restart.Kill:
		p.drop(a.Task, a.Attempt)
		p.tracker.Kill(now, a.Task, a.Attempt)
	}
}

// ended takes note of an attempt's end, and reports whether its result counts.
func (p *pool) ended(task, attempt int, err error) (counts bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.changed.Broadcast()
	now := time.Now()
	switch {
	case !p.drop(task, attempt): // overtaken, or restarted
		return false
	case err != nil && attempt > 0:
		p.err = err
		p.stop() // what still runs is of no use
		return false
	case err != nil:
		p.tracker.Fail(now, task, attempt)
		return false
	}
	for _, other := range p.tracker.Finish(now, task, attempt) {
		p.drop(task, other)
	}
	p.left--
	return true
}

// drop ends an attempt's context, and reports whether it had one.
func (p *pool) drop(task, attempt int) bool {
	key := [2]int{task, attempt}
	cancel, runs := p.cancels[key]
	if runs {
		cancel()
		delete(p.cancels, key)
	}
	return runs
}

// tick looks at what runs, from time to time, and wakes the goroutines that are idle: what hangs tells nothing, and if it
// holds every goroutine there is none to ask.
func (p *pool) tick(ctx context.Context, interval time.Duration) {
	for ctx.Err() == nil {
		time.Sleep(interval)
		p.mu.Lock()
		now := time.Now()
		p.tracker.Sweep(now, func(a tracker.Answer) { p.carryOut(now, a) })
		p.changed.Broadcast()
		p.mu.Unlock()
	}
}
