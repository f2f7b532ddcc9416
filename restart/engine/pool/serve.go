package pool

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Why the context of a run has ended, as context.Cause says it.
var (
	errOvertaken = errors.New("pool: another run of the item was first")
	errRestarted = errors.New("pool: the item is run again, as this run takes long")
)

// serve runs one item after the other.
func (p *pool) serve(w *worker) {
	running := none
	defer func() {
		if running != none { // the function has ended the goroutine, or panics
			p.end(errGoexit)
		}
	}()
	now := time.Now()
	for running = p.take(w, now); running != none; running = p.take(w, now) {
		err := p.work.call(w.ctx, w.index, running)
		now = p.returned(w, running, err)
	}
}

// take gives a worker something to run: what is to run once more, else the next item. It waits if there is neither, as long
// as there may be.
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

// takeAgain begins a run of an item that has had one.
func (p *pool) takeAgain(w *worker) int {
	defer func() { p.urgent.Store(len(p.queue)+len(p.wanted) > 0) }()
	now := time.Now()
	for len(p.queue) > 0 {
		i := p.queue[0]
		p.queue = p.queue[1:]
		if d := p.disputed[i]; d.queued {
			d.queued = false
			d.runs = append(d.runs, aRun{w, now})
			w.begin(i, now, true)
			return i
		}
	}
	for len(p.wanted) > 0 {
		o := p.wanted[0]
		p.wanted = p.wanted[1:]
		if p.accept(o) {
			d := o.disputed
			p.trials.begin(d, o.trial, now)
			d.duplicates++
			d.newest = now
			p.account.Copies++
			d.runs = append(d.runs, aRun{w, now})
			w.begin(o.item, now, true)
			return o.item
		}
	}
	return none
}

func (w *worker) begin(item int, now time.Time, disputed bool) {
	w.mu.Lock()
	w.item, w.begun, w.disputed, w.slow = item, now, disputed, 0
	w.mu.Unlock()
}

// returned takes note that a run has returned.
func (p *pool) returned(w *worker, item int, err error) (now time.Time) {
	now = time.Now()
	w.mu.Lock()
	disputed := w.disputed
	w.item, w.disputed = none, false
	if took := now.Sub(w.begun); err == nil && !w.dropped {
		w.live(took, true)
		w.ends++
		w.sum += took
		w.most = max(w.most, took)
	}
	w.mu.Unlock()
	switch {
	case disputed:
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

func (w *worker) live(took time.Duration, ended bool) {
	w.lives[w.lived%mostLives] = life{took, ended}
	w.lived++
}

// finished counts a result.
func (p *pool) finished() {
	if p.left.Add(-1) == 0 {
		p.end(nil)
	}
}

// settle takes note of a run that has returned of an item that had others. What has been told to stop may have stopped
// halfway, whatever it returns.
func (p *pool) settle(w *worker, item int, err error, now time.Time) {
	d := p.disputed[item]
	at := slices.IndexFunc(d.runs, func(r aRun) bool { return r.by == w })
	if w.dropped {
		p.account.Wasted += now.Sub(w.begun)
		w.mu.Lock()
		w.dropped = false
		w.ctx, w.cancel = context.WithCancelCause(p.ctx)
		w.mu.Unlock()
		if d.again && !d.over {
			d.again = false
			p.enqueue(item, d)
		}
		return
	}
	if err == nil {
		p.trials.result(d, at, now, p.copyOf(now, d.runs[0]).Remaining)
	}
	p.trials.drop(d)
	d.runs = slices.Delete(d.runs, at, at+1)
	first := d.first && at == 0
	d.first = d.first && !first
	switch {
	case err != nil && (len(d.runs) > 0 || d.queued || d.again):
		p.account.Failed++
	case err != nil:
		p.endLocked(err)
	default:
		if !first {
			p.account.Won++
		}
		for _, other := range d.runs {
			other.by.drop(errOvertaken)
		}
		d.runs, d.queued, d.over = nil, false, true
		p.work.keep(w.index, item)
		if p.left.Add(-1) == 0 {
			p.endLocked(nil)
		}
	}
}

// drop ends the context of what a worker runs.
func (w *worker) drop(why error) {
	w.mu.Lock()
	w.live(time.Since(w.begun), false)
	w.dropped = true
	w.cancel(why)
	w.mu.Unlock()
}

// enqueue has an item run once more.
func (p *pool) enqueue(item int, d *disputed) {
	d.queued = true
	p.queue = append(p.queue, item)
	p.urgent.Store(true)
	p.wake.Signal()
}
