package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// If the pool ends the context of an attempt, context.Cause returns one of these errors.
var (
	errOvertaken = errors.New("pool: another attempt of the item was first")
	errRestarted = errors.New("pool: the item is restarted, because this attempt takes long")
)

var errGoexit = errors.New("pool: the function has called runtime.Goexit")

// serve runs attempts on one worker, until there is nothing more to do.
func (p *pool) serve(w *worker) {
	defer func() {
		if w.item != none { // the function has called runtime.Goexit, which ends this goroutine
			p.returned(w, errGoexit)
			p.wait.Go(func() { p.serve(w) })
		}
	}()
	for p.take(w) {
		p.returned(w, p.attempt(w))
	}
}

// attempt calls the function for the worker's item.
func (p *pool) attempt(w *worker) error {
	if w.failed != nil {
		return w.failed
	}
	ctx := context.Context(&attemptContext{w.ctx, Attempt{w.item, w.number}})
	if p.timeout == 0 {
		return p.work.call(ctx, w.index)
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	err := p.work.call(ctx, w.index)
	if err != nil && w.ctx.Err() == nil && ctx.Err() != nil && !errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return err
}

// take begins an attempt of the item that a worker shall run. It takes an item that waits for a restart, else a
// proposed copy, else the next item that was never run. If there is no such item, take waits for one. take returns
// false if the worker shall stop.
func (p *pool) take(w *worker) bool {
	if !p.sequence && !p.urgent.Load() && p.loadNext(w) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.done {
		more := p.next.Load() < p.items.Load()
		switch {
		case p.takeAgain(w):
			return true
		case more && !p.loading:
			if p.loadAlone(w) {
				return true
			}
		case !more && !p.copies && !p.restarts:
			p.wake.Signal() // another worker stops, too
			return false
		default:
			p.idle++
			p.wake.Wait()
			p.idle--
		}
	}
	return false
}

// loadAlone calls loadNext without the lock p.mu. If the items come from a sequence, no other worker does so until
// loadAlone has returned.
func (p *pool) loadAlone(w *worker) bool {
	p.loading = p.sequence
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.loading = false
		p.wake.Signal() // another worker loads the next item, or stops
	}()
	return p.loadNext(w)
}

// loadNext begins the first attempt of the next item. It returns false if there is no further item.
func (p *pool) loadNext(w *worker) (ok bool) {
	i := p.next.Add(1) - 1
	if i >= p.items.Load() {
		return false
	}
	size, ok, err := 1., true, errGoexit
	defer func() { // this runs also if the sequence calls runtime.Goexit
		if p.sequence && (!ok || err != nil) { // the sequence ends, before or after item i
			last := i
			if ok {
				last++
			}
			p.items.Store(last)
			if p.finished.Load() == p.items.Load() {
				p.end(nil)
			}
		}
		if ok {
			w.failed = err
			w.begin(int(i), 0, size, time.Now(), nil)
		}
	}()
	size, ok, err = p.work.next(p.ctx, w.index, int(i))
	return ok
}

// takeAgain begins a further attempt of an item that was run before: a restart from pool.queue, or else a copy from
// pool.proposed. It returns false if there is no such attempt.
func (p *pool) takeAgain(w *worker) bool {
	defer func() { p.urgent.Store(len(p.queue)+len(p.proposed) > 0) }()
	for len(p.queue) > 0 {
		d := p.queue[0]
		p.queue = p.queue[1:]
		if d.queued {
			d.queued = false
			p.runAgain(w, d)
			return true
		}
	}
	for len(p.proposed) > 0 {
		o := p.proposed[0]
		p.proposed = p.proposed[1:]
		if p.accept(o) {
			d := o.tracked
			p.trials.Begin(&d.trial, &o.task, &o.phase, restart.Copy)
			d.copies++
			d.newest = p.runAgain(w, d)
			p.account.Copies++
			return true
		}
	}
	return false
}

// runAgain begins a further attempt of an item, and returns the present time.
func (p *pool) runAgain(w *worker, d *tracked) (now time.Time) {
	now = time.Now()
	d.attempts = append(d.attempts, attempt{w, now, d.begun})
	p.work.setItem(w.index, d.value)
	w.failed = context.Cause(p.ctx) // nil before the end of the context
	w.begin(d.item, d.begun, d.size, now, d)
	d.begun++
	return now
}

func (w *worker) begin(item, number int, size float64, now time.Time, d *tracked) {
	w.mu.Lock()
	w.item, w.number, w.size, w.begun, w.tracked, w.slowCheck, w.shown = item, number, size, now, d, 0, false
	w.mu.Unlock()
}

// returned records that the worker's call of the function has returned err. If the call decides about the item, the
// item's result or error is handed over.
func (p *pool) returned(w *worker, err error) {
	now := time.Now()
	w.mu.Lock()
	item, d := w.item, w.tracked
	w.item, w.tracked = none, nil
	switch took := now.Sub(w.begun); {
	case !w.dropped.IsZero():
	case err == nil:
		w.addSample(took, true)
		w.ends++
		w.sum += took
		w.sizes += w.size
		w.longest = max(w.longest, perUnit(took, w.size))
	case p.timeout > 0 && took >= p.timeout:
		w.addSample(took, false)
	}
	if p.bill != nil && item < p.mostBilled() {
		w.calls = append(w.calls, call{item, w.size, w.begun, now, err == nil})
	}
	w.mu.Unlock()
	if d != nil && !p.settle(w, d, err, now) {
		return
	}
	if err := p.work.hand(w.index, item, err); err != nil {
		p.end(err)
	}
	if p.finished.Add(1) == p.items.Load() {
		p.end(nil)
	}
}

// perUnit returns the time for one unit of work, at most maxDuration.
func perUnit(d time.Duration, size float64) time.Duration {
	return time.Duration(min(float64(d)/size, float64(maxDuration)))
}

// addSample puts an attempt's time into the worker's ring buffer. If ended is false, the pool ended the attempt's
// context after this time.
func (w *worker) addSample(took time.Duration, ended bool) {
	w.samples[w.sampleCount%mostSamples] = sample{perUnit(took, w.size), ended}
	w.sampleCount++
}

// settle records that a worker's attempt of a tracked item has returned err. It reports whether err decides about the
// item:
//
//   - A first result does, also if the context of its attempt was ended.
//   - An error of the item's first attempt does, except context.DeadlineExceeded. Without copies, the item would have
//     failed with the same error. After DeadlineExceeded a copy may still help.
//   - An error of another attempt does if no attempt of the item runs or is due to run.
//
// In all other cases the attempt's result or error is ignored.
func (p *pool) settle(w *worker, d *tracked, err error, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(d.attempts, func(r attempt) bool { return r.by == w })
	first := d.first && at == 0
	if !w.dropped.IsZero() {
		p.noteIgnored(now, w)
		w.mu.Lock()
		w.dropped = time.Time{}
		w.ctx, w.cancel = context.WithCancelCause(p.ctx)
		w.mu.Unlock()
		if d.over || err != nil {
			p.account.Wasted += now.Sub(w.begun)
			if d.runAgain {
				d.runAgain = false
				p.queueAgain(d)
			}
			return false
		}
		p.result(d, none, now) // the attempt returned a result although its context was ended
	} else {
		if err == nil {
			p.result(d, at, now)
			if !first {
				p.account.Won++
			}
		} else if at > 0 {
			p.trials.Fail(&d.trial)
		}
		d.attempts = slices.Delete(d.attempts, at, at+1)
		d.first = d.first && !first
		mayFail := !first || errors.Is(err, context.DeadlineExceeded)
		if err != nil && mayFail && (len(d.attempts) > 0 || d.queued || d.runAgain) {
			p.account.Failed++
			d.late = d.late || p.timeout > 0 && errors.Is(err, context.DeadlineExceeded)
			return false
		}
	}
	if err != nil {
		p.trials.Drop(&d.trial)
	}
	for _, other := range d.attempts {
		other.by.drop(errOvertaken)
	}
	d.attempts, d.queued, d.runAgain, d.over = nil, false, false, true
	return true
}

// noteIgnored sets ignoresEnd if an attempt has kept running too long after the end of its context: for longer than
// the mean time of an attempt, and for longer than leastIgnored. Such a function ignores its context, and a restart
// would only wait until the function returns.
func (p *pool) noteIgnored(now time.Time, w *worker) {
	p.ignoresEnd = p.ignoresEnd || now.Sub(w.dropped) > max(p.mean, leastIgnored)
}

// drop ends the context of the worker's attempt. context.Cause then returns the error why.
func (w *worker) drop(why error) {
	w.mu.Lock()
	now := time.Now()
	w.addSample(now.Sub(w.begun), false)
	w.dropped = now
	w.cancel(why)
	w.mu.Unlock()
}

// queueAgain puts an item into the queue, so that the next idle worker runs it again.
func (p *pool) queueAgain(d *tracked) {
	d.queued = true
	p.queue = append(p.queue, d)
	p.urgent.Store(true)
	p.wake.Signal()
}
