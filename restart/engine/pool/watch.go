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
	// perGoroutine, times the number of goroutines, is the least time between two checks. A check takes about a tenth
	// of this time, 1 µs for each goroutine.
	perGoroutine  = 10 * time.Microsecond
	checksPerMean = 10   // the time between two checks is the mean time of an attempt, divided by this
	minEnded      = 3    // attempts that must have returned a result before the policy is asked
	mostEnded     = 1024 // largest number of ended attempts from which a curve is made
	maxDuration   = 1e6 * time.Hour
	// leastIgnored is the time that any attempt may keep running after the end of its context. Only an attempt that
	// runs for longer shows that the function ignores its context.
	leastIgnored = 10 * time.Millisecond
)

// watched is the pool's knowledge about the times that attempts take. Here an ended attempt is an attempt that
// returned a result and whose context was not ended before.
type watched struct {
	delta   time.Duration  // time between two checks of the running attempts
	checks  int            // number of checks so far
	mean    time.Duration  // mean time of the ended attempts
	unit    time.Duration  // mean time of the ended attempts for one unit of work
	longest time.Duration  // longest time of an ended attempt for one unit of work
	ended   int            // number of the ended attempts
	changed time.Time      // the last time at which an attempt began or ended
	curve   survival.Curve // distribution of the time that an attempt takes for one unit of work, in seconds
	// fresh is like curve, but leaves out the attempts whose context was ended. It is the distribution of the time of
	// a new attempt. A new attempt that is as slow as the attempts left out would be ended, too. So their times say
	// nothing about a new attempt that runs to its end.
	fresh survival.Curve
	byAge []*worker // the workers that run an attempt, the oldest attempt for its work first
}

// watch checks the running attempts at intervals of delta, until the pool has ended. While no attempt runs, the
// intervals are longer.
func (p *pool) watch() {
	p.delta = max(p.interval, leastInterval)
	timer := time.NewTimer(p.delta)
	defer timer.Stop()
	for {
		select {
		case <-p.over:
			return
		case <-timer.C:
			p.check(time.Now())
			wait := p.delta
			if len(p.byAge) == 0 {
				wait = max(wait, p.mean) // an attempt that begins now will not be slow before
			}
			timer.Reset(wait)
		}
	}
}

// check asks the policy about each item whose oldest attempt has run for longer than the mean time of an attempt, by
// the work of the item. The item whose attempt is the oldest for its work comes first.
func (p *pool) check(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done || !p.measure(now) {
		return
	}
	p.checks++
	// the policy is asked again about copies that no worker has started yet
	p.proposed, p.proposedTrials = p.proposed[:0], restart.Trials{}
	for _, w := range p.byAge {
		if w.age <= p.unit {
			break
		}
		w.mu.Lock()
		item, size, begun, dropped, d := w.item, w.size, w.begun, !w.dropped.IsZero(), w.tracked
		w.mu.Unlock()
		switch {
		case item == none || dropped:
		case d == nil:
			p.decide(now, &tracked{item: item, size: size, begun: 1, attempts: []attempt{{by: w, begun: begun}}, first: true})
		case len(d.attempts) > 0 && d.attempts[0].by == w:
			p.decide(now, d)
		}
	}
}

// measure brings mean, longest, ended, changed, byAge and the two curves up to date. measure reports whether the
// policy should be asked: enough attempts have ended, and a running attempt has run for longer than the mean time.
func (p *pool) measure(now time.Time) bool {
	ends, sum, sizes, oldest := 0, time.Duration(0), 0., time.Duration(0)
	p.byAge = p.byAge[:0]
	for _, w := range p.workers {
		w.mu.Lock()
		ends += w.ends
		sum += w.sum
		sizes += w.sizes
		p.longest = max(p.longest, w.longest)
		if w.item != none && !w.dropped.IsZero() {
			p.noteIgnored(now, w)
		} else if w.item != none {
			w.age = perUnit(now.Sub(w.begun), w.size)
			oldest = max(oldest, w.age)
			if w.begun.After(p.changed) {
				p.changed = w.begun
			}
			p.byAge = append(p.byAge, w)
		}
		w.mu.Unlock()
	}
	if ends != p.ended {
		p.ended, p.changed = ends, now
	}
	if ends == 0 {
		p.setDelta(oldest / checksPerMean)
		return false
	}
	p.mean = sum / time.Duration(ends)
	p.unit = perUnit(sum, sizes)
	p.setDelta(p.mean / checksPerMean)
	if ends < min(minEnded, int(p.items.Load())-1) || oldest <= p.unit {
		return false
	}
	p.fit()
	return true
}

// setDelta sets the time between two checks to d, or to the least time between two checks if d is shorter. If the
// caller of Map has set Interval, setDelta changes nothing.
func (p *pool) setDelta(d time.Duration) {
	if p.interval == 0 {
		p.delta = max(d, leastInterval, time.Duration(len(p.workers))*perGoroutine)
	}
}

// fit makes the two distributions of attempt times, in the fields curve and fresh. The data are the last attempts of
// each worker and, as lower bounds, the times for which the running attempts have run. fit also sorts byAge, the
// oldest attempt first.
func (p *pool) fit() {
	p.curve.Reset()
	p.fresh.Reset()
	each := max(1, mostEnded/len(p.workers))
	for _, w := range p.workers {
		w.mu.Lock()
		for i := range min(w.sampleCount, mostSamples, each) {
			l := w.samples[(w.sampleCount-1-i)%mostSamples]
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

// decide asks the policy about an item. It carries out a restart or a kill at once, and proposes a copy to the idle
// workers.
func (p *pool) decide(now time.Time, d *tracked) {
	task := p.task(now, d)
	o := proposal{tracked: d, task: task, phase: p.phase(now)}
	o.decision = restart.Hold(p.policy.Decide(task, o.phase), task, o.phase)
	action := o.decision.Action
	if i := o.decision.Attempt; action != restart.Copy && (i < 0 || i >= len(task.Attempts)) {
		return // the policy's decision has the index of an attempt that does not exist
	}
	if p.bill != nil {
		p.show(d, o.decision)
		return
	}
	switch action {
	case restart.Copy:
		if p.confirm(d) {
			p.proposedTrials.Begin(new(restart.Trial), &task, &o.phase, restart.Copy)
			p.proposed = append(p.proposed, o)
			p.urgent.Store(true)
			p.wake.Signal()
		}
	case restart.Restart:
		if p.confirm(d) && p.accept(o) {
			p.restart(now, o)
		}
	case restart.Kill:
		if p.accept(o) {
			p.trials.Kill(&d.trial, &o.task, &o.phase, o.decision.Attempt, o.decision.Attempt == 0)
			p.endAttempt(now, d, o.decision.Attempt, errOvertaken)
		}
	}
}

// confirm records that the policy wants a copy or a restart of the item at this check. confirm reports whether the
// policy wanted one at the check before, too. Only then is the attempt taken to be slow. The reason: attempts that
// began together end shortly after each other, and the last attempt of such a group looks slow for a moment.
func (p *pool) confirm(d *tracked) bool {
	w := d.attempts[0].by
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.slowCheck
	w.slowCheck = p.checks
	return before > 0 && before == p.checks-1
}

// restart ends the context of an attempt and lets the item run again. With the option Copies the next attempt may
// begin at once. Without it, the next attempt begins after the old attempt has returned.
func (p *pool) restart(now time.Time, o proposal) {
	d := o.tracked
	d.restarts++
	p.account.Restarts++
	p.trials.Begin(&d.trial, &o.task, &o.phase, restart.Restart)
	p.endAttempt(now, d, o.decision.Attempt, errRestarted)
	if d.runAgain = !p.copies; !d.runAgain {
		p.queueAgain(d)
	}
}

// proposal is a decision of the policy about an item, with the facts that the policy was given: the task and the
// phase.
type proposal struct {
	tracked  *tracked
	task     restart.Task
	phase    restart.Phase
	decision restart.Decision
}

// accept makes the item a tracked item, and calls the function of the option OnAction. accept does neither, and
// reports false, if the decision is out of date: the item's oldest attempt has returned, or the item has a result.
func (p *pool) accept(o proposal) bool {
	d := o.tracked
	if len(d.attempts) == 0 {
		return false
	}
	w := d.attempts[0].by
	w.mu.Lock()
	current := w.item == d.item && (w.tracked == nil || w.tracked == d)
	if current && w.tracked == nil {
		w.tracked, d.value = d, p.work.item(w.index)
	}
	w.mu.Unlock()
	if current && p.onAction != nil {
		p.onAction(d.item, d.numbered(o.decision))
	}
	return current
}

// numbered returns the policy's decision with the number of the attempt in place of its index.
func (d *tracked) numbered(decision restart.Decision) restart.Decision {
	if decision.Action == restart.Restart || decision.Action == restart.Kill {
		decision.Attempt = d.attempts[decision.Attempt].number
	}
	return decision
}

// endAttempt ends the context of d.attempts[at], and removes the attempt from d.attempts. context.Cause then returns
// the error why.
func (p *pool) endAttempt(now time.Time, d *tracked, at int, why error) {
	d.attempts[at].by.drop(why)
	d.first = d.first && at > 0
	d.attempts = slices.Delete(d.attempts, at, at+1)
	d.newest = now
}
