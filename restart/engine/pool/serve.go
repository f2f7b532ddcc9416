package pool

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
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
			p.trials.Begin(&d.trial, &o.task, &o.phase, restart.Copy)
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
	if took := now.Sub(w.begun); err == nil && w.dropped.IsZero() {
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

// settle takes note of a run that has returned of an item that had others.
func (p *pool) settle(w *worker, item int, err error, now time.Time) {
	d := p.disputed[item]
	at := slices.IndexFunc(d.runs, func(r aRun) bool { return r.by == w })
	if !w.dropped.IsZero() {
		p.hear(now, w)
		w.mu.Lock()
		w.dropped = time.Time{}
		w.ctx, w.cancel = context.WithCancelCause(p.ctx)
		w.mu.Unlock()
		if err == nil && !d.over { // the function has finished its work all the same
			p.result(d, none, now)
			p.conclude(w, item, d)
			return
		}
		p.account.Wasted += now.Sub(w.begun)
		if d.again && !d.over {
			d.again = false
			p.enqueue(item, d)
		}
		return
	}
	if err == nil {
		p.result(d, at, now)
	} else if at > 0 {
		p.trials.Fail(&d.trial)
	}
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
		p.conclude(w, item, d)
	}
}

// conclude keeps a worker's result as that of an item, and ends the item's other runs.
func (p *pool) conclude(w *worker, item int, d *disputed) {
	for _, other := range d.runs {
		other.by.drop(errOvertaken)
	}
	d.runs, d.queued, d.again, d.over = nil, false, false, true
	p.work.keep(w.index, item)
	if p.left.Add(-1) == 0 {
		p.endLocked(nil)
	}
}

// hear notes whether a run whose context has ended goes on for longer than a run usually takes. A function that lets that
// happen does not look at its context, and a restart would only wait for it.
func (p *pool) hear(now time.Time, w *worker) {
	p.deaf = p.deaf || now.Sub(w.dropped) > max(p.mean, leastDeaf)
}

// drop ends the context of what a worker runs.
func (w *worker) drop(why error) {
	w.mu.Lock()
	now := time.Now()
	w.live(now.Sub(w.begun), false)
	w.dropped = now
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
