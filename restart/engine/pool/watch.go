package pool

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
)

const (
	leastInterval = time.Millisecond
	perGoroutine  = 10 * time.Microsecond // of the least interval: a look takes about a tenth of that
	perMean       = 10                    // looks in the mean time of a run, if that is long
	enough        = 3                     // runs that must have ended before any is judged
	mostTimes     = 1024                  // in the curve, beside those of what runs
	longest       = 1e6 * time.Hour
	leastDeaf     = 10 * time.Millisecond // for which a run may go on when its context has ended, however short runs are
)

// watched is what the look at what runs rests on.
type watched struct {
	delta time.Duration
	looks int
	mean  time.Duration  // of the runs that have ended
	most  time.Duration  // the longest of them
	ended int            // how many there were
	moved time.Time      // when one began or ended
	curve survival.Curve // how long runs take
	fresh survival.Curve // the same without those that were told to end: a new run that is as slow would be, too
	byAge []*worker      // what runs, the oldest first
}

// watch looks at what runs from time to time.
func (p *pool) watch() {
	p.delta = max(p.interval, leastInterval)
	timer := time.NewTimer(p.delta)
	defer timer.Stop()
	for {
		select {
		case <-p.over:
			return
		case <-timer.C:
			p.look(time.Now())
			timer.Reset(p.delta)
		}
	}
}

// look asks the policy about each item that has run for longer than the mean, the one that has run longest first.
func (p *pool) look(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done || !p.measure(now) {
		return
	}
	p.looks++
	p.wanted, p.asked = p.wanted[:0], restart.Trials{} // what no goroutine was free for is asked again
	for _, w := range p.byAge {
		if w.age <= p.mean {
			break
		}
		w.mu.Lock()
		item, begun, is := w.item, w.begun, w.disputed
		w.mu.Unlock()
		d := p.disputed[item]
		switch {
		case item == none || !w.dropped.IsZero():
		case !is:
			p.judge(now, item, &disputed{runs: []aRun{{w, begun}}, first: true})
		case len(d.runs) > 0 && d.runs[0].by == w:
			p.judge(now, item, d)
		}
	}
}

// measure learns how long runs take, and reports whether one of those that go on may be worth a thought: it has run for
// longer than the mean.
func (p *pool) measure(now time.Time) bool {
	ends, sum, oldest := 0, time.Duration(0), time.Duration(0)
	p.byAge = p.byAge[:0]
	for _, w := range p.workers {
		w.mu.Lock()
		ends += w.ends
		sum += w.sum
		p.most = max(p.most, w.most)
		if w.item != none && !w.dropped.IsZero() {
			p.hear(now, w)
		} else if w.item != none {
			w.age = now.Sub(w.begun)
			oldest = max(oldest, w.age)
			if w.begun.After(p.moved) {
				p.moved = w.begun
			}
			p.byAge = append(p.byAge, w)
		}
		w.mu.Unlock()
	}
	if ends != p.ended {
		p.ended, p.moved = ends, now
	}
	if ends == 0 {
		p.rest(oldest / perMean)
		return false
	}
	p.mean = sum / time.Duration(ends)
	p.rest(p.mean / perMean)
	if ends < min(enough, p.items-1) || oldest <= p.mean {
		return false
	}
	p.fit()
	return true
}

// rest says when to look again, if the host has not said so.
func (p *pool) rest(d time.Duration) {
	if p.interval == 0 {
		p.delta = max(d, leastInterval, time.Duration(len(p.workers))*perGoroutine)
	}
}

// fit makes the curves of what has ended and what runs.
func (p *pool) fit() {
	p.curve.Reset()
	p.fresh.Reset()
	each := max(1, mostTimes/len(p.workers))
	for _, w := range p.workers {
		w.mu.Lock()
		for i := range min(w.lived, mostLives, each) {
			l := w.lives[(w.lived-1-i)%mostLives]
			p.curve.Observe(l.took.Seconds(), l.ended)
			if l.ended {
				p.fresh.Observe(l.took.Seconds(), true)
			}
		}
		w.mu.Unlock()
	}
	for _, w := range p.byAge {
		p.curve.Observe(w.age.Seconds(), false)
		p.fresh.Observe(w.age.Seconds(), false)
	}
	p.curve.Fit()
	p.fresh.Fit()
	slices.SortStableFunc(p.byAge, func(a, b *worker) int { return cmp.Compare(b.age, a.age) })
}

// judge asks the policy about an item, and carries out what it says.
func (p *pool) judge(now time.Time, item int, d *disputed) {
	task := p.task(now, d)
	o := wish{item: item, disputed: d, task: task, phase: p.phase(now)}
	o.decision = restart.Hold(p.policy.Decide(task, o.phase), task, o.phase)
	action := o.decision.Action
	if i := o.decision.Attempt; action != restart.Copy && (i < 0 || i >= len(task.Attempts)) {
		return // the policy names a run that does not exist
	}
	switch action {
	case restart.Copy:
		if p.still(d) {
			p.asked.Begin(new(restart.Trial), &task, &o.phase, restart.Copy)
			p.wanted = append(p.wanted, o)
			p.urgent.Store(true)
			p.wake.Signal()
		}
	case restart.Restart:
		if p.still(d) && p.accept(o) {
			p.restart(now, o)
		}
	case restart.Kill:
		if p.accept(o) {
			p.trials.Kill(&d.trial, &o.task, &o.phase, o.decision.Attempt, o.decision.Attempt == 0)
			p.dismiss(now, d, o.decision.Attempt, errOvertaken)
		}
	}
}

// still reports whether the look before has found the same of an item. What began together comes in together, and until
// all of it is in, the rest looks slow beside the first.
func (p *pool) still(d *disputed) bool {
	w := d.runs[0].by
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.slow
	w.slow = p.looks
	return before > 0 && before == p.looks-1
}

// restart ends a run of an item, and has the item run again.
func (p *pool) restart(now time.Time, o wish) {
	d := o.disputed
	d.restarts++
	p.account.Restarts++
	p.trials.Begin(&d.trial, &o.task, &o.phase, restart.Restart)
	p.dismiss(now, d, o.decision.Attempt, errRestarted)
	if d.again = !p.copies; !d.again {
		p.enqueue(o.item, d)
	}
}

// wish is a decision about an item.
type wish struct {
	item     int
	disputed *disputed
	task     restart.Task // and the facts of it
	phase    restart.Phase
	decision restart.Decision
}

// accept has the item's runs settled with each other when they return, unless it was done meanwhile.
func (p *pool) accept(o wish) bool {
	if p.disputed[o.item] == nil {
		w := o.disputed.runs[0].by
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.item != o.item || w.disputed {
			return false
		}
		w.disputed = true
		p.disputed[o.item] = o.disputed
	}
	if p.disputed[o.item] != o.disputed || len(o.disputed.runs) == 0 {
		return false
	}
	if p.tell != nil {
		p.tell(o.item, o.decision)
	}
	return true
}

// dismiss ends one of an item's runs.
func (p *pool) dismiss(now time.Time, d *disputed, at int, why error) {
	d.runs[at].by.drop(why)
	d.first = d.first && at > 0
	d.runs = slices.Delete(d.runs, at, at+1)
	d.newest = now
}
