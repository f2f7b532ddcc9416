package pool

import (
	"cmp"
	"slices"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart"
)

const (
	leastInterval = time.Millisecond
	perMean       = 10   // looks in the mean time of a run, if that is long
	enough        = 3    // runs that must have ended before any is judged
	mostTimes     = 4096 // in the curve
	longest       = 1e6 * time.Hour
)

// watched is what the look at what runs rests on.
type watched struct {
	delta time.Duration
	curve survival.Curve
	byAge []*worker // what runs, the oldest first
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

// look asks the policy about each item that runs, the one that has run longest first.
func (p *pool) look(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done || !p.measure(now) {
		return
	}
	p.wanted = p.wanted[:0] // what no goroutine was free for is asked again
	for _, w := range p.byAge {
		w.mu.Lock()
		item, begun, is := w.item, w.begun, w.disputed
		w.mu.Unlock()
		d := p.disputed[item]
		switch {
		case item == none || w.dropped:
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
		if w.item != none {
			oldest = max(oldest, now.Sub(w.begun))
			p.byAge = append(p.byAge, w)
		}
		w.mu.Unlock()
	}
	if ends == 0 {
		p.rest(oldest / perMean)
		return false
	}
	mean := sum / time.Duration(ends)
	p.rest(mean / perMean)
	if ends < min(enough, p.items-1) || oldest <= mean {
		return false
	}
	p.fit(now)
	return true
}

// rest says when to look again, if the host has not said so.
func (p *pool) rest(d time.Duration) {
	if p.interval == 0 {
		p.delta = max(d, leastInterval)
	}
}

// fit makes the curve of what has ended and what runs.
func (p *pool) fit(now time.Time) {
	p.curve.Reset()
	each := max(1, mostTimes/len(p.workers))
	ages := make(map[*worker]time.Duration, len(p.byAge))
	for _, w := range p.workers {
		w.mu.Lock()
		for i := range min(w.ends, times, each) {
			p.curve.Observe(w.took[(w.ends-1-i)%times].Seconds(), true)
		}
		if w.item != none {
			ages[w] = now.Sub(w.begun)
			p.curve.Observe(ages[w].Seconds(), false)
		}
		w.mu.Unlock()
	}
	p.curve.Fit()
	slices.SortStableFunc(p.byAge, func(a, b *worker) int { return cmp.Compare(ages[b], ages[a]) })
}

// judge asks the policy about an item, and carries out what it says.
func (p *pool) judge(now time.Time, item int, d *disputed) {
	task := p.task(now, d)
	decision := restart.Limits{}.Hold(p.policy.Decide(task, p.phase()), task)
	switch decision.Action {
	case restart.Duplicate:
		p.wanted = append(p.wanted, wish{item, d, decision})
		p.urgent.Store(true)
		p.wake.Signal()
	case restart.Restart:
		if !p.accept(wish{item, d, decision}) {
			return
		}
		d.restarts++
		p.account.Restarts++
		p.dismiss(now, d, decision.Copy, errRestarted)
		if d.again = !p.copies; !d.again {
			p.enqueue(item, d)
		}
	case restart.Kill:
		if p.accept(wish{item, d, decision}) {
			p.dismiss(now, d, decision.Copy, errOvertaken)
		}
	}
}

// wish is a decision about an item.
type wish struct {
	item     int
	disputed *disputed
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

// task is what is known of an item: the ages of its runs, and by these how long they still take.
func (p *pool) task(now time.Time, d *disputed) restart.Task {
	task := restart.Task{
		Fresh: estimate.Fresh{UnitTime: survival.Without{Curve: &p.curve, Age: now.Sub(d.runs[0].begun).Seconds()}, Work: 1},
		Work:  1, Restarts: d.restarts, Duplicates: d.duplicates, NoDuplicate: !p.copies,
	}
	if !d.newest.IsZero() {
		task.SinceCopy = max(now.Sub(d.newest), 1)
	}
	for _, r := range d.runs {
		left := survival.Residual{Curve: &p.curve, Age: now.Sub(r.begun).Seconds()}
		remaining := time.Duration(min(left.Mean(), longest.Seconds()) * float64(time.Second))
		task.Copies = append(task.Copies, restart.Copy{
			Machine: none, Elapsed: now.Sub(r.begun), Remaining: remaining, Left: left, Basis: restart.ByAge,
		})
	}
	return task
}

// phase is what is known of all items.
func (p *pool) phase() restart.Phase {
	left := int(p.left.Load())
	waiting := max(0, p.items-int(p.next.Load()))
	return restart.Phase{
		Interval: p.delta, Tasks: p.items, Finished: p.items - left, Waiting: waiting, Slots: len(p.workers),
		FreeSlots: max(0, p.idle-len(p.queue)-len(p.wanted)), Silent: true, Peers: restart.Peers{Durations: &p.curve},
	}
}
