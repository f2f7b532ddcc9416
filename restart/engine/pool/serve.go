package pool

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// If the pool ends the context of an attempt, context.Cause returns one of these errors.
var (
	errOvertaken = errors.New("pool: another attempt of the item was first")
	errRestarted = errors.New("pool: the item is restarted, because this attempt takes long")
)

// serve runs attempts on one worker, until Map is over.
func (p *pool) serve(w *worker) {
	running := none
	defer func() {
		if running != none { // the function has called runtime.Goexit, or it panics
			p.end(errGoexit)
		}
	}()
	now := time.Now()
	for running = p.take(w, now); running != none; running = p.take(w, now) {
		err := p.work.call(w.ctx, w.index, running)
		now = p.returned(w, running, err)
	}
}

// take returns the index of the item that a worker shall run. It takes an item that waits for a restart, else a
// proposed copy, else the next item that was never run. If there is no such item, take waits for one. take returns
// none if the worker shall stop.
func (p *pool) take(w *worker, now time.Time) int {
	if !p.urgent.Load() {
		if i := p.next.Add(1) - 1; i < int64(p.items) {
			w.begin(int(i), now, false)
			return int(i)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.done {
		if i := p.takeAgain(w); i != none {
			return i
		}
		if p.next.Load() < int64(p.items) {
			if i := p.next.Add(1) - 1; i < int64(p.items) {
				w.begin(int(i), time.Now(), false)
				return int(i)
			}
		}
		if !p.copies && !p.restarts {
			return none
		}
		p.idle++
		p.wake.Wait()
		p.idle--
	}
	return none
}

// takeAgain begins a further attempt of an item that was run before: a restart from pool.queue, or else a copy from
// pool.proposed. It returns the item's index, or none if there is no such attempt.
func (p *pool) takeAgain(w *worker) int {
	defer func() { p.urgent.Store(len(p.queue)+len(p.proposed) > 0) }()
	now := time.Now()
	for len(p.queue) > 0 {
		i := p.queue[0]
		p.queue = p.queue[1:]
		if d := p.tracked[i]; d.queued {
			d.queued = false
			d.attempts = append(d.attempts, attempt{w, now})
			w.begin(i, now, true)
			return i
		}
	}
	for len(p.proposed) > 0 {
		o := p.proposed[0]
		p.proposed = p.proposed[1:]
		if p.accept(o) {
			d := o.tracked
			p.trials.Begin(&d.trial, &o.task, &o.phase, restart.Copy)
			d.copies++
			d.newest = now
			p.account.Copies++
			d.attempts = append(d.attempts, attempt{w, now})
			w.begin(o.item, now, true)
			return o.item
		}
	}
	return none
}

func (w *worker) begin(item int, now time.Time, tracked bool) {
	w.mu.Lock()
	w.item, w.begun, w.tracked, w.slowCheck = item, now, tracked, 0
	w.mu.Unlock()
}

// returned records that a worker's call of the function for an item has returned err. It returns the present time.
func (p *pool) returned(w *worker, item int, err error) (now time.Time) {
	now = time.Now()
	w.mu.Lock()
	tracked := w.tracked
	w.item, w.tracked = none, false
	if took := now.Sub(w.begun); err == nil && w.dropped.IsZero() {
		w.addSample(took, true)
		w.ends++
		w.sum += took
		w.longest = max(w.longest, took)
	}
	w.mu.Unlock()
	switch {
	case tracked:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.settle(w, item, err, now)
	case err != nil:
		p.end(err)
	default:
		p.work.keep(w.index, item)
		p.finished()
	}
	return now
}

// addSample puts an attempt's time into the worker's ring buffer. If ended is false, the pool ended the attempt's
// context after this time.
func (w *worker) addSample(took time.Duration, ended bool) {
	w.samples[w.sampleCount%mostSamples] = sample{took, ended}
	w.sampleCount++
}

// finished records that an item has its result, and ends Map if no other item lacks one.
func (p *pool) finished() {
	if p.left.Add(-1) == 0 {
		p.end(nil)
	}
}

// settle records that a worker's attempt of a tracked item has returned err. There are three cases. A first result
// becomes the item's result. An error ends Map if no other attempt of the item runs or is due to run. In all other
// cases the attempt's result or error is ignored.
func (p *pool) settle(w *worker, item int, err error, now time.Time) {
	d := p.tracked[item]
	at := slices.IndexFunc(d.attempts, func(r attempt) bool { return r.by == w })
	if !w.dropped.IsZero() {
		p.noteIgnored(now, w)
		w.mu.Lock()
		w.dropped = time.Time{}
		w.ctx, w.cancel = context.WithCancelCause(p.ctx)
		w.mu.Unlock()
		if err == nil && !d.over { // the attempt returned a result although its context was ended
			p.result(d, none, now)
			p.conclude(w, item, d)
			return
		}
		p.account.Wasted += now.Sub(w.begun)
		if d.runAgain && !d.over {
			d.runAgain = false
			p.queueAgain(item, d)
		}
		return
	}
	if err == nil {
		p.result(d, at, now)
	} else if at > 0 {
		p.trials.Fail(&d.trial)
	}
	d.attempts = slices.Delete(d.attempts, at, at+1)
	first := d.first && at == 0
	d.first = d.first && !first
	switch {
	case err != nil && (len(d.attempts) > 0 || d.queued || d.runAgain):
		p.account.Failed++
	case err != nil:
		p.endLocked(err)
	default:
		if !first {
			p.account.Won++
		}
		p.conclude(w, item, d)
	}
}

// conclude makes the result of the worker's last call the item's result, and ends the contexts of the item's other
// attempts.
func (p *pool) conclude(w *worker, item int, d *tracked) {
	for _, other := range d.attempts {
		other.by.drop(errOvertaken)
	}
	d.attempts, d.queued, d.runAgain, d.over = nil, false, false, true
	p.work.keep(w.index, item)
	if p.left.Add(-1) == 0 {
		p.endLocked(nil)
	}
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
func (p *pool) queueAgain(item int, d *tracked) {
	d.queued = true
	p.queue = append(p.queue, item)
	p.urgent.Store(true)
	p.wake.Signal()
}
