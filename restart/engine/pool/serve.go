package pool

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// These errors are the causes of an attempt's context, as context.Cause returns them.
var (
	errOvertaken = errors.New("pool: another attempt of the item was first")
	errRestarted = errors.New("pool: the item is restarted, because this attempt takes long")
)

// serve runs attempts on one worker, until Map is over.
func (p *pool) serve(w *worker) {
	running := none
	defer func() {
		if running != none { // the function has called runtime.Goexit, or panics
			p.end(errGoexit)
		}
	}()
	now := time.Now()
	for running = p.take(w, now); running != none; running = p.take(w, now) {
		err := p.work.call(w.ctx, w.index, running)
		now = p.returned(w, running, err)
	}
}

// take returns the item that a worker shall run: an item from the queue, a proposed copy, or the next item, in this
// order. If there is none, take waits. take returns none if there will be no more.
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

// takeAgain begins another attempt of an item that has had one: a restart from the queue, or a proposed copy.
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

// returned records that the function has returned.
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

// addSample puts a time into the worker's ring.
func (w *worker) addSample(took time.Duration, ended bool) {
	w.samples[w.sampleCount%mostSamples] = sample{took, ended}
	w.sampleCount++
}

// finished counts a result.
func (p *pool) finished() {
	if p.left.Add(-1) == 0 {
		p.end(nil)
	}
}

// settle records that an attempt of a tracked item has returned: its result counts, its error counts, or neither.
func (p *pool) settle(w *worker, item int, err error, now time.Time) {
	d := p.tracked[item]
	at := slices.IndexFunc(d.attempts, func(r attempt) bool { return r.by == w })
	if !w.dropped.IsZero() {
		p.noteIgnored(now, w)
		w.mu.Lock()
		w.dropped = time.Time{}
		w.ctx, w.cancel = context.WithCancelCause(p.ctx)
		w.mu.Unlock()
		if err == nil && !d.over { // the attempt has finished although it was told to end
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

// conclude makes a worker's result the item's result, and ends the item's other attempts.
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

// noteIgnored sets ignoresEnd if an attempt has run on, after the end of its context, for longer than the mean time of an
// attempt. A function that does this ignores its context, and a restart would only wait for the function to return.
func (p *pool) noteIgnored(now time.Time, w *worker) {
	p.ignoresEnd = p.ignoresEnd || now.Sub(w.dropped) > max(p.mean, leastIgnored)
}

// drop ends the context of the worker's attempt.
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
