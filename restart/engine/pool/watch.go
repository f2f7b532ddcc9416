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
	perGoroutine  = 10 * time.Microsecond // least interval for each goroutine; a check takes about a tenth of this time
	checksPerMean = 10                    // checks in the mean time of an attempt, if the mean is long
	minEnded      = 3                     // attempts that must have ended before the policy is asked
	mostEnded     = 1024                  // ended attempts in a curve
	maxDuration   = 1e6 * time.Hour
	// leastIgnored is how long an attempt may run on after the end of its context, however short attempts are, before the
	// function is said to ignore its context.
	leastIgnored = 10 * time.Millisecond
)

// watched is the pool's knowledge about the times of attempts.
type watched struct {
	delta   time.Duration  // the time between two checks
	checks  int            // how many checks there were
	mean    time.Duration  // the mean time of the attempts that have ended
	longest time.Duration  // the longest time of these attempts
	ended   int            // how many these attempts are
	changed time.Time      // when an attempt began or ended last
	curve   survival.Curve // how long an attempt takes
	// fresh is the curve without the attempts that were told to end. A new attempt as slow as these would be told to end,
	// too, so their ages say nothing about the time of a new attempt.
	fresh survival.Curve
	byAge []*worker // the workers that run an attempt, the oldest attempt first
}

// watch checks the running attempts every delta, until Map is over.
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
			timer.Reset(p.delta)
		}
	}
}

// check asks the policy about each item with an attempt that is older than the mean, the oldest attempt first.
func (p *pool) check(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done || !p.measure(now) {
		return
	}
	p.checks++
	p.proposed, p.proposedTrials = p.proposed[:0], restart.Trials{} // the policy is asked again about copies that wait
	for _, w := range p.byAge {
		if w.age <= p.mean {
			break
		}
		w.mu.Lock()
		item, begun, is := w.item, w.begun, w.tracked
		w.mu.Unlock()
		d := p.tracked[item]
		switch {
		case item == none || !w.dropped.IsZero():
		case !is:
			p.decide(now, item, &tracked{attempts: []attempt{{w, begun}}, first: true})
		case len(d.attempts) > 0 && d.attempts[0].by == w:
			p.decide(now, item, d)
		}
	}
}

// measure brings the times of attempts up to date. measure reports whether the policy should be asked: enough attempts
// have ended, and a running attempt is older than the mean.
func (p *pool) measure(now time.Time) bool {
	ends, sum, oldest := 0, time.Duration(0), time.Duration(0)
	p.byAge = p.byAge[:0]
	for _, w := range p.workers {
		w.mu.Lock()
		ends += w.ends
		sum += w.sum
		p.longest = max(p.longest, w.longest)
		if w.item != none && !w.dropped.IsZero() {
			p.noteIgnored(now, w)
		} else if w.item != none {
			w.age = now.Sub(w.begun)
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
	p.setDelta(p.mean / checksPerMean)
	if ends < min(minEnded, p.items-1) || oldest <= p.mean {
		return false
	}
	p.fit()
	return true
}

// setDelta sets the time between two checks, unless the host has set Interval.
func (p *pool) setDelta(d time.Duration) {
	if p.interval == 0 {
		p.delta = max(d, leastInterval, time.Duration(len(p.workers))*perGoroutine)
	}
}

// fit makes the curves from the last ended attempts of each worker and from the ages of the running attempts.
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

// decide asks the policy about an item, and carries out its decision.
func (p *pool) decide(now time.Time, item int, d *tracked) {
	task := p.task(now, d)
	o := proposal{item: item, tracked: d, task: task, phase: p.phase(now)}
	o.decision = restart.Hold(p.policy.Decide(task, o.phase), task, o.phase)
	action := o.decision.Action
	if i := o.decision.Attempt; action != restart.Copy && (i < 0 || i >= len(task.Attempts)) {
		return // the policy names an attempt that does not exist
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

// confirm records that this check wants a copy or a restart of the item, and reports whether the check before wanted one,
// too. Attempts that began together end shortly after each other. Until the last attempt of such a group has ended, this
// attempt looks slow beside the first.
func (p *pool) confirm(d *tracked) bool {
	w := d.attempts[0].by
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.slowCheck
	w.slowCheck = p.checks
	return before > 0 && before == p.checks-1
}

// restart ends an attempt of an item, and runs the item again.
func (p *pool) restart(now time.Time, o proposal) {
	d := o.tracked
	d.restarts++
	p.account.Restarts++
	p.trials.Begin(&d.trial, &o.task, &o.phase, restart.Restart)
	p.endAttempt(now, d, o.decision.Attempt, errRestarted)
	if d.runAgain = !p.copies; !d.runAgain {
		p.queueAgain(o.item, d)
	}
}

// proposal is a decision about an item, with the facts on which the policy decided.
type proposal struct {
	item     int
	tracked  *tracked
	task     restart.Task
	phase    restart.Phase
	decision restart.Decision
}

// accept makes the item a tracked item, and calls OnAction. accept reports false if the decision is out of date,
// because the attempt has returned or the item has a result.
func (p *pool) accept(o proposal) bool {
	if p.tracked[o.item] == nil {
		w := o.tracked.attempts[0].by
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.item != o.item || w.tracked {
			return false
		}
		w.tracked = true
		p.tracked[o.item] = o.tracked
	}
	if p.tracked[o.item] != o.tracked || len(o.tracked.attempts) == 0 {
		return false
	}
	if p.onAction != nil {
		p.onAction(o.item, o.decision)
	}
	return true
}

// endAttempt ends the context of d.attempts[at], and takes the attempt out of the list.
func (p *pool) endAttempt(now time.Time, d *tracked, at int, why error) {
	d.attempts[at].by.drop(why)
	d.first = d.first && at > 0
	d.attempts = slices.Delete(d.attempts, at, at+1)
	d.newest = now
}
